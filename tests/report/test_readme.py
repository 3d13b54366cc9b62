"""The table of results in a document."""

from __future__ import annotations

import re

from helpers.command import refused
from helpers.reporting import ROOT, made_up, page_of, silent
from rnar.report.formats import FORMATS
from rnar.report.shared import gather
from rnar.report.tables import listing


def test_the_docs_have_the_table_of_the_shared_results():
    results, document = ROOT / "results" / "runs.csv", (ROOT / "docs" / "results" / "runs.md").read_text("utf-8")
    shown = [row for row in gather([results], silent) if row.steps >= 1000 and row.test_n64 is not None]
    table = FORMATS["markdown"](listing(shown))
    (there,) = re.findall(r"<!-- results -->\n(.*)\n<!-- /results -->", document, re.DOTALL)
    assert there == table.strip(), (
        "write it anew with: rnar report results/runs.csv --least-steps 1000 --finished --readme docs/results/runs.md"
    )


def test_readme_replaces_what_is_between_the_marks_and_nothing_else(run, runs, tmp_path):
    path = tmp_path / "README.md"
    path.write_text("# mine\n\n<!-- results -->\nold\n<!-- /results -->\n\nthe end\n")
    assert "is new" in run(runs, "--readme", path)[1]
    text = path.read_text()
    assert text.startswith("# mine\n\n<!-- results -->\n| task |") and text.endswith("<!-- /results -->\n\nthe end\n")
    assert "\nold\n" not in text and FORMATS["markdown"](page_of(runs)).strip() in text
    assert "as it was" in run(runs, "--readme", path)[1] and path.read_text() == text
    path.write_text("no marks")
    refused(run(runs, "--readme", path), "README.md", "<!-- results -->")
    assert path.read_text() == "no marks"


def test_short_runs_may_be_left_out(run, runs):
    made_up(runs / "small", "quickselect", score=0.3, steps=500, size=8)
    assert "| 1 × 500 |" in run(runs, "--format", "markdown")[1]
    made_up(runs / "stopped", "bfs", score=None, steps=10000, done=400)
    left = run(runs, "--format", "markdown", "--least-steps", 501)[1]
    assert "| 1 × 500 |" not in left and "400 of 10000" not in left and "| 1 × 10000 |" in left
    refused(run(runs, "--least-steps", 10**6), "no run here has taken more than 10000")


def test_runs_that_are_under_way_may_be_left_out(run, runs):
    made_up(runs / "stopped", "bfs", score=None, steps=10000, done=400)
    assert "400 of 10000" in run(runs, "--format", "markdown")[1]
    left = run(runs, "--format", "markdown", "--finished")[1]
    assert "400 of 10000" not in left and "| 1 × 10000 |" in left
    refused(run(runs / "stopped", "--finished"), "--finished", "no run here has ended")
