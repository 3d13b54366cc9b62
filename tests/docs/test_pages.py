"""The code of the documentation runs, and prints what its comments say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from helpers.command import runner
from rnar.clrs import ALGORITHMS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    """The code of a page, without what stands in examples/ and is run by tests/test_examples.py."""
    return [code for name, code in BLOCK.findall((DOCS / page).read_text("utf-8")) if name == language]


WITH_CODE = [page for page in PAGES if blocks(page, "python")]
COMMANDS = {
    page: [
        line for code in blocks(page, "bash") for line in code.replace("\\\n", " ").splitlines() if line[:5] == "rnar "
    ]
    for page in PAGES
}


@pytest.mark.parametrize("page", WITH_CODE)
def test_the_code_of_a_page_runs_from_above_to_below(page, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("rnar.clrs.registry.ALGORITHMS", dict(ALGORITHMS))  # what a page adds is its own
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for number, code in enumerate(blocks(page, "python")):
        path = tmp_path / f"block{number}.py"  # what is compiled must stand in a file
        path.write_text(code)
        exec(compile(code, str(path), "exec"), names)
        shown = re.findall(r"^print\(.*\)  +# (.*)$", code, re.MULTILINE)
        assert capsys.readouterr().out.splitlines()[: len(shown)] == shown


@pytest.mark.parametrize("page", [page for page in PAGES if COMMANDS[page]])
def test_the_commands_of_a_page_work_one_after_the_other(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS[page]:
        code, _, err = runner(capsys)(*shlex.split(command, comments=True)[1:])
        assert code == 0, f"{command}: {err}"
