"""The scan: another processor whose nodes are read in their order once a step, from the first to the last and back.

    s_j  = the outputs at j of an LSTM over z_1, ..., z_n and of another over z_n, ..., z_1,   z = x || h
    x_j <- x_j + W s_j,   and the processor goes on as ever

RNAR reads the messages of every receiver in order: n readings of n messages. This one reads n nodes, which costs little
more than no reading at all. What it can know of order is the same for all receivers. On Quickselect it fits small
problems far faster than RNAR, and by itself it keeps little of that at other sizes (LOG.md): hence the ways to rely on
it less.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from rnar.common.checking import checked
from rnar.nn.auxiliary import auxiliary_loss
from rnar.nn.draws import once_a_batch, random_order
from rnar.nn.graph import Graph
from rnar.nn.linear import Linear, Size
from rnar.nn.processors.processor import ProcessorOutput

Cell = Literal["lstm", "gru"]
EACH_WAY = 64  # numbers of a reading in one direction
GATE_BIAS = -1.0  # of a gate: the scan is let through by a quarter at first


class Scan(nn.Module):
    """A processor that is told what comes before each node and after it.

    Args:
        inner: The processor that goes on with it: `MessagePassing(size, Max(size), triplets=8, gate=True)`, say.
        size: H, the number of features of a node, and of its state.
        cell: What reads.
        both_ways: Is the order read backwards too?
        width: How many numbers each direction has.
        reads: How many numbers of a node are read, R z_j, which costs less; None: all of z_j.
        from_zero: Does W begin with zeros, so that the network begins as the inner one?
        shuffled: In training, the probability for each batch that its nodes are read in a random order, the same one
            for all samples and steps. When a network is tried the order is always theirs.
        gated: Is there a gate for each number, x_j <- x_j + g_j W s_j, g_j = sigmoid(G (z_j || s_j))?
        price: What an open gate costs: so much of the mean of g is a loss named "scan". A network that can do without
            order then has a reason to.

    Shapes:
        - graph, state, output: as the inner processor has them; decoders see the new x
    """

    @checked
    def __init__(
        self,
        inner: nn.Module,
        size: Size,
        cell: Cell = "lstm",
        both_ways: bool = True,
        width: Size = EACH_WAY,
        reads: Size | None = None,
        from_zero: bool = False,
        shuffled: float = 0.0,
        gated: bool = False,
        price: float = 0.0,
    ):
        super().__init__()
        if not 0 <= shuffled <= 1:
            raise ValueError(f"shuffled is a probability, from 0 to 1, not {shuffled}")
        if price and not gated:
            raise ValueError("a price is that of an open gate; this scan has none: gated=True")
        self.inner, self.size = inner, size
        self.shuffled, self.price = shuffled, price
        ways = 2 if both_ways else 1
        reader = {"lstm": nn.LSTM, "gru": nn.GRU}[cell]
        self.into = None if reads is None else Linear(2 * self.size, reads)
        self.reader = reader(reads or 2 * self.size, width, batch_first=True, bidirectional=both_ways)
        self.out = Linear(ways * width, self.size)
        if from_zero:
            nn.init.zeros_(self.out.weight)
        self.gate = Linear(2 * self.size + ways * width, self.size, bias=GATE_BIAS) if gated else None

    def forward(self, graph: Graph, state: Tensor | None = None) -> ProcessorOutput:
        hidden = graph.zeros() if state is None else state
        z = torch.cat([graph.nodes, hidden], dim=-1)
        read = self.read(z, self.order(z.shape[1]))
        told = self.out(read)
        if self.gate is not None:
            gate = torch.sigmoid(self.gate(torch.cat([z, read], dim=-1)))
            told = gate * told
            if self.price:
                auxiliary_loss("scan", self.price * gate.mean(dim=(1, 2)))
        return self.inner(graph.replace(nodes=graph.nodes + told), hidden)

    def order(self, nodes: int) -> Tensor | None:
        """In which order nodes are read, drawn once a batch; None: in theirs."""
        return once_a_batch(self._drawn, nodes) if self.training and self.shuffled else None

    def _drawn(self, rng: torch.Generator | None, nodes: int) -> Tensor | None:
        return random_order(nodes, self.shuffled, rng)

    def read(self, z: Tensor, order: Tensor | None = None) -> Tensor:
        """What was read when each node was: [B, N, ways * width] of z [B, N, 2 H]"""
        z = z if self.into is None else self.into(z)
        if order is None:
            return self.reader(z)[0]
        order = order.to(z.device)
        back = torch.argsort(order)
        return self.reader(z[:, order])[0][:, back]
