"""The pages of the 30 tasks: what a task is, an example that plays, its features, what is odd, the best scores."""

from __future__ import annotations

import ast
import hashlib
import io
import os
import re
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import torch

import rnar
import rnar.clrs
from rnar.cli.main import main
from rnar.clrs.problems.graphs import Graphs
from rnar.inference import pretrained
from tables import ABOUT_RUNS, ROOT, RUN_HEAD, finished, published, rows, run_line, table, title

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SECTION = "Benchmark"
SOURCES = ROOT / "src" / "rnar"
CACHE = ROOT / ".cache" / "docs_site"
SIZES = {"naive_string_matcher": 20, "kmp_matcher": 20, "segments_intersect": 4}
SIZE, SEED = 10, 3
"""of the example that is shown"""
PAPER = ("triplet-gmpnn", "rt", "g-forgetnet", "rnar")
UNDIRECTED = "A drawn graph is multiplied with its transpose, so that an undirected edge has probability p², a loop p."
WEIGHTS = "The weight of an undirected edge is sqrt(w_ij w_ji + 0.001), which is not uniform."


@cache
def descriptions() -> dict[str, dict[str, Any]]:
    """What tasks.toml says of each task."""
    return tomllib.loads((Path(__file__).parent / "tasks.toml").read_text("utf-8"))


def chapters() -> dict[str, list[str]]:
    """The tasks of each chapter, in the order of the alphabet."""
    tasks = sorted(name for name in rnar.clrs.ALGORITHMS if ":" not in name)
    names = sorted({rnar.clrs.find(task).chapter for task in tasks})
    return {name: [task for task in tasks if rnar.clrs.find(task).chapter == name] for name in names}


def navigation() -> list[Any]:
    return [
        {chapter.capitalize(): [{title(task): f"benchmark/{task}.md"} for task in tasks]}
        for chapter, tasks in chapters().items()
    ]


@cache
def pages() -> dict[str, str]:
    """The pages of all tasks, and those of `rnar view` that they show, by their paths."""
    torch.set_num_threads(1)  # small networks; threads would wait for each other on a busy machine
    tasks = [task for names in chapters().values() for task in names]
    shown = {f"benchmark/view/{task}.html": viewed(task) for task in tasks}
    return shown | {f"benchmark/{task}.md": page(task) for task in tasks}


def overview() -> str:
    """A table of all tasks."""
    lines = []
    for chapter, tasks in chapters().items():
        for task in tasks:
            spec, network = rnar.clrs.find(task).spec, pretrained.for_task(task)
            about = [chapter, f"[{title(task)}]({task}.md)", str(len(spec.hints)), best(task)]
            lines.append([*about, f"`{network.name}`" if network else "–", published(task, "rnar")])
    return table(("chapter", "task", "hints", "best of ours", "pretrained", "paper, RNAR"), lines, left=2)


def page(task: str) -> str:
    spec, network = rnar.clrs.find(task).spec, pretrained.for_task(task)
    beside = "what the pretrained network predicted beside it" if network else "no network ships for this task yet"
    parts = [
        f"# {title(task)}",
        descriptions()[task]["about"],
        f"`{task}` is one of the tasks of the chapter on {rnar.clrs.find(task).chapter}.",
        "## An example",
        f"The algorithm, step by step; {beside} (`rnar view {task} --n {size(task)} --seed {SEED}`).",
        f'<iframe class="rnar" title="{title(task)}" src="view/{task}.html#{middle(task)}" loading="lazy"></iframe>',
        details(f"The same as text: rnar data show {task}", "text", printed("data", "show", task, *example(task))),
        details("The algorithm, as it is recorded", "python", source(task)),
        "## Features",
        table(("stage", "name", "kind"), feature_lines(spec), left=3),
        steps_of(task),
        "## What is odd",
        "\n".join(f"* {quirk}" for quirk in quirks(task)) or "Nothing is known.",
        "## Scores",
        scores(task, network),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def size(task: str) -> int:
    return SIZES.get(task, SIZE)


def example(task: str) -> tuple[str, ...]:
    return ("--n", str(size(task) if task in SIZES else 5), "--seed", str(SEED))


def feature_lines(spec: rnar.clrs.Spec) -> list[list[str]]:
    stages = (("input", spec.inputs), ("hint", spec.hints), ("output", spec.outputs))
    return [[stage, f"`{name}`", f"`{kind}`"] for stage, features in stages for name, kind in features.items()]


def steps_of(task: str) -> str:
    """How long the task's runs are, by a few samples of each size."""
    algorithm = rnar.clrs.find(task)
    sizes = (algorithm.problem.only_size,) if algorithm.problem.only_size else (16, 64)
    means = [f"{rnar.sample(task, n=n, batch=32, seed=0).lengths.mean():.0f} at n={n}" for n in sizes]
    samples = 32 * algorithm.multiplier
    return f"Steps, mean of 32 samples: {' and '.join(means)}. The official test set has {samples:,} samples."


def quirks(task: str) -> list[str]:
    """What tasks.toml has, and what all tasks on undirected graphs share."""
    known, problem = list(descriptions()[task].get("quirks", [])), rnar.clrs.find(task).problem
    if type(problem) is Graphs and not problem.directed:
        known += [UNDIRECTED, WEIGHTS] if problem.weighted else [UNDIRECTED]
    return known


def scores(task: str, network: Path | None) -> str:
    """The pretrained network, the paper's numbers and our own runs."""
    parts = []
    card = pretrained.read_card(network) if network else None
    if network is not None and card is not None:
        test = card.tests[task]
        parts.append(
            f"The pretrained network `{network.name}` ({title(card.model)}, {card.step:,} steps) scores "
            f"**{100 * test.score:.1f}** on {test.samples:,} samples of n=64; `rnar solve {task}` asks it."
        )
    parts.append(table([f"paper: {title(model)}" for model in PAPER], [[published(task, model) for model in PAPER]], 0))
    panel = [row for row in rows("results/panel/runs.csv") if row["task"] == task and row["finished"] == "yes"]
    parts.append(run_table("Our runs", finished(task)))
    parts.append(run_table("Runs of the panel, 1,000 steps in bfloat16", [row for row in panel if row["test_n64"]]))
    return "\n\n".join(part for part in parts if part) + f"\n\n{ABOUT_RUNS}"


def run_table(about: str, runs: list[dict[str, str]]) -> str:
    lines = [run_line(run, title(run["model"]).replace("_", "\\_")) for run in runs]
    return f"{about}:\n\n{table(('model', *RUN_HEAD), lines)}" if runs else ""


def best(task: str) -> str:
    """The best score at n=64 of a finished run, of any of its networks, or of a pretrained network."""
    runs = [*finished(task), *(row for row in rows("results/panel/runs.csv") if row["task"] == task)]
    values = [float(run[name]) for run in runs for name in ("test_n64", "test_last", "test_average") if run[name]]
    cards = [card for name in pretrained.names() if (card := pretrained.read_card(pretrained.home() / name))]
    values += [card.tests[task].score for card in cards if task in card.tests]
    return f"{100 * max(values):.2f}" if values else "–"


def details(summary: str, language: str, text: str) -> str:
    """A block of code that opens at a click."""
    lines = [f"```{language}", *text.rstrip().splitlines(), "```"]
    return f'??? example "{summary}"\n\n' + "\n".join(f"    {line}".rstrip() for line in lines)


def printed(*words: str) -> str:
    """What a command of rnar prints."""
    os.environ["COLUMNS"] = "100"
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(words)
    assert code == 0, err.getvalue()
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def source(task: str) -> str:
    """The function of an algorithm, with its decorator."""
    for path in sorted((SOURCES / "clrs" / "algorithms").glob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name == task:
                lines = text.splitlines()[node.decorator_list[0].lineno - 1 : node.end_lineno]
                return "\n".join(lines)
    raise ValueError(f"no function {task} in {SOURCES / 'clrs' / 'algorithms'}")


def viewed(task: str) -> str:
    """The page of `rnar view`; kept in a cache until the sources change."""
    kept = CACHE / state() / f"{task}.html"
    if kept.exists():
        return kept.read_text("utf-8")
    for folder in CACHE.glob("*"):
        if folder.name != state():
            shutil.rmtree(folder, ignore_errors=True)
    text = rnar.view(task, n=size(task), seed=SEED).html
    kept.parent.mkdir(parents=True, exist_ok=True)
    partial = kept.with_suffix(f".{os.getpid()}")
    partial.write_text(text, "utf-8")
    os.replace(partial, kept)  # whole, or not at all
    return text


def middle(task: str) -> int:
    """The step at which the page of a task begins."""
    steps = re.search(r'"steps":(\d+)', viewed(task))
    assert steps, task
    return int(steps[1]) // 2


@cache
def state() -> str:
    """A digest of which files the package has, how long they are and when they changed."""
    files = sorted(path for path in SOURCES.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    stats = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(stats).encode()).hexdigest()[:16]
