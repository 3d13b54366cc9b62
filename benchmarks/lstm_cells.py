"""What the cells of an RNAR network hold while its LSTM reads the messages of a node, at several sizes.

    python benchmarks/lstm_cells.py src/rnar/networks/quicksort --n 16 32 64

A cell whose value grows with each message counts; at n = 64 it is then beyond all that was seen in training.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor

import rnar
from rnar.functional import computed
from rnar.nn import LSTM

PLACES = (1, 4, 8, 16, 32, 64)  # messages read


def cells(lstm: LSTM, messages: Tensor, weight: Tensor, bias: Tensor) -> list[Tensor]:
    """The cells [B * R, H] after each message [B, S, R, I]."""
    batch, senders, receivers, _ = messages.shape
    h = c = messages.new_zeros(batch * receivers, lstm.size)
    after = []
    for sender in range(senders):
        gates = messages[:, sender].flatten(0, 1) @ weight.T + bias + h @ lstm.from_state.T
        i, f, g, o = gates.chunk(4, dim=1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        after.append(c)
    return after


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="the folder of a run, or of a network that ships")
    parser.add_argument("--n", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--every", type=int, default=20, help="look at one step of the network in so many")
    args = parser.parse_args()
    run = rnar.Run(args.run)
    network, (task,) = run.network().eval(), run.settings.tasks
    lstm = next(module for module in network.modules() if isinstance(module, LSTM))
    last, seen = lstm.last, []

    def looking(messages):
        seen.append(None)
        if len(seen) % args.every == 1:
            seen[-1] = cells(lstm, computed(messages.x).float(), messages.weight.float(), messages.bias.float())
        return last(messages)

    lstm.last = looking  # type: ignore[method-assign]
    for n in args.n:
        seen.clear()
        network(run.model.batch(rnar.sample(task, n=n, batch=args.samples, seed=7)), hints=False)
        steps = [step for step in seen if step is not None]
        for place in (place for place in PLACES if place <= n):
            size = torch.stack([step[place - 1].abs().quantile(0.99) for step in steps]).mean()
            print(f"n={n:3d}, after {place:2d} messages: one percent of the cells are above {size:.1f}")


if __name__ == "__main__":
    main()
