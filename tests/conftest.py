"""Settings for all tests.

What hypothesis tries is the same in every run, Ctrl-C is heard, and processes that run side by side share the cores.
What takes longest begins first, so that no process is left alone with it in the end.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
import sys
import textwrap

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None, max_examples=150)
settings.load_profile("repeatable")

# Before torch is imported. Small tensors are slower with several threads, and far slower where there is other work.
os.environ.setdefault("OMP_NUM_THREADS", "1")

LONGEST = [
    "common/test_compiling.py",
    "sweep/test_ray.py",
    "training/test_killed.py",
    "sweep/test_local.py",
    "training/test_team.py",
    "cli/test_sweep.py",
    "docs/test_site.py",
]


def pytest_configure() -> None:
    """Let Ctrl-C be heard, which a shell has its background jobs ignore: tests send it to themselves and to others."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        place = item.path.as_posix()
        return next((k for k, name in enumerate(LONGEST) if place.endswith(name)), len(LONGEST))

    items.sort(key=rank)


@pytest.fixture
def nothing_ships(tmp_path, monkeypatch):
    """As if the package came without networks: which tasks have one changes with time."""
    from rnar.inference import pretrained

    monkeypatch.setattr(pretrained, "home", lambda: tmp_path / "no_networks")


@pytest.fixture
def my_models(tmp_path, monkeypatch):
    """A folder with the example of the documentation in a file, and that folder the current one."""
    from rnar import models

    code = re.search(r"    from rnar\.models import Model\n.*?\n\nThen", inspect.getdoc(models) or "", re.DOTALL)
    assert code
    (tmp_path / "my_models.py").write_text(textwrap.dedent(code[0].removesuffix("Then")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("my_models", None)
