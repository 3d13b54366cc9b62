"""The linters find nothing: so whoever runs the tests, as continuous integration does, runs the linters as well."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINTERS = ["ruff check", "ruff format --check", f"pyright --pythonpath {sys.executable}"]


@pytest.mark.parametrize("command", LINTERS, ids=["ruff check", "ruff format", "pyright"])
def test_a_linter_finds_nothing(command):
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}  # else it asks the network for newer versions
    run = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
