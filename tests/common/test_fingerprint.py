"""A user's files, and what of them counts."""

import runpy
import sys
from types import ModuleType

import pytest

from rnar.common.fingerprint import differences, fingerprint


@pytest.fixture
def of(tmp_path, monkeypatch):
    """The fingerprint of a module that has this text."""

    def made(text: str) -> dict[str, str]:
        module, path = ModuleType("a_users_module"), tmp_path / "a_users_module.py"
        path.write_text(text)
        module.__file__ = str(path)
        monkeypatch.setitem(sys.modules, "a_users_module", module)
        return fingerprint(["a_users_module", "rnar.models", "torch.nn", "json", "not_imported", "a_users_module"])

    return made


def test_an_edited_file_is_told_by_the_name_of_its_module(of):
    assert of("x = 1").keys() == {"a_users_module"}
    assert differences(of("x = 1"), of("x = 1")) == []
    assert differences(of("x = 1"), of("x = 2")) == ["a_users_module"]
    assert differences({}, of("x = 1")) == differences(of("x = 1"), {}) == ["a_users_module"]


def test_a_program_and_a_module_of_one_file_are_the_same_code(tmp_path, of):
    expected, path = of("x = 1"), tmp_path / "program" / "a_users_module.py"
    path.parent.mkdir()
    path.write_text("from rnar.common.fingerprint import fingerprint\nfound = fingerprint(['__main__'])")
    found = runpy.run_path(str(path), run_name="__main__")["found"]
    assert found.keys() == expected.keys() and found == of(path.read_text())


def test_what_an_older_version_noted_cannot_be_compared(of):
    assert differences({"a_users_module.Mine": "0123", "the recipe": "4567"}, of("x = 1")) == []


def test_what_has_no_file_has_no_fingerprint(monkeypatch):
    monkeypatch.setitem(sys.modules, "typed", ModuleType("typed"))
    assert fingerprint(["typed"]) == {}
