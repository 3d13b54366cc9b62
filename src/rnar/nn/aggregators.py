"""Aggregators: what a node makes of the messages it is sent, one class each.

To add one, write a subclass of `Aggregator`: its tests come free, for they try all that there are.
"""

import math
from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from rnar.nn.linear import Linear, truncated_normal_
from rnar.ops import linear, lstm, max_of_linear, max_over_senders

SILENCE = -1e6  # what an absent edge says to a maximum
SHARP = 4.0  # questions are answered nearly with yes or no, and can still be learned
QUESTIONS = 32

Rng = torch.Generator | None
Map = tuple[Tensor, Tensor]
"""W and b of a linear map"""


class Aggregator(nn.Module, ABC):
    """What a node makes of its messages: [B, sender, receiver, H] -> [B, receiver, H].

    A subclass says whether the order of the senders matters, and has a `forward`. What it sees of `edges` must be all
    that counts: a message that is not sent says nothing.

    Args:
        size: H, how many numbers a message has.

    Shapes:
        - messages: [B, sender, receiver, H], the message of each node to each node
        - edges: bool [B, sender, receiver], which of them are sent; None: all
        - output: [B, receiver, H]
    """

    ordered: bool
    """Does the order of the senders matter?"""
    losses: tuple[str, ...] = ()
    """The names of what `hear` adds to the loss."""

    def __init__(self, size: int):
        super().__init__()
        self.size = size

    @abstractmethod
    def forward(self, messages: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        """Aggregate messages. `rng` is for those that draw: the same numbers come from it if a step is repeated."""

    def prepare(self, last: nn.Linear) -> Any:
        """What `after` needs of the linear map before it, made once a batch: by default its W and b."""
        return last.weight, last.bias

    def after(self, prepared: Any, x: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        """Aggregate the messages W x + b; an aggregator that begins with a linear map may do both at once.

        The product is in the precision of x, which may be lower than that of messages and weights.
        """
        return self(linear(x, *prepared), edges, rng)

    def hear(
        self, prepared: Any, x: Tensor, edges: Tensor | None = None, rng: Rng = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """`after`, and what it adds to the loss, by name: [B]. Most add nothing."""
        return self.after(prepared, x, edges, rng), {}


class Max(Aggregator):
    """a_j = max_i m_ij"""

    ordered = False

    def forward(self, messages: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        if edges is not None:
            messages = messages.masked_fill(~edges[..., None], SILENCE)
        return max_over_senders(messages)

    def after(self, prepared: Map, x: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        if edges is not None:
            return super().after(prepared, x, edges, rng)
        weight, bias = prepared
        return max_of_linear(x, weight) + bias  # b is the same for all senders


class Sum(Aggregator):
    """a_j = sum_i m_ij"""

    ordered = False

    def forward(self, messages: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        return messages.sum(dim=1) if edges is None else (messages * edges[..., None]).sum(dim=1)


class Mean(Aggregator):
    """a_j = sum_i m_ij / (how many i send to j); nothing is 0"""

    ordered = False

    def forward(self, messages: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        if edges is None:
            return messages.mean(dim=1)
        return (messages * edges[..., None]).sum(dim=1) / edges.sum(dim=1).clamp(min=1)[..., None]


class Count(Aggregator):
    """a_j = U (u + sum_i q_ij) / n_j + b, of n_j senders, q_ij = sigmoid(4 (V m_ij + v)): the share that says yes.

    Messages are asked a few questions, and votes are counted: how many senders are smaller, say. Shares are from 0 to 1
    at every size, and u, which is learned, tells how much one vote is. As few questions as there are, this costs less
    than a maximum.

    Args:
        size: H, how many numbers a message has.
        questions: How many questions each message is asked.
        hard: Are answers yes or no, so that no doubts add up? The gradient is that of the sigmoid.
    """

    ordered = False

    def __init__(self, size: int, questions: int = QUESTIONS, hard: bool = False):
        super().__init__(size)
        self.hard = hard
        self.question, self.answer = Linear(size, questions), Linear(questions, size)
        self.one = nn.Parameter(torch.zeros(questions))

    def forward(self, messages: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        return self._counted(SHARP * self.question(messages), edges)

    def prepare(self, last: nn.Linear) -> Map:
        """The questions after the map."""
        question = self.question
        return SHARP * question.weight @ last.weight, SHARP * (question.weight @ last.bias + question.bias)

    def after(self, prepared: Map, x: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        return self._counted(linear(x, *prepared), edges)

    def _counted(self, asked: Tensor, edges: Tensor | None) -> Tensor:
        votes = torch.sigmoid(asked)
        if self.hard:
            votes = votes + ((asked > 0).to(votes.dtype) - votes).detach()
        if edges is None:
            return self.answer((self.one + votes.sum(dim=1)) / votes.shape[1])
        senders = edges.sum(dim=1).clamp(min=1)[..., None]
        return self.answer((self.one + (votes * edges[..., None]).sum(dim=1)) / senders)


class Recurrent(Aggregator):
    """What the recurrent aggregators share: gates = W_x m + W_h h + b, senders in node order, zero state."""

    ordered = True
    gates: int

    def __init__(self, size: int):
        super().__init__(size)
        self.from_message = nn.Parameter(torch.empty(self.gates * size, size))
        self.from_state = nn.Parameter(torch.empty(self.gates * size, size))
        self.bias = nn.Parameter(torch.zeros(self.gates * size))
        for weight in (self.from_message, self.from_state):  # one matrix over both in the reference
            truncated_normal_(weight, 1 / math.sqrt(2 * size))

    @abstractmethod
    def states(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Run over x [S, B', inputs] with W_x = weight; the output after each message: [S, B', H]."""

    def last(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """The output after all messages x [B, S, R, inputs]: [B, R, H]."""
        batch, senders, receivers, inputs = x.shape
        steps = x.transpose(0, 1).reshape(senders, batch * receivers, inputs).to(weight.dtype)
        return self.states(steps, weight, bias)[-1].view(batch, receivers, self.size)

    def forward(self, messages: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        return self._read(messages, self.from_message, self.bias, edges)

    def prepare(self, last: nn.Linear) -> Map:
        """W_x after the map: it reads what that reads."""
        return self.from_message @ last.weight, self.from_message @ last.bias + self.bias

    def after(self, prepared: Map, x: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        return self._read(x, *prepared, edges)

    def _read(self, x: Tensor, weight: Tensor, bias: Tensor, edges: Tensor | None) -> Tensor:
        if edges is None:
            return self.last(x, weight, bias)
        batch, senders, receivers, inputs = x.shape
        # those that send come first, in their order; what is read after them is not looked at
        order = torch.argsort(edges.int(), dim=1, descending=True, stable=True)
        x = x.gather(1, order[..., None].expand_as(x)).to(weight.dtype)
        outputs = self.states(x.transpose(0, 1).reshape(senders, batch * receivers, inputs), weight, bias)
        outputs = torch.cat([torch.zeros_like(outputs[:1]), outputs])  # the state before any message
        count = edges.sum(dim=1).view(1, batch * receivers, 1).expand(1, -1, self.size)
        return outputs.gather(0, count)[0].view(batch, receivers, self.size)


class LSTM(Recurrent):
    """a_j = the last output of an LSTM that reads m_1j, m_2j, ... in node order (Xu and Veličković, 2024, equation 2).

    The forget gate starts with a bias of 1, which the reference adds to it.
    """

    gates = 4

    def __init__(self, size: int):
        super().__init__(size)
        with torch.no_grad():
            self.bias[size : 2 * size] = 1.0  # torch's order: input, forget, candidate, output

    def last(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return lstm(x, weight, self.from_state, bias)

    def states(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        zero = x.new_zeros(1, x.shape[1], self.size)
        weights = [weight, self.from_state, bias, torch.zeros_like(bias)]
        return torch.lstm(x, (zero, zero), weights, True, 1, 0.0, self.training, False, False)[0]


class GRU(Recurrent):
    """a_j = the last output of a GRU that reads m_1j, m_2j, ... in node order"""

    gates = 3

    def states(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        zero = x.new_zeros(1, x.shape[1], self.size)
        weights = [weight, self.from_state, bias, torch.zeros_like(bias)]
        return torch.gru(x, zero, weights, True, 1, 0.0, self.training, False, False)[0]


class BinaryGRU(Aggregator):
    """A balanced tree over the senders, whose nodes are x + y = (GRU(x, y) + GRU(y, x)) / 2 (Ong and Veličković, 2022).

    Commutative but not associative: the order matters. As in PyG, neighbours are paired and an odd one out at the end
    goes up as it is. One difference: absent edges are left out of the tree, and not zeros in it.
    """

    ordered = True

    def __init__(self, size: int):
        super().__init__(size)
        self.cell = nn.GRUCell(size, size)

    def forward(self, messages: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        level = messages.transpose(0, 1)  # [S, B, R, H]
        present = torch.ones(level.shape[:3], dtype=torch.bool, device=level.device)
        if edges is not None:
            order = torch.argsort(edges.int(), dim=1, descending=True, stable=True)
            level = messages.gather(1, order[..., None].expand_as(messages)).transpose(0, 1)
            present = edges.gather(1, order).transpose(0, 1)
        while len(level) > 1:
            pairs = len(level) // 2
            left, right = level[0 : 2 * pairs : 2], level[1 : 2 * pairs : 2]
            both = present[1 : 2 * pairs : 2]  # a right neighbour is there only if the left one is
            joined = torch.where(both[..., None], self._join(left, right), left)
            level = torch.cat([joined, level[2 * pairs :]])
            present = torch.cat([present[0 : 2 * pairs : 2], present[2 * pairs :]])
        return torch.where(present[0][..., None], level[0], 0.0)

    def _join(self, x: Tensor, y: Tensor) -> Tensor:
        one, other = x.reshape(-1, self.size), y.reshape(-1, self.size)
        both = self.cell(torch.cat([one, other]), torch.cat([other, one]))
        return ((both[: len(one)] + both[len(one) :]) / 2).view(x.shape)


class Janossy(Aggregator):
    """The mean over k random orders of the senders of an ordered aggregator (Murphy et al., 2019; paper, appendix B).

    The orders are drawn anew at each call, in training and inference alike, and are shared by all receivers.
    """

    ordered = True

    def __init__(self, inner: Aggregator, k: int):
        super().__init__(inner.size)
        self.inner = inner
        self.k = k

    def forward(self, messages: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        return self.mean_over(self.orders(messages.shape[1], rng), messages, edges)

    def orders(self, senders: int, rng: torch.Generator | None) -> list[Tensor]:
        device = "cpu" if rng is None else rng.device
        return [torch.randperm(senders, generator=rng, device=device) for _ in range(self.k)]

    def mean_over(self, orders: list[Tensor], messages: Tensor, edges: Tensor | None = None) -> Tensor:
        """The mean over given orders."""
        orders = [order.to(messages.device) for order in orders]
        each = [self.inner(messages[:, order], None if edges is None else edges[:, order]) for order in orders]
        return torch.stack(each).mean(dim=0)

    def prepare(self, last: nn.Linear) -> Any:
        return self.inner.prepare(last)

    def after(self, prepared: Any, x: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        orders = [order.to(x.device) for order in self.orders(x.shape[1], rng)]
        each = [self.inner.after(prepared, x[:, o], None if edges is None else edges[:, o]) for o in orders]
        return torch.stack(each).mean(dim=0)


class Shuffled(Aggregator):
    """An ordered aggregator that is given the senders in a random order in training, with probability p at each step.

    All samples and receivers share the order. So that it does not rely on order where it need not; when a network is
    tried, the order is always that of the nodes.
    """

    def __init__(self, inner: Aggregator, p: float):
        super().__init__(inner.size)
        if not 0 <= p <= 1:
            raise ValueError(f"p is a probability, from 0 to 1, not {p}")
        self.inner, self.p, self.ordered = inner, p, inner.ordered

    def forward(self, messages: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        return self.inner(*self._shuffled(messages, edges, rng), rng)

    def prepare(self, last: nn.Linear) -> Any:
        return self.inner.prepare(last)

    def after(self, prepared: Any, x: Tensor, edges: Tensor | None = None, rng: Rng = None) -> Tensor:
        return self.inner.after(prepared, *self._shuffled(x, edges, rng), rng)

    def _shuffled(self, x: Tensor, edges: Tensor | None, rng: Rng) -> tuple[Tensor, Tensor | None]:
        order = random_order(x.shape[1], self.p, rng) if self.training else None
        if order is None:
            return x, edges
        order = order.to(x.device)
        return x[:, order], None if edges is None else edges[:, order]


def random_order(nodes: int, p: float, rng: Rng) -> Tensor | None:
    """With probability p a random order of the nodes, else None."""
    device = "cpu" if rng is None else rng.device
    if torch.rand((), generator=rng, device=device) >= p:
        return None
    return torch.randperm(nodes, generator=rng, device=device)
