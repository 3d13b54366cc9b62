"""The tables of README.md and docs/results/ that are made of the rows of results/.

python tools/docs_site/results.py      # write them anew
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from tables import ROOT, longest, percent, published, rows, table, title


class Claim(NamedTuple):
    """What the paper says of RNAR beside Triplet-GMPNN, by the scores of a task at n=64."""

    text: str
    task: str


CLAIMS = (
    Claim("answers what Triplet-GMPNN cannot", "quickselect"),
    Claim("sorts, and better", "heapsort"),
    Claim("", "insertion_sort"),
    Claim("", "quicksort"),
    Claim("", "bubble_sort"),
    Claim("is as good on others", "minimum"),
    Claim("", "activity_selector"),
    Claim("", "task_scheduling"),
    Claim("is worse on Binary Search", "binary_search"),
)
MODELS = ("rnar", "triplet-gmpnn")
NETWORKS = {"selected": "test_n64", "last": "test_last", "average": "test_average"}


def headline() -> str:
    """The claims of the paper, its numbers, and those of our longest finished runs; RNAR / Triplet-GMPNN."""
    lines = []
    for text, task in CLAIMS:
        paper = " / ".join(published(task, model).split(" ±")[0] for model in MODELS)
        runs = [longest(task, model) for model in MODELS]
        ours = [" / ".join(percent(run[name]) if run else "–" for run in runs) for name in NETWORKS.values()]
        lines.append([text, title(task), paper, *ours])
    return table(("RNAR ...", "task", "paper", *(f"ours: {name}" for name in NETWORKS)), lines, left=2)


def sizes() -> str:
    """The scores of pretrained networks at several sizes, of results/sizes.csv."""
    scores = [row for row in rows("results/sizes.csv") if row["what"] == "score"]
    ns = sorted({int(row["n"]) for row in scores})
    cells = {(row["run"], int(row["n"])): row for row in scores}
    lines = []
    for run in dict.fromkeys(row["run"] for row in scores):
        at = [cells.get((run, n)) for n in ns]
        shown = [f"{percent(r['value'])} ({percent(r['low'])} to {percent(r['high'])})" if r else "–" for r in at]
        (first, *_) = (row for row in at if row)
        samples = ", ".join(row["samples"] if row else "–" for row in at)
        lines.append([title(first["task"]), title(first["model"]), *shown, samples])
    return table(("task", "model", *(f"n = {n}" for n in ns), "samples"), lines, left=2)


def execution() -> str:
    """The scores of networks that are fed their own hints, true ones or none, of results/hints.csv."""
    lines = []
    for task, model, n in dict.fromkeys((row["task"], row["model"], row["n"]) for row in rows("results/hints.csv")):
        chosen = [row for row in rows("results/hints.csv") if (row["task"], row["model"], row["n"]) == (task, model, n)]
        scores = {row["hints_from"]: row["percent"] for row in chosen if row["what"] == "score"}
        hints = [float(row["percent"]) for row in chosen if row["what"] == "hint"]
        worst = min((row for row in chosen if row["what"] == "hint"), key=lambda row: float(row["percent"]))
        fed = [scores.get(source, "–") for source in ("network", "truth", "nothing")]
        rest = [f"{mean(hints):.0f}", f"`{worst['name']}` {float(worst['percent']):.0f}"]
        lines.append([title(task), title(model), n, *fed, *rest])
    head = ("task", "model", "n", "own hints", "true hints", "no hints", "hints right", "the worst")
    return table(head, lines, left=2)


TABLES: dict[str, tuple[Callable[[], str], tuple[str, ...]]] = {
    "headline": (headline, ("README.md", "docs/results/index.md")),
    "sizes": (sizes, ("docs/results/sizes.md",)),
    "execution": (execution, ("docs/results/execute.md",)),
}
"""by name: the table, and the documents in which it stands between `<!-- name -->` and `<!-- /name -->`"""


def filled(name: str, text: str) -> str:
    """A document with its table written anew."""
    between = re.compile(f"<!-- {name} -->.*?<!-- /{name} -->", re.DOTALL)
    content = TABLES[name][0]()
    return between.sub(lambda _: f"<!-- {name} -->\n{content}\n<!-- /{name} -->", text)


def main() -> None:
    for name, (_, documents) in TABLES.items():
        for path in documents:
            document: Path = ROOT / path
            document.write_text(filled(name, document.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
