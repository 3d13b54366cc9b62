"""What is drawn at random while a network runs: a stream of its own for each purpose and each step.

So a step that is computed again, or by several processes in parts, draws the same numbers, and those of one purpose
have nothing to do with those of another.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.functional.scope import Purpose, current


def draws(seed: int, device: torch.device, purpose: Purpose, t: int) -> torch.Generator:
    """The numbers for a purpose in step t of a batch, from the beginning; the batch's seed decides them. What is
    drawn once a batch has step 0."""
    if purpose == "noise":
        seed = (seed * 1_000_003 + t) % 2**63
    else:
        words = (seed, t, ("teacher", "processor", "batch").index(purpose))
        mixed: Any = torch.compiler.disable(_mixed) if torch.compiler.is_compiling() else _mixed
        seed = mixed(words)
    return torch.Generator(device).manual_seed(seed)


def _mixed(words: tuple[int, ...]) -> int:
    """What is no work for dynamo, which would make tensors of these numbers."""
    return int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0] >> np.uint64(1))


def generator() -> torch.Generator | None:
    """For what a module draws at each step. While a batch is run its seed decides; else torch's own generator does."""
    scope = current()
    return None if scope is None else scope.generator


def once_a_batch(function: Callable[..., Any], *arguments: Any) -> Any:
    """function(generator, *arguments), drawn once a batch: the same at all its steps and in all its parts."""
    scope = current()
    return function(None, *arguments) if scope is None else scope.once(_drawn, function, *arguments)


def _drawn(function: Callable[..., Any], *arguments: Any) -> Any:
    scope = current()
    return function(None if scope is None else scope.batch_generator, *arguments)


def random_order(nodes: int, p: float, rng: torch.Generator | None) -> Tensor | None:
    """With probability p a random order of the nodes, else None."""
    device = "cpu" if rng is None else rng.device
    if torch.rand((), generator=rng, device=device) >= p:
        return None
    return torch.randperm(nodes, generator=rng, device=device)
