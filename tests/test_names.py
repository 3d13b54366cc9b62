"""The names that `import rnar` gives."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import rnar


def test_importing_the_package_imports_nothing_heavy():
    heavy = ("torch", "numba", "numpy", "matplotlib", "tyro", "rich")
    code = f"import sys, rnar; dir(rnar); print(*[name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_names_are_those_of_the_table_and_are_told_to_editors():
    assert sorted(rnar.__all__) == sorted([*rnar._PLACES, "__version__"])
    assert set(rnar.__all__) <= set(dir(rnar))
    tree = ast.parse(Path(rnar.__file__).read_text("utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    told = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert told == set(rnar._PLACES)


@pytest.mark.parametrize("name", rnar._PLACES)
def test_a_name_is_what_stands_in_its_module(name):
    module, _, attribute = rnar._PLACES[name].partition(":")
    __import__(module)
    found = getattr(rnar, name)
    assert found is (getattr(sys.modules[module], attribute) if attribute else sys.modules[module])
    assert attribute in ("", name)


def test_the_version_is_that_of_the_distribution():
    assert rnar.__version__ == version("rnar")


def test_a_name_that_is_not_there_is_an_error_that_says_what_is():
    with pytest.raises(AttributeError, match="module 'rnar' has no attribute 'trian'; it has Aggregator"):
        _ = rnar.trian  # pyright: ignore[reportAttributeAccessIssue]
