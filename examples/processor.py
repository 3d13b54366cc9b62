"""A processor with an auxiliary loss: message passing whose states are asked to stay small.

    python examples/processor.py        # 200 steps of BFS; or: cd examples && rnar train bfs --model processor:calm

Prints `calm states: ... after 200 steps`.
"""

import sys

import torch

import rnar


class Calm(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inner = rnar.models.find("triplet-gmpnn").processor(size)

    def forward(self, graph, state):
        output = self.inner(graph, state)
        rnar.auxiliary_loss("calm", 0.01 * output.state.square().mean(dim=(1, 2)))  # [B], of this step
        return output


calm = rnar.Model("calm", Calm, reversal="mask")
if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    result = rnar.train("bfs", model=calm, steps=steps, validate_every=4, size=32, batch=8, test_samples=8)
    print(f"calm states: {result.score:.1%} after {steps} steps")
