"""How many calls a training step and an evaluation step are: where little is computed, they are all that it costs.

    python benchmarks/calls.py                                  # n=4, batch 32, two tasks, two models
    python benchmarks/calls.py --loops off --models rnar        # what another device than a CPU would be asked to do
    python benchmarks/calls.py --tasks minimum --models rnar --by name | head -40

Nothing is timed: the numbers are the same on every machine. One core does the whole batch. `steps` are those that the
longest sample takes; the others are of all of them together:

    work     operations of torch that compute something: each would be a kernel on a GPU
    views    those that only say how memory is to be read (view, slice, transpose, split, detach), and `empty`
    loops    loops compiled with numba
    python   calls of functions of Python, and from Python of functions in C
    ours     functions of this package that are passed, each counted once, and files that they stand in
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import rnar.clrs
import rnar.models
from rnar.evaluation.evaluate import evaluate
from rnar.functional.compiled import plain
from rnar.runtime.workers import Workers

COLUMNS = ("work", "views", "loops", "python", "ours", "files")
NO_WORK = ("detach", "_unsafe_view", "_reshape_alias", "lift_fresh")
NO_WORK += ("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided")


class Calls(TorchDispatchMode):
    """Counts the operations of torch that are called inside of it, in the backward pass too."""

    def __init__(self) -> None:
        super().__init__()
        self.work: Counter[str] = Counter()
        self.views: Counter[str] = Counter()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = function.overloadpacket.__name__
        (self.views if function.is_view or name in NO_WORK else self.work)[name] += 1
        return function(*args, **(kwargs or {}))


def modules() -> list[Any]:
    return [module for name, module in sys.modules.items() if name.startswith("rnar.functional.")]


@contextmanager
def counted_loops() -> Iterator[Counter[str]]:
    """Count the calls of all compiled loops, by their names."""
    found: Counter[str] = Counter()

    def counting(name: str, loop: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            found[name] += 1
            return loop(*args)

        return call

    places = [(m, name, loop) for m in modules() for name, loop in vars(m).items() if name.startswith("loop_of_")]
    for module, name, loop in places:
        setattr(module, name, counting(name, loop))
    try:
        yield found
    finally:
        for module, name, loop in places:
            setattr(module, name, loop)


def python_calls(work: Callable[[], Any]) -> dict[str, Counter[str]]:
    count, ours = 0, set()

    def told(frame: Any, event: str, _: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")
        if event == "call" and "/rnar/" in frame.f_code.co_filename:
            ours.add(frame.f_code)

    sys.setprofile(told)
    try:
        work()
    finally:
        sys.setprofile(None)
    files = Counter({code.co_filename: 1 for code in ours})
    return {"python": Counter(all=count), "ours": Counter(code.co_qualname for code in ours), "files": files}


def of(work: Callable[[], Any]) -> dict[str, Counter[str]]:
    """The calls of some work, by kind and name; it is done twice."""
    with counted_loops() as loops, Calls() as calls:
        work()
    return {"work": calls.work, "views": calls.views, "loops": loops, **python_calls(work)}


def steps_of(task: str, name: str, n: int, batch: int) -> Iterator[tuple[str, int, Callable[[], Any]]]:
    """What is counted: a name, how many steps of a network it has, the work."""
    torch.set_num_threads(1)
    model = rnar.models.find(name)
    network = model.build(task, seed=0).train()
    samples = model.batch(rnar.clrs.sample(task, n=n, batch=batch, seed=0))
    workers = Workers(network, 1, memory=1 << 40)
    optimiser = torch.optim.Adam(network.parameters(), fused=True)

    def train() -> None:
        network.train()
        workers.backward(samples)
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()

    length = max(1, int(samples.lengths.max()) - 1)
    for what, work in (("training", train), ("evaluation", lambda: evaluate(workers, samples))):
        work()  # compiles
        yield what, length, work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=["minimum", "quickselect"])
    parser.add_argument("--models", nargs="+", default=["rnar", "triplet-gmpnn"])
    parser.add_argument("--n", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--loops", choices=["on", "off"], default="on", help="off: plain tensor code, as on a GPU")
    parser.add_argument("--by", choices=["kind", "name"], default="kind")
    given = parser.parse_args()
    with plain() if given.loops == "off" else nullcontext():
        show(given)


def show(given: argparse.Namespace) -> None:
    print(f"{'task':<14} {'model':<14} {'step':<11} {'steps':>5}" + "".join(f"{name:>8}" for name in COLUMNS))
    for task in given.tasks:
        for model in given.models:
            for what, length, work in steps_of(task, model, given.n, given.batch):
                found = of(work)
                counts = "".join(f"{found[kind].total():8,}" for kind in COLUMNS)
                print(f"{task:<14} {model:<14} {what:<11} {length:>5}{counts}", flush=True)
                for kind in COLUMNS[:3] if given.by == "name" else ():
                    for name, count in found[kind].most_common():
                        print(f"    {count:8,}  {count / length:8.1f} a step  {kind}: {name}")


if __name__ == "__main__":
    main()
