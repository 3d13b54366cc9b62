"""The systems of the field by name. A model is a recipe: a processor, and what it sees of the data.

    find("rnar").build(["quickselect"], seed=0)     # a network with fresh weights

Your own aggregator is a model in ten lines. In a file `my_models.py` of yours:

    from rnar.models import Model
    from rnar.nn.aggregators import Aggregator
    from rnar.nn.processors.message_passing import MessagePassing

    class Soft(Aggregator):
        '''a_j = sum_i softmax_i(m_ij) m_ij'''
        ordered = False

        def forward(self, messages, edges=None):  # messages [B, i, j, H]; None: all are sent
            sent, masked = messages, messages
            if edges is not None:
                sent, masked = messages * edges[..., None], messages.masked_fill(~edges[..., None], -1e9)
            return (masked.softmax(dim=1) * sent).sum(dim=1)

    mine = Model("mine", lambda size: MessagePassing(size, Soft(size), triplets=8, gate=True), reversal="mask")

Then `my_models:mine` is its name wherever a model is asked for: `rnar models my_models:mine`.
"""

from rnar.models.beyond import FOUND
from rnar.models.makers import message_passing, scanning, triplet_gmpnn
from rnar.models.recipe import Model, Paper
from rnar.models.registry import MODELS, find, register
from rnar.nn.linear import LARGEST_SIZE

__all__ = [
    "FOUND",
    "LARGEST_SIZE",
    "MODELS",
    "Model",
    "Paper",
    "find",
    "is_ours",
    "message_passing",
    "register",
    "scanning",
    "triplet_gmpnn",
]

OURS = frozenset(MODELS)


def is_ours(model: Model) -> bool:
    """True if it is one of this package, and not a user's own."""
    return model.name in OURS and MODELS[model.name] is model
