"""The command line, in a terminal of 80 columns."""

import pytest

from helpers.command import runner


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process: its exit code, and what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "80")

    return runner(capsys)
