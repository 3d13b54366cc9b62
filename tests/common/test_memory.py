"""What would not fit is refused before it is begun."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rnar.common import memory


def test_what_does_not_fit_is_told_with_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 2_000_000_000)
    memory.check_memory(1_900_000_000, "the samples")
    with pytest.raises(ValueError, match="^the samples need about 3.0 GB of memory, and 2.0 GB are free$"):
        memory.check_memory(3_000_000_000, "the samples")


def test_where_nobody_knows_what_is_free_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    memory.check_memory(1e15, "the samples")


@pytest.mark.parametrize("line", ["--n 300 --samples 1000000", "--n 2000 --samples 32"], ids=["many", "large"])
def test_an_export_that_exceeds_a_limit_is_refused_and_leaves_nothing(tmp_path, line):
    code = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
from rnar.cli.main import main
sys.exit(main("data export floyd_warshall x.npz {line}".split()))
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    said = [words for words in ended.stderr.splitlines() if "compiling" not in words]
    assert ended.returncode == 2 and len(said) == 1 and "GB are free" in said[0]
    assert list(tmp_path.iterdir()) == []
