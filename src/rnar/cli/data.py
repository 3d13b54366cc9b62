"""`rnar data`: the tasks in a table, a run step by step, sets as files, and the official sets checked."""

from pathlib import Path
from typing import Annotated, get_args

import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

import rnar.clrs
from rnar.cli.flags import Distribution, flag
from rnar.cli.inputs import given
from rnar.cli.output import bar, screen
from rnar.cli.show.page import Page
from rnar.clrs import Algorithm, Feature, Split, find, official
from rnar.clrs.choosing import matching
from rnar.clrs.layouts import Layout, arrays_of, write_npz
from rnar.clrs.splits import differences, is_official, mean_steps, size_of
from rnar.common.files import appearing, free

WIDE = 160  # columns of a terminal from which inputs, hints and outputs stand side by side
CAPTION = (
    "Steps are the mean of the official sets, or of sets that are drawn likewise; there string matchers have 20 and 80 "
    "letters, segments 4 ends."
)
NODES, LETTERS, STEPS = 6, 15, 20  # the size and the steps of a run where none is given: what fits on a screen
SAMPLES, SEED = 32, 1  # of a set of one's own


def list_tasks(pattern: Annotated[str, tyro.conf.arg(metavar="PATTERN")] = "*", /) -> None:
    """The tasks with their features, and how many steps they take at sizes 16 and 64.

    Args:
        pattern: Which tasks, with wildcards: 'mst*'. One of your own is my_tasks:mine, all of a module 'my_tasks:*'.
    """
    console = screen()
    console.print((wide if console.width >= WIDE else narrow)(matching(pattern)))
    console.print(Text(CAPTION, "dim"))


def wide(algorithms: list[Algorithm]) -> Table:
    """A row for each task."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 1, 0), expand=True)
    for name in ("task", "chapter", "n=16", "n=64"):
        table.add_column(name, no_wrap=True, justify="right" if name.startswith("n=") else "left")
    for name, ratio in (("inputs", 3), ("hints", 4), ("outputs", 2)):
        table.add_column(name, ratio=ratio)
    for algorithm in algorithms:
        name, *known = _summary(algorithm)
        table.add_row(Text(name, "bold"), *known, *map(by_feature, algorithm.spec))
    return table


def narrow(algorithms: list[Algorithm]) -> Group:
    """The same in blocks: a task's features stand below its name."""
    parts: list[RenderableType] = [_line("task", "chapter", "n=16", "n=64")]
    for algorithm in algorithms:
        features = Table.grid(padding=(0, 2, 0, 0))
        for title, stage in zip(("in", "hints", "out"), algorithm.spec, strict=True):
            features.add_row(Text(title, "dim"), by_feature(stage))
        parts += ["", _line(*_summary(algorithm)), Padding(features, (0, 0, 0, 2))]
    return Group(*parts, "")


def _line(task: str, chapter: str, *steps: str) -> Text:
    return Text.assemble((f"{task:30} ", "bold"), f"{chapter:20}", *(f"{x:>6}" for x in steps))


def _summary(algorithm: Algorithm) -> tuple[str, str, str, str]:
    """The name, the chapter, and the steps at sizes 16 and 64."""
    small, large = (f"{mean_steps(algorithm.name, split):.0f}" for split in ("val", "test"))
    return algorithm.name, algorithm.chapter, small, large


def by_feature(stage: dict[str, Feature]) -> Text:
    """The names of one stage, those of one feature together: `pos, key: node.scalar; pred: node.pointer`."""
    names: dict[str, list[str]] = {}
    for name, feature in stage.items():
        names.setdefault(str(feature), []).append(name)
    return Text("; ").join(Text.assemble(", ".join(some), (f": {feature}", "dim")) for feature, some in names.items())


def show(
    task: Annotated[str, tyro.conf.arg(metavar="TASK")],
    /,
    input: Annotated[tuple[str, ...], tyro.conf.Positional, flag("INPUT...")] = (),
    edges: Annotated[str | None, flag("FILE")] = None,
    n: Annotated[int | None, flag("INT", f"{NODES} nodes, or {LETTERS} letters")] = None,
    seed: Annotated[int | None, flag("INT", "1")] = None,
    sample: Annotated[int | None, flag("INT", "0, the first")] = None,
    steps: int = STEPS,
    old_input: Annotated[str | None, flag("JSON", name="input")] = None,
    distribution: Annotated[Distribution, tyro.conf.OmitArgPrefixes] = Distribution(),  # noqa: B008 (it is frozen)
) -> None:
    """One run of an algorithm, step by step: what it is given, its hints as they change, and its answer.

    Args:
        task: Which algorithm; `rnar data list` has them all.
        input: Your own problem instead, as `rnar solve` takes it: 5 2 9 for quickselect, graph.json 0 for bfs, ATCGATC
            GAT for kmp_matcher.
        edges: A graph as a list of edges, as in `rnar solve`.
        n: The size of the problem.
        seed: The seed of the random problems.
        sample: Which of the problems that this seed gives.
        steps: How many steps to show.
        old_input: INPUT as it was given before; it will go.
        distribution: What problems are drawn from. By default all is as in the official sets.
    """
    if steps < 1:
        raise ValueError(f"--steps must be at least 1, not {steps}")
    problem, random = find(task).problem, distribution.given(n=n, seed=seed, sample=sample)
    words = input if old_input is None else (*input, old_input)
    if own := given(task, words, random, edges):
        return Page(find(task).solved(own.arguments), screen(), own.names).print(steps, "your own input")
    usual = max(problem.smallest, LETTERS if "string" in problem.inputs else NODES)
    options = {"n": usual, "seed": SEED, "sample": 0, **random}
    number = options.pop("sample")
    if number < 0:
        raise ValueError(f"--sample must be 0, the first, or more, not {number}")
    run = rnar.clrs.sample(task, batch=number + 1, **options).sample(number)
    Page(run, screen()).print(steps, f"sample {number} of seed {options['seed']}")


def export(
    task: Annotated[str, tyro.conf.arg(metavar="TASK")],
    out: Annotated[Path, tyro.conf.arg(metavar="OUT.npz")],
    /,
    split: Annotated[Split | None, flag("{train,val,test}")] = None,
    n: Annotated[int | None, flag("INT")] = None,
    samples: Annotated[int | None, flag("INT", str(SAMPLES))] = None,
    seed: Annotated[int | None, flag("INT", str(SEED))] = None,
    layout: Layout = "rnar",
    force: bool = False,
    distribution: Annotated[Distribution, tyro.conf.OmitArgPrefixes] = Distribution(),  # noqa: B008 (it is frozen)
) -> None:
    """Write an official set (--split), or a random one of your own (--n), to a file that `numpy.load` reads.

    Of a task of your own, --split gives a set that is drawn as the official ones are.

    Its arrays are input/NAME [B, ...], hint/NAME [T, B, ...], output/NAME [B, ...] and lengths [B].

    Args:
        task: Which task; `rnar data list` has them all.
        out: The file to write. It is there when it is complete, and not before.
        split: Which official set.
        n: The size of the problems of a set of your own.
        samples: How many samples your own set has.
        seed: The seed of your own set.
        layout: Values as what they are (indices, codes), or as dm-clrs has them (one-hots, all float32).
        force: Replace the file if there is one.
        distribution: What your own problems are drawn from. By default all is as in the official sets.
    """
    find(task)
    target = free(out, replace=force)
    own = distribution.given(n=n, samples=samples, seed=seed)
    if split is not None and own:
        raise ValueError(f"--{next(iter(own))} is for a set of your own and means nothing with --split {split}")
    if split is None and n is None:
        raise ValueError("which set? --split train, val or test is an official one, --n makes one of your own")
    own = {"seed": SEED, "batch": own.pop("samples", SAMPLES), **own}
    batch = official(task, split) if split is not None else rnar.clrs.sample(task, **own)
    arrays = arrays_of(batch, layout)
    with bar(screen()) as progress, appearing(target) as file:
        work = progress.add_task(f"writing {out.name}", total=sum(array.bytes for array in arrays))
        write_npz(file, arrays, lambda size: progress.advance(work, size))
    about = f"{batch.size} samples of {task}, {batch.nodes} nodes, up to {batch.lengths.max()} steps"
    print(f"{out}: {about}, {target.stat().st_size / 1e6:.2f} MB")


def check(
    pattern: Annotated[str, tyro.conf.arg(metavar="PATTERN")] = "*",
    /,
    split: Annotated[Split | None, flag("{train,val,test}", "all three")] = None,
) -> int:
    """Regenerate official sets and compare each of their features, by its digest, with what dm-clrs 2.0.3 generates.

    The exit code is 0 where all are the same, and 1 where any differs. A task that dm-clrs does not have has
    no official set, which is said and is no difference.

    Args:
        pattern: Which tasks, with wildcards: 'mst*'.
        split: Which of the sets.
    """
    names = [algorithm.name for algorithm in matching(pattern)]
    tasks = list(filter(is_official, names))
    splits: tuple[Split, ...] = (split,) if split else get_args(Split)
    console, different = screen(), 0
    with bar(console) as progress:
        work = progress.add_task("", total=sum(size_of(task, s).samples for task in tasks for s in splits))
        for task in tasks:
            progress.update(work, description=task)
            line = Text(f"{task:30}")
            for s in splits:
                features = differences(task, s, lambda samples: progress.advance(work, samples))
                verdict = (f"differs in {', '.join(features)}", "bold red") if features else ("ok", "green")
                line.append_text(Text.assemble(f" {s} ", verdict, " "))
                different += bool(features)
            line.rstrip()
            console.print(line, soft_wrap=True)
    for task in names:
        if task not in tasks:
            console.print(f"{task:30} has no official set: its sets are drawn as the official ones are", soft_wrap=True)
    sets = len(tasks) * len(splits)
    console.print(f"{sets - different} of {sets} sets are as dm-clrs 2.0.3 generates them", soft_wrap=True)
    return 1 if different else 0
