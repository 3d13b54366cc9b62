"""What is drawn at random while a network runs: a stream of its own for each purpose and each step.

So a step that is computed again, or by several processes in parts, draws the same numbers, and those of one purpose
have nothing to do with those of another.
"""

from typing import Literal

import numpy as np
import torch

Purpose = Literal["noise", "teacher", "processor", "batch"]


def draws(seed: int, purpose: Purpose, t: int, device: torch.device) -> torch.Generator:
    """The numbers for a purpose in step t of a batch, from the beginning; the batch's seed decides them. What is
    drawn once a batch has step 0."""
    if purpose == "noise":
        seed = (seed * 1_000_003 + t) % 2**63
    else:
        words = (seed, t, ("teacher", "processor", "batch").index(purpose))
        seed = int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0] >> np.uint64(1))
    return torch.Generator(device).manual_seed(seed)
