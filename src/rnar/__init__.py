"""Neural algorithmic reasoning: CLRS-30, recurrent aggregators, and the systems they are compared with.

    import rnar

    rnar.trace("quickselect", [5.0, 2.0, 9.0]).outputs                    # an algorithm, step by step
    result = rnar.train("bfs", model="rnar", steps=500)                   # a network that learns one
    network = rnar.load("runs/bfs/rnar/seed-0")                           # and what is left of it
    rnar.solve("quickselect", [5.0, 2.0, 9.0])                            # or one that comes with the package

A name is imported when it is first used: so `import rnar` is quick, and who needs no torch does not wait for it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rnar import clrs, interop, models, nn
    from rnar.clrs import algorithm, sample, trace
    from rnar.evaluation.evaluate import evaluate
    from rnar.inference import Answer, Solver, load, solve, view
    from rnar.models import Model
    from rnar.nn.aggregators import Aggregator
    from rnar.nn.auxiliary import auxiliary_loss
    from rnar.nn.processors.message_passing import MessagePassing
    from rnar.nn.processors.processor import ProcessorOutput
    from rnar.nn.reasoner import Reasoner
    from rnar.training import Callback, Run, Settings, train
    from rnar.training.live import Live

    __version__: str

__all__ = [
    "Aggregator",
    "Answer",
    "Callback",
    "Live",
    "MessagePassing",
    "Model",
    "ProcessorOutput",
    "Reasoner",
    "Run",
    "Settings",
    "Solver",
    "__version__",
    "algorithm",
    "auxiliary_loss",
    "clrs",
    "evaluate",
    "interop",
    "load",
    "models",
    "nn",
    "sample",
    "solve",
    "trace",
    "train",
    "view",
]

_PLACES = {
    "Aggregator": "rnar.nn.aggregators:Aggregator",
    "Answer": "rnar.inference:Answer",
    "Callback": "rnar.training:Callback",
    "Live": "rnar.training.live:Live",
    "MessagePassing": "rnar.nn.processors.message_passing:MessagePassing",
    "Model": "rnar.models:Model",
    "ProcessorOutput": "rnar.nn.processors.processor:ProcessorOutput",
    "Reasoner": "rnar.nn.reasoner:Reasoner",
    "Run": "rnar.training:Run",
    "Settings": "rnar.training:Settings",
    "Solver": "rnar.inference:Solver",
    "algorithm": "rnar.clrs:algorithm",
    "auxiliary_loss": "rnar.nn.auxiliary:auxiliary_loss",
    "clrs": "rnar.clrs",
    "evaluate": "rnar.evaluation.evaluate:evaluate",
    "interop": "rnar.interop",
    "load": "rnar.inference:load",
    "models": "rnar.models",
    "nn": "rnar.nn",
    "sample": "rnar.clrs:sample",
    "solve": "rnar.inference:solve",
    "trace": "rnar.clrs:trace",
    "train": "rnar.training:train",
    "view": "rnar.inference:view",
}
"""where a name is: in a module, or the module itself"""


def __getattr__(name: str) -> Any:
    """Import a name at its first use; from then on it is there."""
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("rnar")
    elif name in _PLACES:
        module, _, attribute = _PLACES[name].partition(":")
        found = importlib.import_module(module)
        found = getattr(found, attribute) if attribute else found
    else:
        raise AttributeError(f"module 'rnar' has no attribute {name!r}; it has {', '.join(__all__)}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
