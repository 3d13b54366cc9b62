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
    found = [model for name, model in MODELS.items() if fnmatchcase(name, pattern)]
    if not found:
        raise ValueError(f"no model matches {pattern!r}; there are {', '.join(MODELS)}")
    return found


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
    yield Text(model.name, "bold")
    grid = Table.grid(padding=(0, 2, 0, 2))
    for title, text in rows(model):
        grid.add_row(Text(title, "dim"), Text(text))
    yield grid
    yield ""


def rows(model: Model) -> Iterator[tuple[str, str]]:
    """The lines of `details`: a title and a text each."""
    processor = sum(parameter.numel() for parameter in model.make_processor(model.size).parameters())
    if model.equation:
        yield "equation", model.equation
    if model.paper:
        yield "paper", f"{model.paper}. {model.paper.title}"
    if model.differs:
        yield "differs", model.differs
    if MODELS.get(model.name) is model and model.name in FOUND:  # and not a user's own of that name
        yield "found", FOUND[model.name]
    yield "size", f"{model.size} numbers for each node"
    yield "parameters", f"{model.parameters(TASK):,}, of which {processor:,} in the processor"
    yield "hints", hints(model)
    if model.static_reversal:
        yield "inputs", "pointers also reversed"
    if model.pointers == "triplets":
        yield "pointers", "of pairs are part of messages of three nodes too, and read off three nodes"
    if model.without:
        yield "not seen", ", ".join(model.without)
    if model.without_positions:
        yield "positions", f"not seen with probability {model.without_positions:g} in training"
    if model.permutations_as_pointers:
        yield "orders", "predicted as pointers, without Sinkhorn's operator"
    if model.training:
        settings = ", ".join(f"{name} {value}" for name, value in model.training.items())
        yield "training", f"other than the standard protocol: {settings}"


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
