"""dm-clrs in a process of its own, which takes a step when it is told to: the two are never at work at once."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from rnar.clrs import find as find_task
from rnar.clrs.splits import is_official
from rnar.models import MODELS, Model

SCRIPT = Path(__file__).with_name("dm_clrs_step.py")
INSTALL = "pip install dm-clrs==2.0.3"


class Counterpart(NamedTuple):
    """What dm-clrs builds a network of the same architecture from."""

    aggregator: str = "max"
    triplets: bool = False
    gate: bool = False
    along_edges: bool = False


COUNTERPARTS = {
    "mpnn": Counterpart(),
    "pgn": Counterpart(along_edges=True),
    "triplet-gmpnn": Counterpart(triplets=True, gate=True),
    "rnar": Counterpart("lstm", triplets=True, gate=True),
    "rnar-mpnn": Counterpart("lstm"),
    "rnar-gru": Counterpart("gru", triplets=True, gate=True),
}


def counterpart(model: Model) -> Counterpart:
    """That of a model of ours, if there is one."""
    if model.name not in COUNTERPARTS or MODELS.get(model.name) is not model:
        raise ValueError(f"dm-clrs has no counterpart of {model.name!r}; it has those of {', '.join(COUNTERPARTS)}")
    return COUNTERPARTS[model.name]


class Reference:
    """The process: each method is a question to it."""

    def __init__(self, python: str, process: subprocess.Popen[bytes], errors: IO[str]):
        self._python, self._process, self._errors = python, process, errors
        self.facts: dict[str, Any] = {}

    def train(self) -> dict[str, Any]:
        """One training step: {"seconds", "sample_steps", "padded_steps"}. The first compiles, before it is timed."""
        return self.ask("train")

    def evaluate(self) -> dict[str, Any]:
        return self.ask("evaluate")

    def memory(self) -> int:
        """The most bytes that it has had in memory."""
        return self.ask("memory")

    def ask(self, request: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            pass  # it has ended: so there is no answer either
        line = self._process.stdout.readline()
        if not line:
            raise ValueError(self._last_words())
        answer = json.loads(line)
        if isinstance(answer, dict) and "lacks" in answer:
            raise ValueError(f"{self._python} has no dm-clrs ({answer['lacks']}): install it there by {INSTALL}")
        if isinstance(answer, dict) and "error" in answer:
            raise ValueError(f"dm-clrs failed: {answer['error']}")
        return answer

    def _last_words(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().strip().splitlines()
        end = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        return f"{self._python} {end} and no answer{f': {said[-1]}' if said else ''}; is it a Python with dm-clrs?"


@contextmanager
def reference(python: str, model: Model, task: str, device: str, **sizes: int) -> Iterator[Reference]:
    """Start dm-clrs with the counterpart of a model; `sizes` are n, batch, size and threads.

    On the CPU it is given as many cores as there are threads; elsewhere it may use what it finds.
    """
    setting: dict[str, Any] = {**counterpart(model)._asdict(), **_data(task), **sizes}
    environment = dict(os.environ)
    if device == "cpu":
        environment["JAX_PLATFORMS"] = "cpu"
    else:
        setting["threads"] = None
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        try:
            process = subprocess.Popen(
                [python, str(SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,  # a request that could not be sent is not tried again
                env=environment,
            )
        except OSError as error:
            raise ValueError(f"cannot run {python!r} ({error.strerror}); name a Python that has dm-clrs") from None
        with process:
            try:
                found = Reference(python, process, errors)
                found.facts = found.ask(setting)
                yield found
            finally:
                process.kill()  # it has nothing to save


def _data(task: str) -> dict[str, Any]:
    """The training data of a task in the words of dm-clrs."""
    algorithm = find_task(task)
    if not is_official(task):
        raise ValueError(f"dm-clrs has no {task} to be measured on; bench it without --against, or one of CLRS-30")
    options = dict(algorithm.problem.training)
    if "needle" in options:
        options["length_needle"] = -options.pop("needle")[1]  # a negative one is the longest of a range
    return {"task": task, "options": options, "order_as_input": "pred" in algorithm.spec.inputs}
