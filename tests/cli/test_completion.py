"""What a shell completes."""

import shutil
import subprocess
import sys

import pytest

from helpers.command import refused
from rnar.cli.main import COMMANDS

ASK = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _tyro_rnar; echo "${{COMPREPLY[*]}}"
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes_commands_flags_and_choices(run, tmp_path, monkeypatch):
    code, out, err = run("completion", "bash")
    assert (code, err) == (0, "")
    (tmp_path / "script").write_text(out)
    monkeypatch.setenv("PATH", f"{tmp_path}:{shutil.os.environ['PATH']}")
    (tmp_path / "python3").symlink_to(sys.executable)

    def completed(words: str) -> set[str]:
        program = ASK.format(script=tmp_path / "script", words=words)
        return {*subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True).stdout.split()}

    assert {name.split()[0] for name in COMMANDS} <= completed('rnar ""')
    assert {"check", "export", "list", "show"} <= completed('rnar data ""')
    assert completed("rnar train --learn") == {"--learning-rate"}
    assert completed('rnar evaluate --device ""') == {"auto", "cpu", "cuda", "mps"}


def test_other_shells_are_refused(run):
    assert run("completion", "zsh")[1].startswith("#compdef rnar")
    refused(run("completion", "fish"), "fish")
