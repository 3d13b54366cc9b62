"""An aggregator of one's own: a_j = sum_i softmax_i(m_ij) m_ij, a maximum that is soft.

    python examples/aggregator.py                           # 200 steps of BFS, in a small network
    cd examples && rnar train bfs --model aggregator:soft   # the same model on the command line

Prints `soft aggregation: ... after 200 steps`.
"""

import sys

import rnar


class Soft(rnar.Aggregator):
    ordered = False  # it does not matter in which order the senders stand

    def forward(self, messages, edges=None):  # [B, sender, receiver, H]; edges [B, sender, receiver] that are sent
        sent, masked = messages, messages
        if edges is not None:
            sent, masked = messages * edges[..., None], messages.masked_fill(~edges[..., None], -1e9)
        return (masked.softmax(dim=1) * sent).sum(dim=1)


soft = rnar.Model("soft", lambda size: rnar.MessagePassing(size, Soft(size), triplets=8, gate=True), reversal="mask")

if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    small = dict(size=32, batch=8, validation_samples=32, selection_samples=64, ood_samples=0, test_samples=8)
    result = rnar.train("bfs", model=soft, steps=steps, validate_every=steps // 4, **small)
    print(f"soft aggregation: {result.score:.1%} after {result.steps} steps")
