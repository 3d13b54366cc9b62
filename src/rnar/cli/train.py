"""`rnar train`: learn a task, keep the best network, test it."""

import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.text import Text

from rnar.cli.flags import flag, flags_of
from rnar.cli.output import screen
from rnar.clrs.choosing import matching
from rnar.clrs.splits import is_official
from rnar.common.durations import took
from rnar.training import Resolved, Result, Run, Settings
from rnar.training import train as train_network
from rnar.training.folder import finished
from rnar.training.live import Live
from rnar.training.settings import HOW, LENGTH

EXAMPLE = Settings(tasks=("bfs",), steps=200)


def train(
    settings: Annotated[Settings, flags_of(Settings), tyro.conf.OmitArgPrefixes] = Settings(),  # noqa: B008 (it is frozen)
    resume: Annotated[Path | None, flag("FOLDER")] = None,
) -> None:
    """Learn a task, keep the network that is best in validation, and test it on the official set (n = 64).

    The same command goes on where it was stopped, or killed. Without a task it shows how that goes, in about a minute.

    Args:
        settings: What is not given is as the model's own paper has it, and then as the standard protocol has it.
        resume: Go on with the run in this folder, as it was begun. No other flag is needed; --steps takes it further.
    """
    console = screen(quiet=os.environ.get("RANK", "0") != "0")  # of several processes the first talks
    if resume is not None:
        run = resumed(resume, settings)
    else:
        run = asked(settings, console)
    done = finished(run) is not None
    result = train_network(run, Live(console))
    for line in lines(result):
        console.print(line, soft_wrap=True)
    console.print(f"{run.path}" + (", which was finished before" if done else ""), soft_wrap=True)


def asked(settings: Settings, console: Console) -> Resolved:
    """What the flags ask for; without a task an example."""
    if not settings.tasks:
        settings = replace(settings, tasks=EXAMPLE.tasks, steps=settings.steps or EXAMPLE.steps)
        console.print(f"No task was named; as an example, {settings.steps} steps of {settings.tasks[0]}.")
    tasks = tuple(algorithm.name for pattern in settings.tasks for algorithm in matching(pattern))
    return replace(settings, tasks=tasks).resolved()


def resumed(folder: Path, settings: Settings) -> Resolved:
    """The run in a folder, with those of the other flags that may differ when it goes on."""
    there = Run(folder).settings
    said = {each.name: getattr(settings, each.name) for each in fields(Settings)}
    given = {each.name: said[each.name] for each in fields(Settings) if said[each.name] != each.default}
    if "folder" in given:
        raise ValueError("--resume and --folder both name the run's folder; give one of them")
    other = [name for name in given if name not in (*HOW, *LENGTH) and given[name] != getattr(there, name)]
    if other:
        found = ", ".join(f"{name} is {getattr(there, name)!r} there, not {given[name]!r}" for name in other)
        raise ValueError(f"--resume {folder} goes on with the run as it was begun: {found}; leave those flags away")
    return replace(there, **given).resolved()


def lines(result: Result) -> list[Text]:
    """A result in words."""
    found = []
    for task, test in result.tests.items():
        low, high = test.interval
        which = "of the official test" if is_official(task) else "drawn as official tests are"
        line = Text.assemble((f"{task}: {test.score:.2%}", "bold"), f" on {test.samples} samples {which}")
        line.append(f" (95% interval {low:.2%} to {high:.2%}), all right in {test.exact:.1%}")
        if len(test.outputs) > 1:
            line.append("; " + ", ".join(f"{name} {score:.2%}" for name, score in test.outputs.items()))
        found.append(line)
    if len(found) > 1:
        found.append(Text(f"mean of {len(found)} tasks: {result.score:.2%}", "bold"))
    for which, tests in (("last network", result.last), ("average of the weights", result.average)):
        if tests and tests != result.tests:
            scores = ", ".join(f"{task} {test.score:.2%}" for task, test in tests.items())
            found.append(Text(f"the {which}: {scores}", "dim"))
    early = ", which is early: validation became no better" if result.early else ""
    how = f"best validation {result.validation:.2%} at step {result.best_step} of {result.steps}{early}; "
    if result.candidates:
        count, samples = len(result.candidates), result.selection_samples
        how = f"step {result.best_step} of {result.steps}{early}, the best of {count} on {samples} samples of n=16; "
    cost = f"trained in {took(result.seconds)}, tested in {took(result.test_seconds)}, {result.memory_mb / 1000:.1f} GB"
    return [*found, Text(how + cost, "dim")]
