"""Make a network that ships with the package of one that was trained.

    python tools/ship_network.py runs/minimum/rnar/seed-0 [--network last] [--samples 64]

writes src/rnar/networks/minimum: the weights as float16, the run's config.json, and a card with the score of the
network as it is stored there. Once more changes nothing; one that has a better score stays, but for --force.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.clrs import Batch
from rnar.clrs.splits import size_of
from rnar.evaluation.beliefs import Belief, believed
from rnar.evaluation.evaluate import evaluate
from rnar.evaluation.sets import problem_set
from rnar.inference.pretrained import CARD, Card, read_card
from rnar.runtime.workers import Workers
from rnar.training.files import pack, unpack, write, write_json
from rnar.training.result import Tested
from rnar.training.run import BEST, CONFIG, STATE, Run, Which, load_weights

HOME = Path(__file__).parent.parent / "src" / "rnar" / "networks"
SAMPLES = 32  # whose scores are written down one by one
SMALL = 16  # the other size of which they are: for many of n=64 a test has not the time

Say = Callable[[str], None]


def ship(
    folder: Path, into: Path, which: Which = "best", samples: int | None = None, threads: int | None = None,
    force: bool = False, say: Say = lambda message: None,
) -> Card:  # fmt: skip
    """Have a network of a run lie in a folder as those do that ship. Once more changes nothing.

    Args:
        folder: Of the run; nothing is written there.
        into: The folder of the network, `networks/TASK`.
        which: The network that was selected, the last one, or the average of the weights.
        samples: On how many samples of the official test it is scored; None takes all.
        threads: How many cores score it.
        force: Replace one that has a better score, too.
        say: Told what is being done.
    """
    run = Run(folder)
    weights = {name: x.detach().clone() for name, x in run.network(which=which).state_dict().items()}
    source, there = _digest(weights), read_card(into) if into.is_dir() else None
    counts = {task: _count(task, samples) for task in run.settings.tasks}
    if there and there.source == source and all(there.tests[task].samples == k for task, k in counts.items()):
        say(f"{into} has it already")
        return there
    small = {name: x.half() if x.is_floating_point() else x for name, x in weights.items()}
    reasoner = run.model.build(run.settings.tasks, run.settings.size)
    load_weights(reasoner, small, into / BEST)
    workers = Workers(reasoner.eval(), threads)
    tests, probes = {}, {}
    for task, count in counts.items():
        say(f"scoring {task} on {count} samples of the official test")
        first = _believed(workers, run, task, None)  # they are scored one by one as well, and tried once
        tests[task] = sum((belief.evaluation for belief in first[1:count]), start=first[0].evaluation)
        if count > SAMPLES:
            (batch,) = problem_set(task, samples=count).batches()
            tests[task] += evaluate(workers, batch.part(slice(SAMPLES, None)), view=run.model.batch)
        probes[task] = [_probe(None, first)]
    score = float(np.mean([Tested.of(test).score for test in tests.values()]))
    before = float(np.mean([test.score for test in there.tests.values()])) if there else -1.0
    if score < before and not force:
        raise ValueError(
            f"{into} has a better network: {before:.2%} where this one has {score:.2%}; --force replaces it"
        )
    for task, probe in probes.items():
        probe.append(_probe(SMALL, _believed(workers, run, task, SMALL)))
    card = Card(
        **_history(run, which),
        tests={task: Tested.of(test) for task, test in tests.items()},
        whole=all(size_of(task, "test").samples == count for task, count in counts.items()),
        probes=probes,
        source=source,
    )
    into.mkdir(parents=True, exist_ok=True)
    write(into / BEST, pack(small, {"step": card.step, "validation": card.validation}))
    write(into / CONFIG, (folder / CONFIG).read_bytes())
    write_json(into / CARD, card.plain())
    say(f"{into}: {score:.2%}")
    return card


def _count(task: str, samples: int | None) -> int:
    known = size_of(task, "test").samples
    return known if samples is None else min(samples, known)


def _digest(weights: dict[str, Tensor]) -> str:
    found = hashlib.blake2b(digest_size=16)
    for name, x in sorted(weights.items()):
        found.update(name.encode() + x.flatten().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()


def _believed(workers: Workers, run: Run, task: str, n: int | None) -> list[Belief]:
    return believed(workers, probed(task, n), run.model.batch, hints=False)


def _probe(n: int | None, beliefs: list[Belief]) -> dict[str, Any]:
    """The score of each of a few samples, and how sure the network was: where it was, any machine decides alike."""
    scores, sure = ([round(x, 4) for x in each] for each in zip(*((b.score, b.sure) for b in beliefs), strict=True))
    return {"n": n, "scores": scores, "sure": sure}


def probed(task: str, n: int | None) -> Batch:
    """The samples of a probe: the first of the official test, or as many of another size."""
    (batch,) = problem_set(task, n, SAMPLES).batches()
    return batch


def _history(run: Run, which: Which) -> dict[str, Any]:
    """How it was trained."""
    reported, settings, path = run.metrics, run.settings, run.path / (BEST if which == "best" else STATE)
    notes, last = unpack(path.read_bytes(), path)[1], reported[-1] if reported else {}
    validation = {"best": notes.get("validation"), "last": last.get("validation"), "average": None}[which]
    if which == "average" and "average" in last:
        validation = float(np.mean(list(last["average"].values())))
    return dict(
        tasks=settings.tasks,
        model=settings.name,
        size=settings.size,
        seed=settings.seed,
        which=which,
        step=notes["step"],
        steps=max(notes["step"], last.get("step", 0)),
        minutes=round(last.get("seconds", 0.0) / 60, 1),
        validation=validation,
        commit=run.config["environments"][-1].get("commit"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+", help="folders of runs; nothing is written there")
    parser.add_argument("--network", default="best", choices=("best", "last", "average"))
    parser.add_argument("--samples", type=int, help="of the official test; all by default")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--name", help="of the network's folder; by default its task's")
    parser.add_argument("--into", type=Path, default=HOME)
    parser.add_argument("--force", action="store_true", help="replace one that has a better score, too")
    given = parser.parse_args()
    for folder in given.runs:
        name = given.name or "+".join(Run(folder).settings.tasks)
        ship(folder, given.into / name, given.network, given.samples, given.threads, given.force, print)


if __name__ == "__main__":
    main()
