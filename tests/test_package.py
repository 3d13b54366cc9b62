"""What is installed: the files that are no programs, too."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src"


def test_every_file_that_is_no_program_is_named_as_data_of_its_package():
    (table,) = re.findall(
        r"\[tool.setuptools.package-data\]\n(.*?)\n\n", (ROOT / "pyproject.toml").read_text(), re.DOTALL
    )
    patterns = []
    for package, names in re.findall(r'^"?([\w.]+)"? = \[(.*)\]$', table, re.MULTILINE):
        patterns += [f"{package.replace('.', '/')}/{name}" for name in re.findall(r'"([^"]+)"', names)]
    files = [path.relative_to(SOURCES).as_posix() for path in (SOURCES / "rnar").rglob("*") if path.is_file()]
    data = [name for name in files if not name.endswith(".py") and "__pycache__" not in name]
    assert data and [name for name in data if not any(fnmatch(name, pattern) for pattern in patterns)] == []
