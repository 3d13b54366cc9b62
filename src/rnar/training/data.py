"""What a network learns from and is validated on."""

from __future__ import annotations

from rnar.clrs import Batch, Stream, find
from rnar.training.settings import Settings

VALIDATION_SEED, SELECTION_SEED, WIDER_SEED = 2_000_000_011, 2_000_000_033, 2_000_000_063  # nobody trains with them
VALIDATION_SIZE, WIDER_SIZE = 16, 32


def training_data(settings: Settings, task: str) -> Stream:
    """Endless batches of a task, as the model sees them."""
    sizes = settings.sizes and tuple(find(task).problem.length(n) for n in settings.sizes)
    return _stream(settings, task, settings.seed, settings.batch or 1, sizes)


def validation_set(settings: Settings, task: str) -> Batch:
    """The samples of a task on which networks are compared: drawn as training data are, and the same in every run."""
    return _drawn(settings, task, VALIDATION_SEED, settings.validation_samples, VALIDATION_SIZE)


def wider_set(settings: Settings, task: str) -> Batch:
    """Samples of a size between those of training and that of the test."""
    return _drawn(settings, task, WIDER_SEED, settings.wider_samples, WIDER_SIZE)


def selection_set(settings: Settings, task: str) -> Batch:
    """Many samples more, on which the few best networks are compared in the end."""
    count = settings.selection_samples
    return _drawn(settings, task, SELECTION_SEED, usual_selection(task) if count is None else count, VALIDATION_SIZE)


def usual_selection(task: str) -> int:
    """1024 samples, or as many as dm-clrs validates on: 4096 of tasks that have one answer a sample."""
    return max(1024, 64 * find(task).multiplier)


def _drawn(settings: Settings, task: str, seed: int, samples: int, size: int) -> Batch:
    with _stream(settings, task, seed, samples, (find(task).problem.length(size),), ahead=0) as stream:
        return next(stream)


def _stream(settings: Settings, task: str, seed: int, batch: int, sizes: tuple[int, ...] | None, **more: int) -> Stream:
    problem = find(task).problem
    official = {} if settings.random_positions else {name: problem.options[name] for name in problem.training}
    positions = bool(settings.random_positions)
    view = settings.recipe.batch
    return Stream(task, seed, batch, sizes, transform=view, random_positions=positions, **more, **official)
