"""A few runs, and the command that reports on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.command import runner
from helpers.reporting import some_runs


@pytest.fixture
def run(capsys, monkeypatch):
    """Run `rnar report` in this process: its exit code, and what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "250")

    return runner(capsys, "report")


@pytest.fixture
def runs(tmp_path) -> Path:
    return some_runs(tmp_path / "runs")
