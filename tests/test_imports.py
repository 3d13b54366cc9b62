"""The rooms of the house: who may use whom."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rnar

ROOMS = (
    "common", "clrs", "functional", "nn", "runtime", "models", "interop", "evaluation", "training", "inference",
    "report", "sweep", "benchmark", "cli", "__main__",
)  # fmt: skip
"""each uses those before it, and none after it"""
HOUSE = Path(rnar.__file__).parent


def room_of(path: Path) -> str:
    return path.relative_to(HOUSE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The rooms that a file imports from, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names = [node.module or ""] if node.module != "rnar" else [f"rnar.{each.name}" for each in node.names]
        elif isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("rnar.")}
    return found


def test_the_rooms_are_all_there_are():
    assert {room_of(path) for path in HOUSE.rglob("*.py")} == {*ROOMS, "__init__"}


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_downwards_only(room):
    below = ROOMS[: ROOMS.index(room) + 1]
    for path in HOUSE.rglob("*.py"):
        if room_of(path) == room:
            assert imported(path) <= set(below), f"{path.relative_to(HOUSE)} imports from above"


def test_the_benchmark_needs_no_torch():
    code = "import sys, rnar, rnar.clrs; assert 'torch' not in sys.modules and 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
