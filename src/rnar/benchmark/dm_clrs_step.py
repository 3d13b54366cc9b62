"""Takes a training step of dm-clrs whenever it is asked to: the other side of `rnar.benchmark.reference`.

A Python that has dm-clrs runs this file. It need not have rnar, so nothing of rnar is imported here. Each line of the
input is a request in JSON, and is answered with a line of JSON. The first is the setting: task, n, batch, size,
threads, options of the sampler, order_as_input, aggregator, along_edges, triplets, gate. Then come "training",
"evaluation" and "memory".
"""

import json
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

TRIPLETS = 8  # features of a triplet, the default of dm-clrs


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # so that nothing that libraries print is taken for an answer
    reference = None
    for request in map(json.loads, sys.stdin):
        try:
            if reference is None:
                reference = Reference(request)
                answer: Any = reference.facts
            else:
                answer = memory() if request == "memory" else reference.timed(getattr(reference, request))
        except ImportError as error:
            answer = {"lacks": str(error)}
        except Exception as error:  # rnar shows it
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


class Reference:
    """A network of dm-clrs, and the batches that it learns from."""

    def __init__(self, setting: dict[str, Any]):
        if hasattr(os, "sched_setaffinity"):  # use that many cores only (None: all); to be said before JAX counts them
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: setting["threads"]])
        import jax  # pyright: ignore[reportMissingImports]

        import clrs  # pyright: ignore[reportMissingImports]

        self._wait: Callable[[Any], Any] = jax.block_until_ready
        self._key = jax.random.PRNGKey(0)
        spec, self._batches = samples(clrs, setting)
        first = next(self._batches)
        self._model = clrs.models.BaselineModel(  # pyright: ignore[reportAttributeAccessIssue]
            spec=[spec],
            dummy_trajectory=[first],
            processor_factory=lambda size: processor(clrs, size, setting),
            hidden_dim=setting["size"],
            encode_hints=True,
            decode_hints=True,
            encoder_init="xavier_on_scalars",
            learning_rate=1e-3,
            grad_clip_max_norm=1.0,
        )
        self._model.init([first.features], 1)
        self._compiled: set[tuple[Any, int]] = set()
        versions = {"dm-clrs": version("dm-clrs"), "jax": version("jax"), "Python": platform.python_version()}
        self.facts = {"versions": versions, "device": jax.default_backend()}

    def training(self, batch: Any) -> None:
        loss = self._model.feedback(self._key, batch, 0)
        self._wait((loss, self._model._device_params))

    def evaluation(self, batch: Any) -> None:
        self._wait(self._model.predict(self._key, batch.features, 0)[0])

    def timed(self, step: Callable[[Any], None]) -> dict[str, Any]:
        """Times one step. JAX compiles for each new number of steps of a batch; that is done first and not timed."""
        batch = next(self._batches)
        while (step, steps_of(batch)) not in self._compiled:
            step(batch)
            self._compiled.add((step, steps_of(batch)))
            batch = next(self._batches)
        start = time.perf_counter()
        step(batch)
        seconds = time.perf_counter() - start
        own = sum(max(1, int(length) - 1) for length in batch.features.lengths)
        return {"seconds": seconds, "sample_steps": own, "padded_steps": steps_of(batch)}


def steps_of(batch: Any) -> int:
    return batch.features.hints[0].data.shape[0]


def samples(clrs: Any, setting: dict[str, Any]) -> tuple[Any, Iterator[Any]]:
    """Returns the spec and endless batches, made for training as in the example that comes with dm-clrs."""
    import numpy as np

    options = {"num_samples": -1, "seed": 1, "length": setting["n"], **setting["options"]}
    sampler, spec = clrs.build_sampler(setting["task"], **options)
    batches: Any = iter(lambda: sampler.next(setting["batch"]), None)
    batches = clrs.process_random_pos(batches, np.random.RandomState(0))
    if setting["order_as_input"]:
        spec, batches = clrs.process_pred_as_input(spec, batches)
    return clrs.process_permutations(spec, batches, enforce_permutations=True)


def processor(clrs: Any, size: int, setting: dict[str, Any]) -> Any:
    """Returns message passing with the setting's aggregator."""
    make = clrs.processors.PGN if setting["along_edges"] else clrs.processors.MPNN
    return make(
        out_size=size,
        msgs_mlp_sizes=[size, size],
        use_ln=True,
        use_triplets=setting["triplets"],
        nb_triplet_fts=TRIPLETS if setting["triplets"] else 0,
        gated=setting["gate"],
        **({} if setting["aggregator"] == "max" else {"reduction": recurrent(setting["aggregator"])}),
    )


def recurrent(kind: str) -> Callable[..., Any]:
    """Returns an aggregator that reads the messages of the senders in turn and gives its last output."""
    import haiku as hk  # pyright: ignore[reportMissingImports]

    def last_output(messages: Any, axis: int) -> Any:
        batch, senders, receivers, size = messages.shape
        cell = {"lstm": hk.LSTM, "gru": hk.GRU}[kind](size)
        read = messages.swapaxes(0, 1).reshape(senders, batch * receivers, size)
        outputs, _ = hk.dynamic_unroll(cell, read, cell.initial_state(batch * receivers))
        return outputs[-1].reshape(batch, receivers, size)

    return last_output


def memory() -> int:
    """Returns the most bytes that this process has had in memory; 0 where the system does not tell."""
    status = Path("/proc/self/status")  # ru_maxrss would count those of the process that started this one
    peak = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    return 1024 * int(peak[1]) if peak else 0


if __name__ == "__main__":
    main()
