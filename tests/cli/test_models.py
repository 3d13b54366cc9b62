"""`rnar models`: a list of all, or more about one."""

from __future__ import annotations

import re
import sys

import pytest

from rnar.cli.main import main
from rnar.models import MODELS


def said(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main(["models", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_lists_every_model(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, err = said(capsys)
    assert (code, err) == (0, "")
    for model in MODELS.values():
        line = f"{model.name} +{model.parameters('quickselect'):,}  {re.escape(str(model.paper or 'none'))}"
        assert re.search(
            rf"^{line}\n +{re.escape(model.equation)} *\n +{re.escape(model.differs)} *$", out, re.MULTILINE
        )


def test_the_command_lists_those_that_match(capsys):
    code, out, _ = said(capsys, "rnar-janossy-?")
    assert code == 0
    assert re.findall(r"^([a-z0-9-]+) +[\d,]+", out, re.MULTILINE) == [
        "rnar-janossy-1",
        "rnar-janossy-2",
        "rnar-janossy-3",
    ]


def test_the_command_says_more_about_one(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = said(capsys, "rt")
    assert code == 0
    for text in (
        "Relational attention: generalizing transformers",
        "1,107,827, of which 1,098,408 in the processor",
        "fed back as decisions, the true ones with probability 0.5 in training",
        "learning_rate 0.00025, batch 4",
    ):
        assert text in out
    assert "not seen    pos" in said(capsys, "rnar-nope")[1]
    assert "pointers also reversed" in said(capsys, "rnar")[1]
    combined = said(capsys, "combined")[1]
    for text in (
        "composed with pointers, not used of binary_search",
        "inputs      pointers also",
        "read off three nodes",
        "found       Mean of the panel's eight tasks",
    ):
        assert text in combined


@pytest.mark.usefixtures("my_models")
def test_the_command_shows_a_model_of_ones_own(capsys):
    code, out, _ = said(capsys, "my_models:mine")
    assert code == 0
    assert re.search(r"^mine\n", out)


@pytest.mark.parametrize(
    ("processor", "line"),
    [
        ("lambda: None", "its processor is made of a size alone, but too many positional arguments"),
        ("lambda size, width: None", "its processor is made of a size alone, but missing a required argument: 'width'"),
        ("lambda size: None", "its processor must be a torch.nn.Module, not None"),
        ("lambda size: 1 / 0", "in <lambda>: ZeroDivisionError: division by zero"),
    ],
)
def test_a_model_of_ones_own_that_cannot_be_built_is_one_line_and_code_2(
    capsys, tmp_path, monkeypatch, processor, line
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "wrong_factory.py").write_text(f"import rnar\nwrong = rnar.Model('wrong', {processor})\n")
    try:
        code, out, err = said(capsys, "wrong_factory:wrong")
    finally:
        sys.modules.pop("wrong_factory", None)
    assert (code, out) == (2, "")
    assert err.startswith("rnar: ") and err.count("\n") == 1
    assert line in err and f"{tmp_path / 'wrong_factory.py'}, line 2" in err


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("rnr", "rnar: no model 'rnr' (did you mean 'rnar'?); there are mpnn, pgn, triplet-gmpnn, "),
        ("x*", "rnar: no model matches 'x*'; there are mpnn, pgn, triplet-gmpnn, "),
        ("nowhere:mine", "rnar: cannot import 'nowhere' for the model 'nowhere:mine': No module named 'nowhere'"),
    ],
)
def test_what_the_command_does_not_know_is_one_line_and_code_2(capsys, pattern, line):
    code, out, err = said(capsys, pattern)
    assert (code, out) == (2, "")
    assert err.startswith(line)
    assert err.count("\n") == 1
