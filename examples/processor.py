"""A processor with an auxiliary loss: message passing whose states are asked to stay small.

    python examples/processor.py                            # 200 steps of BFS, in a small network
    cd examples && rnar train bfs --model processor:calm    # the same model on the command line

Prints `calm states: ... after 200 steps, loss of calm ...`; that loss is in the run's metrics.jsonl too.
"""

import sys

import rnar
from rnar.nn.aggregators import Max


class Calm(rnar.Processor):
    """Another processor, and the mean square of its states, a hundredth of which is added to the loss."""

    losses = ("calm",)  # what its steps add to the loss

    def __init__(self, inner):
        super().__init__()
        self.inner, self.size = inner, inner.size
        self.node_width, self.edge_width, self.uses_adjacency = inner.node_width, inner.edge_width, inner.uses_adjacency

    def start(self, batch, nodes, like):
        return self.inner.start(batch, nodes, like)

    def forward(self, graph, state, rng=None):
        step = self.inner(graph, state, rng)
        return step._replace(losses={"calm": 0.01 * step.state[0].square().mean(dim=(1, 2))})  # [B]


calm = rnar.Model(
    "calm", lambda size: Calm(rnar.MessagePassing(size, Max(size), triplets=8, gate=True)), reversal="mask"
)

if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    small = dict(size=32, batch=8, validation_samples=32, selection_samples=64, wider_samples=0, test_samples=8)
    result = rnar.train(rnar.Settings("bfs", model=calm, steps=steps, validate_every=steps // 4, **small))
    last = rnar.Run("runs/bfs/calm/seed-0", calm).metrics[-1]["losses"]["bfs"]
    print(f"calm states: {result.score:.1%} after {result.steps} steps, loss of calm {last['calm']:.4f}")
