"""Settings for all tests: what hypothesis tries is the same in every run, and Ctrl-C is heard."""

import signal

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None, max_examples=150)
settings.load_profile("repeatable")


def pytest_configure() -> None:
    """Let Ctrl-C be heard, which a shell has its background jobs ignore: tests send it to themselves and to others."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
