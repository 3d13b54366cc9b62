"""Runs that several files look at."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.training import contents, small_test, tiny
from rnar.training import Run, testing, train
from rnar.training.result import Result


@pytest.fixture
def small(monkeypatch):
    """The test at the end takes no time."""
    monkeypatch.setattr(testing, "official", small_test)


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> tuple[Run, Result]:
    """A run that is done, tested on the official set. Not to be changed."""
    folder = tmp_path_factory.mktemp("train") / "finished"
    result = train(tiny(folder))
    return Run(folder), result


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory) -> dict[str, Any]:
    """What a small run leaves behind if nothing goes wrong."""
    folder = tmp_path_factory.mktemp("train") / "uninterrupted"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(testing, "official", small_test)
        train(tiny(folder))
    return contents(folder)
