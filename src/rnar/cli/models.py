"""`rnar models`: the models in a table, or one of them in more detail."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Annotated

import torch
import tyro
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rnar.cli.output import screen
from rnar.models import FOUND, MODELS, Model, find

TASK = "quickselect"  # parameters are counted for this one
CAPTION = (
    f"Parameters are those for {TASK}. "
    "z = x || h are a node's encoded features and its last state, m_ij is the message from i to j."
)


def models(pattern: Annotated[str, tyro.conf.arg(metavar="PATTERN")] = "*", /) -> None:
    """The models: what each computes, whose it is, and where it differs from its source.

    Args:
        pattern: Which models, with wildcards: 'rnar-*'. All about one, by its name or as my_models:mine.
    """
    torch.set_num_threads(1)  # all that is done here is small
    parts = [*(table(matching(pattern)) if set("*?[") & set(pattern) else details(find(pattern)))]
    console = screen()
    for part in (*parts, Text(CAPTION, "dim")):
        console.print(part)


def matching(pattern: str) -> list[Model]:
    """The models whose names match; at least one, or it is an error."""
    models = [model for name, model in MODELS.items() if fnmatchcase(name, pattern)]
    if not models:
        raise ValueError(f"no model matches {pattern!r}; there are {', '.join(MODELS)}")
    return models


def table(models: list[Model]) -> Iterator[RenderableType]:
    """A line for each model, its equation and its difference below."""
    width = max(len(model.name) for model in models)
    yield Text(f"{'model':{width}}  parameters  paper", "dim")
    for model in models:
        count = f"{model.parameters(TASK):,}"
        yield Text.assemble("\n", (f"{model.name:{width}}", "bold"), f"  {count:>10}  {model.paper or 'none'}")
        yield Padding(Text("\n").join([Text(model.equation), Text(model.differs, "dim")]), (0, 0, 0, 2), expand=False)
    yield ""


def details(model: Model) -> Iterator[RenderableType]:
    """All about one model."""
    grid = Table.grid(padding=(0, 2, 0, 2))
    for title, text in texts(model).items():
        if text:
            grid.add_row(Text(title, "dim"), Text(text))
    yield Text(model.name, "bold")
    yield grid
    yield ""


def texts(model: Model) -> dict[str, str]:
    """What there is to say about a model, by titles; empty where there is nothing."""
    processor = sum(parameter.numel() for parameter in model.make_processor(model.size).parameters())
    ours = MODELS.get(model.name) is model  # and not a user's own of that name
    settings = ", ".join(f"{name} {value}" for name, value in model.training.items())
    triplets = "of pairs are part of messages of three nodes too, and read off three nodes"
    chance = f"not seen with probability {model.without_positions:g} in training"
    return {
        "equation": model.equation,
        "paper": f"{model.paper}. {model.paper.title}" if model.paper else "",
        "differs": model.differs,
        "found": FOUND.get(model.name, "") if ours else "",
        "size": f"{model.size} numbers for each node",
        "parameters": f"{model.parameters(TASK):,}, of which {processor:,} in the processor",
        "hints": hints(model),
        "inputs": "pointers also reversed" if model.static_reversal else "",
        "pointers": triplets if model.pointers == "triplets" else "",
        "not seen": ", ".join(model.without),
        "positions": chance if model.without_positions else "",
        "orders": "predicted as pointers, without Sinkhorn's operator" if model.permutations_as_pointers else "",
        "training": f"other than the standard protocol: {settings}" if settings else "",
    }


def hints(model: Model) -> str:
    """How hints are used, in words."""
    feeding = model.hints
    if feeding.mode != "encoded and decoded":
        return {"decoded": "predicted, and not fed back", "none": "not used"}[feeding.mode]
    words = ["fed back as decisions" if feeding.hard else "fed back as probabilities"]
    if feeding.teacher:
        words.append(f"the true ones with probability {feeding.teacher:g} in training")
    if model.reversal != "none":
        words.append("pointers also reversed" if model.reversal == "mask" else "pointers also read transposed")
    if model.order_as_hint:
        words.append("the order of a list is one")
    if model.composed != "none":
        marks = {"one": "marks of one node", "all": "marks"}[model.composed]
        words.append(f"{marks} also composed with pointers")
    if model.hintless:
        words.append(f"not used of {', '.join(model.hintless)}")
    return ", ".join(words)
