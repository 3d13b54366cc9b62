"""Networks that are small enough for tests, and what they are tried on."""

from __future__ import annotations

import rnar.clrs
from rnar.clrs import Batch
from rnar.models import Model, find
from rnar.nn.reasoner import Reasoner

SAMPLES = 7


def prepared(task: str, name: str = "rnar", n: int = 6, samples: int = SAMPLES) -> tuple[Model, Reasoner, Batch]:
    """A model, a small network of it with fresh weights, and samples as it sees them.

    In double precision: a decision that hangs on the last bit of a sum may fall either way in single precision, if
    other samples are beside it or the machine is another one.
    """
    model = find(name)
    network = model.build(task, size=16, seed=1).double().eval()
    return model, network, model.batch(rnar.clrs.sample(task, n, samples, seed=5))
