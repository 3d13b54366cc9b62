"""ForgetNet and G-ForgetNet (Bohde et al., 2024): an algorithm's next step depends on its present state alone.

    ForgetNet:    h_j' = P(x, 0)_j
    G-ForgetNet:  h_j' = P(x, g * h)_j,   g_j = sigmoid(G2 relu(G1 (x_j || h_j))),   loss + alpha mean(g)

P is message passing with triplets and without the gate at its output, which would let history pass by. The authors
never published their code. What each class follows, what is not known, and what was chosen stands with it.
"""

import math

import torch
from torch import Tensor, nn

from rnar.nn.auxiliary import auxiliary_loss
from rnar.nn.graph import Graph
from rnar.nn.linear import Linear
from rnar.nn.processors.processor import ProcessorOutput


class ForgetNet(nn.Module):
    """Message passing in which nothing is carried from one step to the next but the hints.

    Follows the abstract and the reviews: h is a function of the encoded features alone. Unknown: whether decoders still
    see the last h. Chosen: they do not, or a prediction would depend on the step before the last. They see x_j || h_j'.

    The weights by which the inner processor would read the last h are there, and zero is all that they ever read.
    """

    def __init__(self, inner: nn.Module):
        super().__init__()
        self.inner = inner

    def forward(self, graph: Graph, state: None = None) -> ProcessorOutput:
        new, _, edges = self.inner(graph, None)
        return ProcessorOutput(None, torch.cat([graph.nodes, new], dim=-1), edges)


class GatedForgetNet(nn.Module):
    """Message passing that sees of the last h what a gate lets through, and has to pay for it more and more.

    Follows the paper's abstract, its reviews and summaries: a gate from 0 to 1 for each number of h, a penalty on it,
    history early in training and hardly any at its end. Known with less certainty: that the weight of the penalty is
    alpha = 1 - cos(pi/2 * the part of the training that is done).

    Unknown: the gate's network, chosen: two layers that see x and h, and begin half open (the submitted paper reports
    gates that fell to 0.38 without a penalty, so they began above that). Unknown: the norm, chosen: the mean over nodes
    and channels, and like a hint's loss over steps and samples; so it is at most 1 at every size. Unknown: whether the
    gate is shut by force when the network is tested, chosen: no, it does what it has learned. Unknown: whether decoders
    see the last h, chosen: what the gate lets through of it, so that with a shut gate nothing is left of history.
    """

    def __init__(self, inner: nn.Module, size: int):
        super().__init__()
        self.inner = inner
        self.gate_in, self.gate_out = Linear(2 * size, size), Linear(size, size)
        self.alpha = 0.0

    def progress(self, fraction: float) -> None:
        """Called before each training step with the part of the training that is done, from 0 to 1: the penalty's
        weight grows with it from 0 to 1."""
        if not 0 <= fraction <= 1:
            raise ValueError(f"the part of the training that is done is between 0 and 1, not {fraction}")
        self.alpha = 1 - math.cos(fraction * math.pi / 2)

    def forward(self, graph: Graph, state: Tensor | None = None) -> ProcessorOutput:
        hidden = graph.zeros() if state is None else state
        gate = self.gate(graph.nodes, hidden)
        auxiliary_loss("penalty", self.alpha * gate.mean(dim=(1, 2)))
        return self.inner(graph, gate * hidden)

    def gate(self, nodes: Tensor, hidden: Tensor) -> Tensor:
        """How much of the last h is let through: [B, N, H]"""
        return torch.sigmoid(self.gate_out(torch.relu(self.gate_in(torch.cat([nodes, hidden], dim=-1)))))
