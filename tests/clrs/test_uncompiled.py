"""An algorithm that cannot be compiled is told by its own line."""

from __future__ import annotations

import sys

import pytest

import rnar.clrs
from rnar.clrs import registry
from rnar.common.compiling import config

BEGINNING = """
from rnar.clrs import algorithm, node, step
from rnar.clrs.problems.arrays import Numbers


def looked_up(key):
    return key.no_such_thing


@algorithm(problem=Numbers(), hints=dict(i=node.mask_one), outputs=dict(i=node.mask_one))
def wrong(trace, key):
    step(trace, 0)
    {line}
    return 0
"""


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("line", "where", "reason"),
    [
        ("key.sort_please()", "key.sort_please()", "Unknown attribute 'sort_please' of type array"),
        ("x = 'a' + key[0]", "x = 'a'", "it knows no add"),
        ("undefined(key)", "undefined(key)", "NameError: name 'undefined' is not defined"),
        ("with open('x') as file: pass", "@algorithm", "The 'with .*' construct is not supported$"),
    ],
)
def test_the_line_and_the_reason_are_named(line, where, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(registry, "ALGORITHMS", {**registry.ALGORITHMS})
    module = f"uncompiled_{abs(hash(line))}"
    text = BEGINNING.format(line=line)
    (tmp_path / f"{module}.py").write_text(text)
    (number,) = [k for k, there in enumerate(text.splitlines(), 1) if there.strip().startswith(where)]
    task = f"{module}:wrong"
    with pytest.raises(ValueError, match=rf"{module}.py, line {number}, in wrong: numba cannot compile this: {reason}"):
        rnar.clrs.sample(task, n=4, batch=1, seed=0)
