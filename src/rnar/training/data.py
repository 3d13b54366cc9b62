"""What a network learns from and is validated on."""

from rnar.clrs import Batch, Stream, find
from rnar.training.settings import Settings

VALIDATION_SEED, SELECTION_SEED, OOD_SEED = 2_000_000_011, 2_000_000_033, 2_000_000_063  # nobody trains with them
VALIDATION_SIZE = 16


def training_data(settings: Settings, task: str) -> Stream:
    """Endless batches of a task, as the model sees them."""
    sizes = settings.sizes and tuple(find(task).problem.length(n) for n in settings.sizes)
    return _stream(settings, task, settings.seed, settings.batch, sizes)


def largest(settings: Settings, task: str) -> int:
    """How many nodes the largest samples have that a network learns a task from."""
    problem = find(task).problem
    return problem.only_size or max(map(problem.length, settings.sizes or problem.training_sizes))


def validation_set(settings: Settings, task: str) -> Batch:
    """The samples of a task on which networks are compared: drawn as training data are, and the same in every run."""
    return _drawn(settings, task, VALIDATION_SEED, settings.validation_samples, VALIDATION_SIZE)


def ood_set(settings: Settings, task: str) -> Batch:
    """Samples larger than those of training, on which nothing is decided."""
    return _drawn(settings, task, OOD_SEED, settings.ood_samples, settings.ood_n)


def selection_set(settings: Settings, task: str) -> Batch:
    """Many samples more, on which the few best networks are compared in the end."""
    return _drawn(settings, task, SELECTION_SEED, selection_samples(settings, task), VALIDATION_SIZE)


def selection_samples(settings: Settings, task: str) -> int:
    """On how many samples of a task networks are compared in the end.

    By default 1024, or as many as dm-clrs validates on: 4096 of tasks that have one answer a sample.
    """
    return max(1024, 64 * find(task).multiplier) if settings.selection_samples is None else settings.selection_samples


def _drawn(settings: Settings, task: str, seed: int, samples: int, size: int) -> Batch:
    with _stream(settings, task, seed, samples, (find(task).problem.length(size),), ahead=0) as stream:
        return next(stream)


def _stream(settings: Settings, task: str, seed: int, batch: int, sizes: tuple[int, ...] | None, **more: int) -> Stream:
    problem = find(task).problem
    positions, view = settings.random_positions, settings.architecture.batch
    official = {} if positions else {name: problem.options[name] for name in problem.training}
    return Stream(task, seed, batch, sizes, transform=view, random_positions=positions, **more, **official)
