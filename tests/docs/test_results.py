"""Numbers of the documents are rows of results/, and the documents are as short as they should be."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLES = {
    "headline": ("README.md", "docs/results/index.md"),
    "sizes": ("docs/results/sizes.md",),
    "execution": ("docs/results/execute.md",),
}
TITLES = {"Heapsort": "heapsort", "Quickselect": "quickselect", "Binary Search": "binary_search", "Minimum": "minimum"}


def table(name: str, document: str) -> str:
    (found,) = re.findall(f"<!-- {name} -->\n(.*)\n<!-- /{name} -->", (ROOT / document).read_text("utf-8"), re.DOTALL)
    return found


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_a_document_is_made_of_the_results(name):
    program = f"import results; print(results.TABLES['{name}'][0]())"
    made = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "tools" / "docs_site", capture_output=True, text=True, check=True
    )
    for document in TABLES[name]:
        assert table(name, document) == made.stdout.strip(), "write it anew with: python tools/docs_site/results.py"


def test_the_numbers_of_the_headline_are_rows_of_the_results():
    with (ROOT / "results" / "runs.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["finished"] == "yes" and row["seed"] == "0"]
    cells = {cells[2].strip(): cells[4:7] for line in table("headline", "README.md").splitlines()[2:]
             if (cells := line.split("|"))}  # fmt: skip
    for title, task in TITLES.items():
        for place, model in enumerate(("rnar", "triplet-gmpnn")):
            shown = [cell.split("/")[place].strip() for cell in cells[title]]
            runs = [
                [f"{100 * float(row[name]):.2f}" for name in ("test_n64", "test_last", "test_average")]
                for row in rows
                if (row["task"], row["model"]) == (task, model) and row["test_last"] and row["test_average"]
            ]
            assert shown in runs, (title, model)


@pytest.mark.parametrize(("document", "lines"), [("README.md", 120), ("LOG.md", 300)])
def test_a_document_is_short(document, lines):
    assert len((ROOT / document).read_text("utf-8").splitlines()) <= lines
