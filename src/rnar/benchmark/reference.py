"""dm-clrs in a process of its own, which takes a step only when it is told to, so that it never disturbs ours."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from rnar.clrs import find as find_task
from rnar.clrs.splits import is_official
from rnar.models import MODELS, Model

SCRIPT = Path(__file__).with_name("dm_clrs_step.py")
INSTALL = "pip install dm-clrs==2.0.3"
COUNTERPARTS = ("mpnn", "pgn", "triplet-gmpnn", "rnar", "rnar-mpnn", "rnar-gru")


def counterpart(model: Model) -> dict[str, Any]:
    """Returns the parts of which dm-clrs builds the same architecture as a model; raises if it does not have them."""
    if model.name not in COUNTERPARTS or MODELS.get(model.name) is not model:
        raise ValueError(f"dm-clrs has no counterpart of {model.name!r}; it has those of {', '.join(COUNTERPARTS)}")
    processor: Any = model.processor(model.size)
    return {
        "aggregator": type(processor.aggregator).__name__.lower(),
        "triplets": processor.triplets is not None,
        "gate": processor.gate is not None,
        "along_edges": processor.along_edges,
    }


class Reference:
    """The process that runs dm-clrs; `facts` are its versions and device."""

    def __init__(self, process: Any, errors: IO[str], setting: dict[str, Any]):
        self._process, self._errors = process, errors
        self.facts: dict[str, Any] = self.ask(setting)

    def ask(self, request: Any) -> Any:
        """Returns the answer to the setting, or to "training", "evaluation" or "memory" (see dm_clrs_step.py)."""
        python = self._process.args[0]
        with suppress(BrokenPipeError):  # if it has ended, there is no answer either
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        if not (line := self._process.stdout.readline()):
            code = self._process.wait()
            self._errors.seek(0)
            end = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            why = "".join(f": {last}" for last in self._errors.read().strip().splitlines()[-1:])
            raise ValueError(f"{python} {end} and no answer{why}; is it a Python with dm-clrs?")
        match json.loads(line):
            case {"lacks": what}:
                raise ValueError(f"{python} has no dm-clrs ({what}): install it there by {INSTALL}")
            case {"error": what}:
                raise ValueError(f"dm-clrs failed: {what}")
            case answer:
                return answer


@contextmanager
def reference(python: str, model: Model, task: str, device: str, **sizes: int) -> Iterator[Reference]:
    """Start dm-clrs with the counterpart of a model; `sizes` are n, batch, size and threads.

    On the CPU it gets as many cores as there are threads; elsewhere it may use all that there is.
    """
    setting, environment, pipe = {**counterpart(model), **_data(task), **sizes}, {**os.environ}, subprocess.PIPE
    if device == "cpu":
        environment["JAX_PLATFORMS"] = "cpu"
    else:
        setting["threads"] = None
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        try:  # without a buffer, for what cannot be written must not be tried again
            process = subprocess.Popen(
                [python, str(SCRIPT)], bufsize=0, stdin=pipe, stdout=pipe, stderr=errors, env=environment
            )
        except OSError as error:
            raise ValueError(f"cannot run {python!r} ({error.strerror}); name a Python that has dm-clrs") from None
        with process:
            try:
                yield Reference(process, errors, setting)
            finally:
                process.kill()  # it has nothing to save


def _data(task: str) -> dict[str, Any]:
    """The training data of a task, as dm-clrs names them."""
    algorithm = find_task(task)
    if not is_official(task):
        raise ValueError(f"dm-clrs has no {task} to be measured on; bench it without --against, or one of CLRS-30")
    options = dict(algorithm.problem.training)
    if "needle" in options:
        options["length_needle"] = -options.pop("needle")[1]  # negative: needles of all lengths up to this one
    return {"task": task, "options": options, "order_as_input": "pred" in algorithm.spec.inputs}
