"""Streams and batches as datasets for a `DataLoader`; the only part of the benchmark that needs PyTorch."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from torch.utils.data import IterableDataset, get_worker_info
from torch.utils.data._utils.collate import default_collate_fn_map

from rnar.clrs.batch import Batch, Sample, stacked


class StreamDataset(IterableDataset[Batch]):
    """Endless batches, numbers `first`, `first + 1`, ... of a stream; each pass begins with `first` again.

    Of W workers of a `DataLoader`, each makes every W-th batch. It takes them in turn, so that the same batches come
    in the same order with any number of workers.

    Args:
        make: Makes batch number k.
        first: The number of the first batch.
    """

    def __init__(self, make: Callable[[int], Batch], first: int = 0):
        self.make, self.first = make, first

    def __iter__(self) -> Iterator[Batch]:
        worker = get_worker_info()
        own, workers = (worker.id, worker.num_workers) if worker else (0, 1)
        return map(self.make, count(self.first + own, workers))


def known_to_torch() -> None:
    """Let a `DataLoader` stack samples to a batch where it is given no `collate_fn`."""
    default_collate_fn_map[Sample] = _stacked


def _stacked(samples: list[Sample], *, collate_fn_map: Any = None) -> Batch:
    return stacked(samples)
