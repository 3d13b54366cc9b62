"""What is drawn at random while a network runs: a stream of its own for each purpose and each step.

So a step that is computed again, or by several processes in parts, draws the same numbers, and those of one purpose
have nothing to do with those of another.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

Purpose = Literal["noise", "teacher", "processor", "batch"]


class Draws:
    """All random numbers of one batch, which the seed decides."""

    def __init__(self, seed: int, device: torch.device):
        self.seed, self.device = seed, device

    def stream(self, purpose: Purpose, t: int) -> torch.Generator:
        """The numbers for a purpose in step t, from the beginning; what is drawn once a batch has step 0."""
        if purpose == "noise":
            seed = (self.seed * 1_000_003 + t) % 2**63
        else:
            words = (self.seed, t, ("teacher", "processor", "batch").index(purpose))
            seed = int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0] >> np.uint64(1))
        return torch.Generator(self.device).manual_seed(seed)
