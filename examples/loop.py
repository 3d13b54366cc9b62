"""A training loop of one's own, in plain PyTorch: no run folder, no settings, any optimiser.

    python examples/loop.py     # 200 steps of Minimum

Prints `minimum at n=16: ... after 200 steps`.
"""

import sys

import torch
from torch.utils.data import DataLoader

import rnar

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
model = rnar.models.find("rnar")
network = model.build("minimum", size=32)  # a torch.nn.Module
optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
data = rnar.clrs.Stream("minimum", batch=8, transform=model.batch, seed=0)  # endless batches of n = 4 to 16
for _, batch in zip(range(steps), DataLoader(data, batch_size=None), strict=False):
    loss = network.loss(batch)
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()
test = model.batch(rnar.sample("minimum", n=16, batch=32, seed=1))
print(f"minimum at n=16: {rnar.evaluate(network, test).score:.1%} after {steps} steps")
