"""The training data of the standard protocol: endless, prepared in the background, and exactly resumable."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rnar.clrs.batch import Batch
from rnar.clrs.registry import Algorithm, find
from rnar.clrs.transforms import randomise_positions

BATCH = 32
AHEAD = 4  # batches prepared in advance


class Stream(Iterator[Batch]):
    """Batches of one task, of sizes 4, 7, 11, 13 and 16 in turn, as Ibarz et al. (2022) train.

    Each graph has an edge probability of 0.1 to 0.9 (half of that for articulation points, bridges and Kruskal), each
    needle 1 to 8 letters of 20; positions are randomised, unless `random_positions` is False. Batch number k depends on
    (task, seed, k) and the settings alone: not on other streams, and not on what was drawn before. So `state` is a
    number and resuming is exact.
    """

    def __init__(
        self,
        task: str,
        seed: int = 0,
        batch: int = BATCH,
        sizes: tuple[int, ...] | None = None,
        transform: Callable[[Batch], Batch] | None = None,
        ahead: int = AHEAD,
        random_positions: bool = True,
        **options: Any,
    ):
        algorithm = find(task)
        sizes = sizes or algorithm.problem.training_sizes
        self._maker = _Maker(algorithm, seed, batch, sizes, transform, random_positions, options)
        self._maker.check()
        if ahead < 0:
            raise ValueError(f"ahead={ahead}: as many batches cannot be prepared in advance")
        self._ahead = ahead
        self._next = 0
        self._feed: _Feed | None = None

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

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Batch:
        if self._ahead == 0:
            batch = self._maker(self._next)
        else:
            if self._feed is None:
                self._feed = _Feed(self._maker, self._next, self._ahead)
            try:
                batch = self._feed.get()
            except BaseException:
                self.close()  # its thread has ended; another may be started
                raise
        self._next += 1
        return batch

    def close(self) -> None:
        """Stop the preparation in the background. The stream can still be used; it starts again."""
        if self._feed is not None:
            self._feed.close()
            self._feed = None

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Maker:
    """Makes batch number k."""

    def __init__(
        self,
        algorithm: Algorithm,
        seed: int,
        batch: int,
        sizes: tuple[int, ...],
        transform: Callable[[Batch], Batch] | None,
        random_positions: bool,
        options: dict[str, Any],
    ):
        self.algorithm, self.batch, self.sizes, self.transform = algorithm, batch, sizes, transform
        self.random_positions = random_positions
        self.options = {**algorithm.problem.training, **options}
        self.identity = {
            "task": algorithm.name,
            "seed": int(seed),
            "batch": int(batch),
            "sizes": [int(n) for n in sizes],
            "random_positions": bool(random_positions),
            "options": {name: list(x) if isinstance(x, tuple) else x for name, x in self.options.items()},
        }
        self.entropy = (seed, *algorithm.name.encode())  # so that two tasks with one seed have nothing in common

    def check(self) -> None:
        """Raise now what would be raised at the first batch of any size."""
        if self.identity["seed"] < 0:
            raise ValueError(f"a seed must not be negative, but it is {self.identity['seed']}")
        for n in self.sizes:
            self.algorithm.check(n, self.batch, self.options)

    def __call__(self, k: int) -> Batch:
        rng = np.random.RandomState(np.random.MT19937(np.random.SeedSequence((*self.entropy, k))))
        n = self.sizes[k % len(self.sizes)]
        batch = self.algorithm.sample(rng, n, self.batch, **self.options)
        if self.random_positions:
            batch = randomise_positions(batch, rng)
        return self.transform(batch) if self.transform else batch


class _Feed:
    """A thread that makes batches ahead of their use, and ends with the last reference to this object."""

    def __init__(self, maker: _Maker, first: int, ahead: int):
        self._ready: queue.Queue[Batch | BaseException] = queue.Queue(ahead)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=_prepare, args=(maker, first, self._ready, self._stop), daemon=True)
        weakref.finalize(self, self._stop.set)
        self._thread.start()

    def get(self) -> Batch:
        batch = self._ready.get()
        if isinstance(batch, BaseException):
            raise batch
        return batch

    def close(self) -> None:
        self._stop.set()
        self._thread.join()


def _prepare(maker: _Maker, k: int, ready: queue.Queue[Batch | BaseException], stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            made: Batch | BaseException = maker(k)
        except BaseException as error:  # the consumer shall see it
            made = error
        while not stop.is_set():
            try:
                ready.put(made, timeout=0.1)
                break
            except queue.Full:
                continue
        if isinstance(made, BaseException):
            return
        k += 1
