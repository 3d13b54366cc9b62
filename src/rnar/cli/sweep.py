"""`rnar sweep`: tasks x models x seeds."""

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console

from rnar.cli.flags import flag
from rnar.cli.output import screen
from rnar.cli.train import given, settings_flags
from rnar.sweep.conduct import Display, Engine, conduct
from rnar.sweep.engine import Allocation, Local, Request, Resources, allocate
from rnar.sweep.plan import PlannedRun, count, plan, summary, table
from rnar.sweep.presets import PRESETS, find_preset, seeds_of
from rnar.sweep.ray import Ray
from rnar.training import Settings
from rnar.training.environment import chosen_device
from rnar.training.watch import TensorBoard

APART = ("tasks", "model", "seed", "folder", "memory")
"""settings that differ from run to run, or have flags of their own"""


def sweep(
    common: Annotated[
        Settings,
        settings_flags(APART, threads="as many as there are cores for each run"),
        tyro.conf.OmitArgPrefixes,
    ],
    preset: Annotated[str | None, tyro.conf.Positional, flag("PRESET", "none")] = None,
    tasks: Annotated[str | None, flag("TASK,...", "the preset's")] = None,
    models: Annotated[str | None, flag("MODEL,...", "the preset's, or rnar")] = None,
    seeds: Annotated[str | None, flag("SEEDS", "the preset's, or 0-4")] = None,
    folder: Annotated[Path | None, flag("PATH", "runs, or runs-PRESET for timing and panel")] = None,
    engine: Literal["local", "ray"] = "local",
    parallel: Annotated[int | None, flag("INT", "as many as cores and memory allow")] = None,
    gpus: Annotated[float | None, flag("NUMBER", "1 if there are any")] = None,
    memory: Annotated[float | None, flag("GB", "2 here, and on Ray whatever there is")] = None,
    retries: int = 3,
    address: Annotated[str | None, flag("HOST:PORT", "that of this machine")] = None,
    dry_run: tyro.conf.FlagCreatePairsOff[bool] = False,
) -> int:
    """Train tasks x models x seeds, each run as `rnar train` does and where it would.

    The same command goes on where it was stopped: what is finished is skipped, what is not is resumed. A run that fails
    is told at the end, and the others go on.

    Presets: table1, table2, ablation and janossy have the runs of the paper's tables, timing those of its figure, panel
    tries models that go beyond it, and quick takes some minutes. Flags say otherwise.

    Args:
        common: The same for all runs; as in `rnar train`.
        preset: table1, table2, ablation, janossy, timing, panel or quick.
        tasks: Names, wildcards, my_tasks:mine, `sequential` (the paper's Table 1) or `all`, separated by commas.
        models: Names, wildcards or my_models:mine, separated by commas.
        seeds: As in 0-4 or 0,3,7.
        folder: Where the runs are kept, in TASK/MODEL/seed-SEED.
        engine: Processes on this machine, or on the nodes of a Ray cluster that is there already. They all must see the
            current folder and that of the runs.
        parallel: How many runs at a time.
        gpus: How much of a GPU a run has, from 0 to 1.
        memory: How much memory a run may need: no more are begun at a time than there is room for.
        retries: How often a run is begun again that died, unless it came further.
        address: Of the Ray cluster.
        dry_run: Show the plan, and do nothing.
    """
    chosen = find_preset(preset)
    if preset is None and tasks is None:
        raise ValueError(
            f"which tasks? give a preset ({', '.join(PRESETS)}) or --tasks, as in rnar sweep --tasks bfs,dfs"
        )
    if retries < 0:
        raise ValueError(f"--retries must not be negative, but it is {retries}")
    if engine == "local" and address is not None:
        raise ValueError("--address is that of a Ray cluster; give --engine ray as well")
    console, same, place = screen(), Settings(**given(common)), folder or Path(chosen.folder)
    request = Request(chosen.parallel if parallel is None else parallel, same.threads, gpus, memory)
    if same.tensorboard:
        TensorBoard()  # raises if there is none
    settings = {**chosen.settings, **given(common)}
    settings.pop("threads", None)  # each run has its share of the machine
    runs = plan(chosen.parts(tasks, models), seeds_of(chosen.seeds if seeds is None else seeds), settings, place)
    left = [run for run in runs if run.open]
    if not left:
        console.print(summary(runs, place), soft_wrap=True)
        return 0
    with closing(Local() if engine == "local" else Ray(address)) as machines:
        resources = machines.resources()
        allocation = allocate(len(runs), request, resources, _uses_gpu(same.device, engine, resources))
        console.print(summary(runs, place), soft_wrap=True)
        console.print(table(runs))
        gpu = f" and {allocation.gpus:g} GPU" if allocation.gpus else ""
        sharing = f"{allocation.parallel} at a time with {count(allocation.threads, 'thread')} each{gpu}"
        console.print(sharing, soft_wrap=True)
        return 0 if dry_run else _carry_out(console, left, machines, allocation, retries)


def _uses_gpu(device: Any, engine: str, resources: Resources) -> bool:
    if engine == "local":
        return chosen_device(device).type == "cuda"  # raises if there is no such device
    if device == "cuda" and not resources.gpus:
        raise ValueError("there is no GPU in this cluster; --device cpu does without")
    return device == "cuda" or (device == "auto" and resources.gpus > 0)


def _carry_out(console: Console, runs: list[PlannedRun], engine: Engine, allocation: Allocation, retries: int) -> int:
    display = Display(console, runs)
    with display.bars:
        try:
            failures = asyncio.run(conduct(runs, engine, allocation, retries, display))
        except (KeyboardInterrupt, SystemExit):
            display.say("stopped; all is saved, and the same command goes on from there")
            raise
    if failures:
        console.print(f"{len(failures)} of {len(runs)} runs failed:")
    for name, words in failures.items():
        console.print(f"  {name}: {words}", soft_wrap=True)
    return int(bool(failures))
