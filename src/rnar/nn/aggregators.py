"""Aggregators: what a node makes of the messages that are sent to it, one class each.

To add one, write a subclass of `Aggregator`: its tests come free, for they try all that there are.
"""

import math
from abc import ABC, abstractmethod
from typing import Annotated

import torch
from torch import Tensor, nn

from rnar.common.checking import checked
from rnar.functional import Affine, Features, computed, lazy, linear, lstm, lstm_states, max_over_senders
from rnar.nn.draws import generator, random_order
from rnar.nn.linear import Linear, Size, truncated_normal_

MASK_VALUE = -1e6  # of absent messages, for a maximum
SHARP = 4.0  # questions are answered nearly with yes or no, and can still be learned
QUESTIONS = 32


class Aggregator(nn.Module, ABC):
    """Aggregates the incoming messages of each node: [B, sender, receiver, H] -> [B, receiver, H].

    A subclass says whether it is `ordered` and has a `forward`. An absent message must change nothing.

    Args:
        size: H, the number of features of a message.

    Shapes:
        - messages: [B, sender, receiver, H], the message of each node to each node
        - edges: bool [B, sender, receiver], the messages that are sent; None: all
        - output: [B, receiver, H]
    """

    ordered: bool
    """True if the aggregator is not permutation-invariant."""
    takes_lazy = False
    """True if messages may come as a linear map that is not computed yet (`rnar.functional.affine`)."""

    @checked
    def __init__(self, size: Size):
        super().__init__()
        self.size = size

    def __call__(self, messages: Features, edges: Tensor | None = None) -> Tensor:
        return super().__call__(messages if self.takes_lazy else computed(messages), edges)

    @abstractmethod
    def forward(self, messages: Tensor, edges: Tensor | None = None) -> Tensor: ...


class Max(Aggregator):
    """a_j = max_i m_ij"""

    ordered = False
    takes_lazy = True

    def forward(self, messages: Features, edges: Tensor | None = None) -> Tensor:
        if edges is not None:
            messages = computed(messages).masked_fill(~edges[..., None], MASK_VALUE)
        return max_over_senders(messages)


class Sum(Aggregator):
    """a_j = sum_i m_ij"""

    ordered = False

    def forward(self, messages: Tensor, edges: Tensor | None = None) -> Tensor:
        return messages.sum(dim=1) if edges is None else (messages * edges[..., None]).sum(dim=1)


class Mean(Aggregator):
    """a_j = sum_i m_ij / (how many i send to j); nothing is 0"""

    ordered = False

    def forward(self, messages: Tensor, edges: Tensor | None = None) -> Tensor:
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
    takes_lazy = True

    @checked
    def __init__(self, size: Size, questions: Size = QUESTIONS, hard: bool = False):
        super().__init__(size)
        self.hard = hard
        self.question, self.answer = Linear(size, questions), Linear(questions, size)
        self.one = nn.Parameter(torch.zeros(questions))

    def forward(self, messages: Features, edges: Tensor | None = None) -> Tensor:
        question = self.question
        asked = linear(lazy(messages), question.weight, question.bias)
        return self._counted(SHARP * computed(asked), edges)

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
    takes_lazy = True
    gates: int

    def __init__(self, size: int):
        super().__init__(size)
        self.from_message = nn.Parameter(torch.empty(self.gates * size, size))
        self.from_state = nn.Parameter(torch.empty(self.gates * size, size))
        self.bias = nn.Parameter(torch.zeros(self.gates * size))
        for weight in (self.from_message, self.from_state):  # one matrix over both in the reference
            truncated_normal_(weight, 1 / math.sqrt(2 * size))

    @abstractmethod
    def states(self, messages: Affine) -> Tensor:
        """The output after each message, [S, B * R, H], of gates that are a map of messages [B, S, R, I]."""

    def last(self, messages: Affine) -> Tensor:
        """The output after all messages: [B, R, H]."""
        batch, _, receivers, _ = messages.x.shape
        return self.states(messages)[-1].view(batch, receivers, self.size)

    def forward(self, messages: Features, edges: Tensor | None = None) -> Tensor:
        gates = lazy(messages).then(self.from_message, self.bias)
        if edges is None:
            return self.last(gates)
        x = gates.x
        batch, _, receivers, _ = x.shape
        # those that send come first, in their order; what is read after them is not looked at
        order = torch.argsort(edges.int(), dim=1, descending=True, stable=True)
        outputs = self.states(Affine(x.gather(1, order[..., None].expand_as(x)), gates.weight, gates.bias))
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

    def last(self, messages: Affine) -> Tensor:
        return lstm(messages, self.from_state)

    def states(self, messages: Affine) -> Tensor:
        return lstm_states(messages, self.from_state)[0]


class GRU(Recurrent):
    """a_j = the last output of a GRU that reads m_1j, m_2j, ... in node order"""

    gates = 3

    def states(self, messages: Affine) -> Tensor:
        assert messages.weight is not None and messages.bias is not None
        x = messages.x.to(messages.weight.dtype).transpose(0, 1).flatten(1, 2)
        zero = x.new_zeros(1, x.shape[1], self.size)
        weights = [messages.weight, self.from_state, messages.bias, torch.zeros_like(messages.bias)]
        return torch.gru(x, zero, weights, True, 1, 0.0, torch.is_grad_enabled(), False, False)[0]


class BinaryGRU(Aggregator):
    """A balanced tree over the senders, whose nodes are x + y = (GRU(x, y) + GRU(y, x)) / 2 (Ong and Veličković, 2022).

    Commutative but not associative: the order matters. As in PyG, neighbours are paired and an odd one out at the end
    goes up as it is. One difference: absent edges are left out of the tree, and not zeros in it.
    """

    ordered = True

    def __init__(self, size: int):
        super().__init__(size)
        self.cell = nn.GRUCell(size, size)

    def forward(self, messages: Tensor, edges: Tensor | None = None) -> Tensor:
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
    takes_lazy = True

    @checked
    def __init__(self, inner: Aggregator, k: Annotated[int, range(1, 1 << 20)]):
        super().__init__(inner.size)
        self.inner = inner
        self.k = k

    def forward(self, messages: Features, edges: Tensor | None = None) -> Tensor:
        return self.mean_over(self.orders(lazy(messages).shape[1]), messages, edges)

    def orders(self, senders: int) -> list[Tensor]:
        rng = generator()
        device = "cpu" if rng is None else rng.device
        return [torch.randperm(senders, generator=rng, device=device) for _ in range(self.k)]

    def mean_over(self, orders: list[Tensor], messages: Features, edges: Tensor | None = None) -> Tensor:
        """The mean over given orders."""
        return torch.stack([self.inner(*reordered(order, messages, edges)) for order in orders]).mean(dim=0)


class Shuffled(Aggregator):
    """An ordered aggregator that is given the senders in a random order in training, with probability p at each step.

    All samples and receivers share the order. So that it does not rely on order where it need not; in evaluation, the
    order is always that of the nodes.
    """

    takes_lazy = True

    @checked
    def __init__(self, inner: Aggregator, p: float):
        super().__init__(inner.size)
        if not 0 <= p <= 1:
            raise ValueError(f"p is a probability, from 0 to 1, not {p}")
        self.inner, self.p, self.ordered = inner, p, inner.ordered

    def forward(self, messages: Features, edges: Tensor | None = None) -> Tensor:
        order = random_order(lazy(messages).shape[1], self.p, generator()) if self.training else None
        if order is not None:
            messages, edges = reordered(order, messages, edges)
        return self.inner(messages, edges)


def reordered(order: Tensor, messages: Features, edges: Tensor | None) -> tuple[Affine, Tensor | None]:
    """Messages and edges with their senders in another order."""
    messages = lazy(messages)
    order = order.to(messages.x.device)
    moved = Affine(messages.x[:, order], messages.weight, messages.bias)
    return moved, None if edges is None else edges[:, order]
