"""What the README shows works, and what it says passes the tests is what continuous integration runs."""

import re
from pathlib import Path

import pytest

from rnar.clrs import ALGORITHMS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("code", SNIPPETS, ids=range(len(SNIPPETS)))
def test_a_snippet_runs_and_prints_what_its_comments_say(code, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("rnar.clrs.registry.ALGORITHMS", dict(ALGORITHMS))  # what a snippet adds is its own
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "snippet.py"  # what is compiled must stand in a file
    path.write_text(code)
    exec(compile(code, str(path), "exec"), {"__name__": "snippet"})
    shown = re.findall(r"^print\(.*\)  +# (.*)$", code, re.MULTILINE)
    printed = capsys.readouterr().out.splitlines()
    assert printed[: len(shown)] == shown


def test_continuous_integration_runs_the_readmes_test_command():
    commands = re.findall(r"```bash\n(.*?)\n```", README, re.DOTALL)
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text().splitlines()


def test_the_pytorch_to_install_is_the_one_that_is_pinned():
    (pinned,) = re.findall(r"^torch==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert re.findall(r"torch==(\S+)", README) == [pinned]


def test_a_citation_names_the_version():
    (version,) = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"version = {{{version}}}" in README


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "LOG.md"])
def test_files_that_are_named_exist(document):
    named = re.findall(r"(?<![\w/~.])(?:src|tests|docs|results|benchmarks)/[\w./-]*\w", (ROOT / document).read_text())
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
