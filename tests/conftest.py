"""Settings for all tests: what hypothesis tries is the same in every run."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None, max_examples=150)
settings.load_profile("repeatable")
