"""The pages of the models: the equation, what differs from the paper, what the network sees, the scores."""

from __future__ import annotations

import textwrap
from functools import cache
from typing import Any

import rnar
from rnar import models
from tables import ABOUT_RUNS, RUN_HEAD, finished, published, rows, run_line, table, title

SECTION = "Models"
COUNTED = "quickselect"
NOTATION = (
    "z = x || h are a node's encoded features and its last state, m_ij is the message from i to j, "
    "t_abc are triplets of nodes."
)


def names() -> dict[str, list[str]]:
    """The models of papers, and those that nobody has published."""
    papers = [name for name, model in models.MODELS.items() if model.paper is not None]
    return {"Of papers": papers, "New architectures": [name for name in models.MODELS if name not in papers]}


def navigation() -> list[Any]:
    return [{group: [{title(name): f"models/{name}.md"} for name in found]} for group, found in names().items()]


@cache
def pages() -> dict[str, str]:
    """The pages by their paths."""
    return {f"models/{name}.md": page(name) for found in names().values() for name in found}


def overview() -> str:
    """A table of all models."""
    lines = []
    for found in names().values():
        for name in found:
            model = rnar.models.find(name)
            paper = f"{model.paper.authors}, {model.paper.year}" if model.paper else "new"
            equation = model.equation.replace("|", "\\|")
            lines.append([f"[{title(name)}]({name}.md)", paper, f"`{equation}`", f"{model.parameters(COUNTED):,}"])
    return table(("model", "paper", "equation", f"parameters, {COUNTED}"), lines, left=3)


def page(name: str) -> str:
    model = rnar.models.find(name)
    paper = f"{model.paper.authors}, {model.paper.year}: *{model.paper.title}*." if model.paper else "Not in a paper."
    parts = [
        f"# {title(name)}",
        f"```text\n{textwrap.fill(model.equation, 84)}\n```",
        NOTATION,
        table(("", ""), [["paper", paper], ["what differs", model.differs], *sees(model)], left=2),
        f'```python\nnetwork = rnar.models.find("{name}").build("{COUNTED}", seed=0)  # a torch.nn.Module\n```',
        f"On the command line: `rnar train {COUNTED} --model {name}`, `rnar models {name}`.",
        "## Scores",
        getattr(models, "FOUND", {}).get(name, ""),
        scores(name),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def sees(model: Any) -> list[list[str]]:
    """What a network of this model sees and predicts, where it is not as in the benchmark."""
    lines = [["size", f"{model.size} features a node, {model.parameters(COUNTED):,} parameters ({COUNTED})"]]
    if model.reversal != "none":
        lines.append(["reversed pointers", {"mask": "predicted and fed", "transpose": "fed"}[model.reversal]])
    if model.static_reversal:
        lines.append(["reversed inputs", "yes"])
    if model.pointers == "triplets":
        lines.append(["pointers of pairs", "kept as triples"])
    if model.composed != "none":
        lines.append(["marks composed with pointers", "of one node" if model.composed == "one" else "all"])
    if model.without:
        lines.append(["not seen", ", ".join(f"`{name}`" for name in model.without)])
    if model.hintless:
        lines.append(["no hints on", ", ".join(map(title, model.hintless))])
    return lines


def scores(name: str) -> str:
    """The paper's numbers and our longest runs, task by task."""
    shown: dict[str, list[str]] = {}
    for run in finished(model=name):
        shown.setdefault(run["task"], run_line(run, title(run["task"])))
    panel = [row for row in rows("results/panel/runs.csv") if row["model"] == name and row["test_n64"]]
    parts = []
    if shown:
        lines = [[line[0], published(task, name), *line[1:]] for task, line in sorted(shown.items())]
        parts.append("The longest run of each task:\n\n" + table(("task", "paper", *RUN_HEAD), lines))
    if panel:
        lines = [run_line(row, title(row["task"])) for row in panel if row["finished"] == "yes"]
        parts.append("Runs of the panel, 1,000 steps in bfloat16:\n\n" + table(("task", *RUN_HEAD), lines))
    if parts:
        return "\n\n".join([*parts, ABOUT_RUNS])
    return "We have trained none for long yet." + paper_scores(name)


def paper_scores(name: str) -> str:
    """The paper's numbers of a model that we have not trained."""
    tasks = sorted({row["task"] for row in rows("src/rnar/report/published.csv") if row["model"] == name} - {"average"})
    lines = [[title(task), published(task, name)] for task in tasks]
    return f" The paper has:\n\n{table(('task', 'paper, n=64'), lines)}" if lines else ""
