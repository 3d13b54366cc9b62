"""The training data of the standard protocol: endless, prepared in the background, and exactly resumable."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rnar.clrs.batch import Batch
from rnar.clrs.registry import Algorithm, find
from rnar.clrs.transforms import randomise_positions
from rnar.common.checking import checked

if TYPE_CHECKING:
    from rnar.clrs.dataset import StreamDataset

BATCH = 32
AHEAD, MOST_AHEAD = 4, 1000  # batches prepared in advance


class Stream(Iterator[Batch]):
    """Batches of one task, of sizes 4, 7, 11, 13 and 16 in turn, as Ibarz et al. (2022) train.

    Each graph has an edge probability of 0.1 to 0.9 (half of that for articulation points, bridges and Kruskal), each
    needle 1 to 8 letters of 20; positions are randomised, unless `random_positions` is False. Batch number k depends on
    (task, seed, k) and the settings alone: not on other streams, and not on what was drawn before. So `state` is a
    number and resuming is exact.

    With PyTorch it is an `IterableDataset`: `DataLoader(stream, batch_size=None, num_workers=2)` gives the same batches
    in the same order, with any number of workers. PyTorch must be imported before the stream is made.
    """

    @checked
    def __init__(
        self,
        task: str,
        seed: int = 0,
        batch: int = BATCH,
        sizes: Sequence[int] | None = None,
        transform: Callable[[Batch], Batch] | None = None,
        ahead: int = AHEAD,
        random_positions: bool = True,
        **options: Any,
    ):
        algorithm = find(task)
        sizes = algorithm.problem.training_sizes if sizes is None else tuple(sizes)
        options = {**algorithm.problem.training, **options}
        self._maker = _Maker(algorithm, seed, batch, sizes, options, random_positions, transform)
        if not 0 <= ahead <= MOST_AHEAD:
            raise ValueError(f"ahead={ahead}: 0 to {MOST_AHEAD} batches can be prepared in advance")
        self._ahead = ahead
        self._next = 0
        self._pool: ThreadPoolExecutor | None = None
        """a thread that makes batches ahead of their use; it ends with the last reference to this object"""
        self._coming: deque[Future[Batch]] = deque()
        if "torch" in sys.modules:  # else nobody has a DataLoader, and the benchmark alone does not wait for PyTorch
            from torch.utils.data import IterableDataset

            IterableDataset.register(Stream)  # type: ignore[attr-defined]

    @property
    def state(self) -> dict[str, Any]:
        """All that is needed to go on from here, as plain data."""
        return {**self._maker.identity, "next": self._next}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where the stream that gave this state was."""
        for name, ours in self._maker.identity.items():
            if state.get(name) != ours:
                raise ValueError(f"this is the state of another stream: {name} is {state.get(name)!r}, not {ours!r}")
        if not isinstance(state.get("next"), int):
            raise ValueError("this is not the state of a stream: it does not say which batch comes next")
        self.close()
        self._next = state["next"]

    def __iter__(self) -> Iterator[Batch]:
        """The stream itself; in a worker of a `DataLoader` only the worker's share of the batches from here on."""
        data = sys.modules.get("torch.utils.data")
        return self if data is None or data.get_worker_info() is None else iter(self.dataset())

    def __getstate__(self) -> dict[str, Any]:
        """Without what is prepared in the background: this process keeps that."""
        return {**vars(self), "_pool": None, "_coming": deque()}

    def __next__(self) -> Batch:
        batch = self._prepared() if self._ahead else self._maker(self._next)
        self._next += 1
        return batch

    def _prepared(self) -> Batch:
        """The next batch, out of the background, where as many more are then being made as shall be ahead."""
        self._pool = self._pool or ThreadPoolExecutor(1)
        while len(self._coming) <= self._ahead:
            self._coming.append(self._pool.submit(self._maker, self._next + len(self._coming)))
        try:
            return self._coming.popleft().result()
        except BaseException:
            self.close()  # what was made after it is not wanted
            raise

    def dataset(self) -> StreamDataset:
        """The batches from here on as an `IterableDataset`: `DataLoader(stream.dataset(), batch_size=None)`.

        What the loader takes does not move the stream on, and each pass over it begins here again.
        """
        from rnar.clrs.dataset import StreamDataset  # which needs PyTorch

        return StreamDataset(self._maker, self._next)

    def close(self) -> None:
        """Stop the preparation in the background. The stream can still be used; it starts again."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
            self._coming.clear()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class _Maker:
    """Makes batch number k. What would be raised at the first batch of any size is raised at once."""

    algorithm: Algorithm
    seed: int
    batch: int
    sizes: tuple[int, ...]
    options: dict[str, Any]
    random_positions: bool
    transform: Callable[[Batch], Batch] | None

    def __post_init__(self) -> None:
        if not self.sizes:
            raise ValueError("a stream needs at least one size of problems; by default it has those of the protocol")
        if self.seed < 0:
            raise ValueError(f"a seed must not be negative, but it is {self.seed}")
        for n in self.sizes:
            self.algorithm.check(n, self.batch, self.options)

    @property
    def identity(self) -> dict[str, Any]:
        """What decides all batches, as plain data."""
        return {
            "task": self.algorithm.name,
            "seed": int(self.seed),
            "batch": int(self.batch),
            "sizes": [int(n) for n in self.sizes],
            "random_positions": bool(self.random_positions),
            "options": {name: list(x) if isinstance(x, tuple) else x for name, x in self.options.items()},
        }

    def __call__(self, k: int) -> Batch:
        entropy = (self.seed, *self.algorithm.name.encode(), k)  # two tasks with one seed have nothing in common
        rng = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(entropy)))
        n = self.sizes[k % len(self.sizes)]
        batch = self.algorithm.sample(rng, n, self.batch, **self.options)
        if self.random_positions:
            batch = randomise_positions(batch, rng)
        return self.transform(batch) if self.transform else batch
