"""Making a network that ships of one that was trained: smaller, scored as it is stored, with what is known of it."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.clrs import Batch
from rnar.clrs.splits import size_of
from rnar.engine.workers import Workers
from rnar.evaluation.beliefs import Belief, believed
from rnar.evaluation.evaluate import evaluate
from rnar.evaluation.sets import problem_set
from rnar.inference.pretrained import CARD, Card, read_card
from rnar.training.files import pack, unpack, write, write_json
from rnar.training.result import Tested
from rnar.training.run import BEST, CONFIG, STATE, Run, Which, load_weights
from rnar.training.settings import Settings

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


def go_on(folder: Path, into: Path) -> str:
    """Make a folder of a run of a network that ships, from which training goes on; the command that does so.

    Its weights are those that ship. Adam's moments begin anew, and the data go on where they were.
    """
    run, card = Run(folder), read_card(folder)
    if card is None:
        raise ValueError(f"{folder} is no network that ships: it has no {CARD}")
    if into.exists() and any(into.iterdir()):
        raise ValueError(f"{into} is not empty; choose another folder")
    roles = ["weights", f"candidate/{card.step}", *(["average"] if run.settings.average is not None else [])]
    weights = run.network().state_dict()
    tensors = {f"{role}/{name}": x.detach().clone() for role in roles for name, x in weights.items()}
    notes = dict(
        step=card.step,
        candidates=[{"score": card.validation or 0.0, "step": card.step}],
        streams={task: {**data, "next": card.step} for task, data in run.config["data"].items()},
        sums={},
        summed=0,
        seconds=60 * card.minutes,
        memory_mb=0.0,
    )
    into.mkdir(parents=True, exist_ok=True)
    write(into / STATE, pack(tensors, notes))
    write(into / BEST, pack(weights, {"step": card.step, "validation": card.validation or 0.0}))
    write(into / CONFIG, (folder / CONFIG).read_bytes())
    return " ".join(_command(run.settings, card.step, into))


def _command(settings: Settings, step: int, into: Path) -> Iterator[str]:
    """`rnar train` with those settings that are not as they usually are."""
    usual = Settings(settings.tasks, settings.model, settings.seed).resolved().plain()
    yield f"rnar train {' '.join(settings.tasks)} --model {settings.name} --seed {settings.seed} --folder {into}"
    own = {**settings.plain(), "steps": settings.steps if settings.steps > step else 2 * step}
    for name, value in own.items():
        if value != usual[name]:
            words = " ".join(map(str, value)) if isinstance(value, list) else "inf" if value is None else value
            yield f"--{name.replace('_', '-')} {words}"
