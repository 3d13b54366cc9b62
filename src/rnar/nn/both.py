"""Two aggregators of the same messages, side by side: one that order does not concern, one that reads or counts.

Summed(Max(size), Count(size))              p_j + q_j
Mapped(Max(size), LSTM(size))               W (p_j || q_j)
Added(Max(size), LSTM(size))                p_j + W LayerNorm(q_j), W = 0 at first: it begins as the first alone
Gated(Max(size), LSTM(size))                g_j q_j + (1 - g_j) p_j, g_j = sigmoid(G (p_j || q_j))
"""

from abc import abstractmethod

import torch
from torch import Tensor, nn

from rnar.common.checking import checked
from rnar.functional import Features
from rnar.nn.aggregators import Aggregator
from rnar.nn.auxiliary import auxiliary_loss
from rnar.nn.linear import Linear

GATE_BIAS = -1.0  # the second is let through by a quarter at first


class Both(Aggregator):
    """What these share: p_j and q_j are what two aggregators make of the messages.

    Args:
        first: p_j.
        second: q_j, of the same size.

    Shapes:
        - messages: [B, sender, receiver, H], as all aggregators have them
        - output: [B, receiver, H]
    """

    takes_lazy = True

    @checked
    def __init__(self, first: Aggregator, second: Aggregator):
        super().__init__(first.size)
        if first.size != second.size:
            raise ValueError(f"two aggregators must have one size, not {first.size} and {second.size}")
        self.first, self.second = first, second
        self.ordered = first.ordered or second.ordered

    @abstractmethod
    def joined(self, p: Tensor, q: Tensor) -> Tensor:
        """One of two: [B, receiver, H]"""

    def forward(self, messages: Features, edges: Tensor | None = None) -> Tensor:
        return self.joined(self.first(messages, edges), self.second(messages, edges))


class Summed(Both):
    """a_j = p_j + q_j: enough where the second ends with a linear map of its own, as `Count` does."""

    def joined(self, p: Tensor, q: Tensor) -> Tensor:
        return p + q


class Mapped(Both):
    """a_j = W (p_j || q_j) + b"""

    def __init__(self, first: Aggregator, second: Aggregator):
        super().__init__(first, second)
        self.map = Linear(2 * self.size, self.size)

    def joined(self, p: Tensor, q: Tensor) -> Tensor:
        return self.map(torch.cat([p, q], dim=-1))


class Added(Both):
    """a_j = p_j + W LayerNorm(q_j) + b; W and b are zero at first, so that it begins as the first alone."""

    def __init__(self, first: Aggregator, second: Aggregator):
        super().__init__(first, second)
        self.norm, self.map = nn.LayerNorm(self.size), Linear(self.size, self.size)
        nn.init.zeros_(self.map.weight)

    def joined(self, p: Tensor, q: Tensor) -> Tensor:
        return p + self.map(self.norm(q))


class Gated(Both):
    """a_j = g_j q_j + (1 - g_j) p_j, g_j = sigmoid(G (p_j || q_j) + c)

    Both fit small problems: a loss alone has no reason to choose the one that generalises. `price` gives it one.

    Args:
        first: p_j, which is free.
        second: q_j.
        price: So much of the mean of g is added to the loss, under the name "order".
    """

    def __init__(self, first: Aggregator, second: Aggregator, price: float = 0.0):
        super().__init__(first, second)
        self.gate, self.price = Linear(2 * self.size, self.size, bias=GATE_BIAS), price

    def openness(self, p: Tensor, q: Tensor) -> Tensor:
        """g: [B, receiver, H]"""
        return torch.sigmoid(self.gate(torch.cat([p, q], dim=-1)))

    def joined(self, p: Tensor, q: Tensor) -> Tensor:
        gate = self.openness(p, q)
        if self.price:
            auxiliary_loss("order", self.price * gate.mean(dim=(1, 2)))
        return torch.lerp(p, q, gate)
