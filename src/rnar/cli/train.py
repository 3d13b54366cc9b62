"""`rnar train`: learn a task, keep the best network, test it."""

from dataclasses import field, fields, make_dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro
from msgspec import inspect
from rich.console import Console
from rich.text import Text

from rnar.cli.flags import flag
from rnar.cli.output import screen
from rnar.clrs.choosing import matching
from rnar.clrs.splits import is_official, size_of
from rnar.common.durations import took
from rnar.models import find as find_model
from rnar.training import Result, Run, Settings
from rnar.training import train as train_network
from rnar.training.config import read_settings, write_settings
from rnar.training.data import selection_samples
from rnar.training.folder import finished
from rnar.training.live import Live
from rnar.training.settings import HOW, LENGTH, LISTS, SETTINGS, TYPES, same_model

EXAMPLE = dict(tasks=("bfs",), steps=200)


def settings_flags(hidden: tuple[str, ...] = (), **words: str) -> Any:
    """Makes a parameter of a command a flag for each setting that is not hidden; `words` tell another default of some.

    Values are kept as they are written, for `Settings` reads text. The docstrings of its fields are the help.
    """
    made = [_flag(name, name in hidden, words.get(name)) for name in (*SETTINGS, "complete")]
    namespace = {"__doc__": Settings.__doc__, "__post_init__": lambda self: None}
    return tyro.conf.arg(
        constructor=make_dataclass("Settings", made, bases=(Settings,), namespace=namespace, frozen=True)
    )


def given(flags: Settings) -> dict[str, Any]:
    """The settings that were given by flags, as they were written."""
    return {x.name: value for x in fields(flags) if (value := getattr(flags, x.name)) not in (None, (), False)}


def _flag(name: str, hidden: bool, words: str | None) -> tuple[str, Any, Any]:
    """The field of a setting, which says how it is written."""
    if hidden or name == "complete":
        return name, Annotated[Any, tyro.conf.Suppress, tyro.conf.Fixed], field(default=None)
    metadata, kind = SETTINGS[name].metadata, TYPES[name]
    if kind is bool and SETTINGS[name].default is False:
        return name, Annotated[bool, tyro.conf.FlagCreatePairsOff], field(default=False)
    metavar = metadata["metavar"] or _metavar(kind)
    if metadata.get("positional"):
        return name, Annotated[tuple[str, ...], tyro.conf.Positional, flag(metavar)], field(default=())
    aliases = ["--" + alias.replace("_", "-") for alias in metadata.get("aliases", ()) if alias != metadata.get("name")]
    more = dict(name=metadata.get("name"), aliases=aliases)
    words = words or metadata["words"]
    if name in LISTS:
        return name, Annotated[tuple[str, ...], flag(metavar, words, **more)], field(default=())
    return name, Annotated[str | None, flag(metavar, words, constructor=str, **more)], field(default=None)


METAVARS: dict[type, str] = {
    inspect.IntType: "INT",
    inspect.FloatType: "NUMBER",
    inspect.BoolType: "{True,False}",
    inspect.VarTupleType: "INT...",
}


def _metavar(kind: Any) -> str:
    """What stands for a value of that type, or of the same with None."""
    info = inspect.type_info(kind)
    if isinstance(info, inspect.UnionType):
        info = info.types[0]
    if isinstance(info, inspect.LiteralType):
        return "{" + ",".join(map(str, info.values)) + "}"
    return METAVARS[type(info)]


def train(
    settings: Annotated[Settings, settings_flags(), tyro.conf.OmitArgPrefixes],
    config: Annotated[Path | None, flag("FILE")] = None,
    save_config: Annotated[Path | None, flag("FILE")] = None,
    resume: Annotated[Path | None, flag("FOLDER")] = None,
) -> None:
    """Learn a task, keep the network that is best in validation, and test it on the official set (n = 64).

    The same command goes on where it was stopped, or killed. Without a task it shows how that goes, in about a minute.

    Args:
        settings: What is not given is as the model's own paper has it, and then as the standard protocol has it.
        config: Take settings from this file, TOML or JSON; a run's own config.json is one. Flags say otherwise.
        save_config: Write all settings to this file, TOML or JSON by the ending of its name, and do not train.
        resume: Go on with the run in this folder, as it was begun. No other flag is needed; --steps takes it further.
            Opening a run imports the modules of yours that its config names.
    """
    console = screen()
    said = {**(read_settings(config) if config else {}), **given(settings)}
    run = resumed(resume, said) if resume else asked(said, console)
    if save_config:
        write_settings(save_config, run)
        console.print(f"rnar train --config {save_config} trains with these settings", soft_wrap=True)
        return
    done = finished(run) is not None
    result = train_network(run, Live(console))
    for line in lines(run, result):
        console.print(line, soft_wrap=True)
    console.print(f"{run.path}" + (", which was finished before" if done else ""), soft_wrap=True)


def asked(said: dict[str, Any], console: Console) -> Settings:
    """What flags and files ask for; without a task an example."""
    if not said.get("tasks"):
        said = {**EXAMPLE, **said, "tasks": EXAMPLE["tasks"]}
        console.print(f"No task was named; as an example, {said['steps']} steps of bfs.")
    settings = Settings(**said)
    tasks = tuple(algorithm.name for pattern in settings.tasks for algorithm in matching(pattern))
    return replace(settings, tasks=tasks).resolved()


def resumed(folder: Path, said: dict[str, Any]) -> Settings:
    """The run in a folder, with those of the other settings that may differ when it goes on."""
    model = said.get("model")
    begun = Run(folder, find_model(model) if model else None)
    there = begun.settings
    if model:  # which may be spelled otherwise, if the run was begun in Python
        named = begun.config["settings"]["model"]
        there = replace(there, model=model if same_model(named, model) else named)
    if "folder" in said:
        raise ValueError("--resume and --folder both name the run's folder; give one of them")
    run = replace(there, **said)
    other = [name for name in said if name not in (*HOW, *LENGTH) and getattr(run, name) != getattr(there, name)]
    if other:
        changed = ", ".join(f"{name} is {getattr(there, name)!r} there, not {getattr(run, name)!r}" for name in other)
        raise ValueError(f"--resume {folder} goes on with the run as it was begun: {changed}; leave those flags away")
    return run.resolved()


def left_out(run: Settings, result: Result) -> list[Text]:
    """A line on what there was no time for, if there is anything."""
    said = []
    if result.candidates and run.selection_samples is None:
        most = max(selection_samples(run, task) for task in run.tasks)
        if result.selection_samples < most:
            said.append(f"networks were compared on {result.selection_samples} of {most} samples")
    for task, test in result.tests.items():
        whole = size_of(task, "test").samples
        if run.test_samples == "auto" and test.samples < whole:
            said.append(f"{task} was tested on {test.samples} of {whole} samples (rnar evaluate {run.path} tries all)")
    if not said:
        return []
    return [Text(f"not to take longer than training, {', '.join(said)}", "dim")]


def lines(run: Settings, result: Result) -> list[Text]:
    """A result in words."""
    said = []
    for task, test in result.tests.items():
        low, high = test.interval
        which = "of the official test" if is_official(task) else "drawn as official tests are"
        line = Text.assemble((f"{task}: {test.score:.2%}", "bold"), f" on {test.samples} samples {which}")
        line.append(f" (95% interval {low:.2%} to {high:.2%}), all right in {test.exact:.1%}")
        if len(test.outputs) > 1:
            line.append("; " + ", ".join(f"{name} {score:.2%}" for name, score in test.outputs.items()))
        said.append(line)
    if len(said) > 1:
        said.append(Text(f"mean of {len(said)} tasks: {result.score:.2%}", "bold"))
    for which, tests in (("last network", result.last), ("average of the weights", result.average)):
        if tests and tests != result.tests:
            scores = ", ".join(f"{task} {test.score:.2%}" for task, test in tests.items())
            said.append(Text(f"the {which}: {scores}", "dim"))
    early = ", which is early: validation became no better" if result.early else ""
    how = f"best validation {result.validation:.2%} at step {result.best_step} of {result.steps}{early}; "
    if result.candidates:
        count, samples = len(result.candidates), result.selection_samples
        how = f"step {result.best_step} of {result.steps}{early}, the best of {count} on {samples} samples of n=16; "
    cost = f"trained in {took(result.seconds)}, tested in {took(result.test_seconds)}, {result.memory_mb / 1000:.1f} GB"
    return [*said, Text(how + cost, "dim"), *left_out(run, result)]
