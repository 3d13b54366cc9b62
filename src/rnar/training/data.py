"""What a network learns from and is validated on."""

from __future__ import annotations

from rnar.clrs import Batch, Stream, find
from rnar.clrs.problems.strings import HaystackAndNeedle
from rnar.training.settings import Settings

VALIDATION_SEED = 2_000_000_011  # of its own: nobody trains with it by chance
VALIDATION_SIZE = 16


def training_data(settings: Settings, task: str) -> Stream:
    """Endless batches of a task, as the model sees them."""
    sizes = settings.sizes and tuple(_length(task, n) for n in settings.sizes)
    return _stream(settings, task, settings.seed, settings.batch or 1, sizes)


def validation_set(settings: Settings, task: str) -> Batch:
    """The samples of a task on which networks are compared: drawn as training data are, and the same in every run."""
    sizes = (_length(task, VALIDATION_SIZE),)
    with _stream(settings, task, VALIDATION_SEED, settings.validation_samples, sizes, ahead=0) as stream:
        return next(stream)


def _stream(settings: Settings, task: str, seed: int, batch: int, sizes: tuple[int, ...] | None, **more: int) -> Stream:
    problem = find(task).problem
    official = {} if settings.random_positions else {name: problem.options[name] for name in problem.training}
    positions = bool(settings.random_positions)
    view = settings.recipe.batch
    return Stream(task, seed, batch, sizes, transform=view, random_positions=positions, **more, **official)


def _length(task: str, n: int) -> int:
    """How many letters or nodes a problem has whose size is `n` as the official sets count."""
    return n + n // 4 if isinstance(find(task).problem, HaystackAndNeedle) else n
