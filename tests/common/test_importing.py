"""What a user has written is found by module:attribute, and what is wrong with it is said in one line."""

from __future__ import annotations

import sys

import pytest

from rnar.common.importing import imported


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("numbers_of_mine", "broken", "raising", "lacking", "leaving"):
        sys.modules.pop(name, None)


def test_an_object_in_a_module_of_the_current_folder_is_found(folder):
    (folder / "numbers_of_mine.py").write_text("seven, name = 7, 'seven'")
    assert imported("numbers_of_mine:seven", int, "number", "numbers:one") == 7


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("numbers_of_mine:eight", "'numbers_of_mine' has no integer 'eight'; it has seven"),
        ("numbers_of_mine:name", "'numbers_of_mine' has no integer 'name'; it has seven"),
        ("numbers_of_mine", "'numbers_of_mine' does not name an integer in a module, as numbers:one would"),
        ("no-module:seven", "'no-module:seven' does not name an integer in a module, as numbers:one would"),
        ("nowhere:seven", "FAILSNo module named 'nowhere'"),
        ("lacking:seven", "FAILSNo module named 'nothing_such'"),
        (
            "broken:seven",
            "FAILSSyntaxError: invalid syntax (HERE/broken.py, line 1)",
        ),
        (
            "raising:seven",
            "FAILSKeyError: 'seven' (HERE/raising.py, l",
        ),
        (
            "leaving:seven",
            "FAILSSystemExit: 3 (HERE/leaving.py, line",
        ),
    ],
)
def test_what_cannot_be_found_is_one_line_that_says_why(folder, name, said):
    (folder / "numbers_of_mine.py").write_text("seven, name = 7, 'seven'")
    (folder / "lacking.py").write_text("import nothing_such")
    (folder / "broken.py").write_text("seven = = 7")
    (folder / "raising.py").write_text("seven = {}['seven']")
    (folder / "leaving.py").write_text("import sys\nsys.exit(3)")
    with pytest.raises(ValueError) as caught:
        imported(name, int, "integer", "numbers:one")
    module = name.partition(":")[0]
    said = said.replace("FAILS", f"cannot import {module!r} for the integer {name!r}: ").replace("HERE", str(folder))
    assert str(caught.value).startswith(said)
