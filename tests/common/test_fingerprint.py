"""A user's code, and what of it counts."""

import importlib
import sys

import pytest

import rnar
from rnar.common.fingerprint import RECIPE, differences, fingerprint

MODULE = '''
import rnar
FACTOR = 3

def helper(x):
    return x * FACTOR

def unused(x):
    return x

class Base(rnar.Aggregator):
    ordered = False

class Soft(Base):
    """About it."""

    def forward(self, messages, edges=None, rng=None):
        return helper(messages).sum(dim=1)  # a comment

mine = rnar.Model("mine", lambda size: rnar.MessagePassing(size, Soft(size), triplets=8), reversal=True)
'''


@pytest.fixture
def of(tmp_path, monkeypatch):
    """The fingerprint of `mine` when the module has this text."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def made(text: str) -> dict[str, str]:
        (tmp_path / "a_users_module.py").write_text(text)
        sys.modules.pop("a_users_module", None)
        importlib.invalidate_caches()
        return fingerprint(importlib.import_module("a_users_module").mine)

    yield made
    sys.modules.pop("a_users_module", None)


@pytest.mark.parametrize(
    "before, after, changed",
    [
        ("FACTOR = 3", "FACTOR = 4", ["FACTOR"]),
        ("x * FACTOR", "FACTOR * x", ["helper"]),
        (".sum(dim=1)", ".mean(dim=1)", ["Soft"]),
        ("ordered = False", "ordered = True", ["Base"]),
        ("triplets=8", "triplets=4", ["<lambda>"]),
        ("  # a comment", "", []),
        ("About it.", "Said otherwise.", []),
        ("    return x\n", "    return 2 * x\n", []),
    ],
)
def test_a_change_of_what_is_used_is_told_by_its_name(of, before, after, changed):
    assert before in MODULE
    found = differences(of(MODULE), of(MODULE.replace(before, after)))
    assert [name.removeprefix("a_users_module.") for name in found if name != RECIPE] == changed


def test_a_change_of_the_recipe_is_told(of):
    assert RECIPE in differences(of(MODULE), of(MODULE.replace("reversal=True", "reversal=False")))
    assert differences(of(MODULE), of(MODULE)) == []


def test_what_belongs_to_this_package_counts_by_what_it_is_given():
    assert fingerprint(rnar.models.find("rnar")).keys() == {RECIPE}
    assert fingerprint(rnar.models.find("rnar")) != fingerprint(rnar.models.find("rnar-gru"))
