"""What makes a processor of a size, for a recipe: `Model("mine", triplet_gmpnn(Soft))`."""

from collections.abc import Callable
from typing import Any

from torch import nn

from rnar.nn.aggregators import Max
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.processors.scan import Scan

Maker = Callable[[int], nn.Module]
"""size -> a module"""


def message_passing(aggregator: Maker, **options: Any) -> Maker:
    """size -> message passing with that aggregator."""
    return lambda size: MessagePassing(size, aggregator(size), **options)


def triplet_gmpnn(aggregator: Maker) -> Maker:
    """size -> the Triplet-GMPNN of Ibarz et al. (2022) with that aggregator in place of its maximum."""
    return message_passing(aggregator, triplets=8, gate=True)


def scanning(aggregator: Maker = Max, **options: Any) -> Maker:
    """size -> Triplet-GMPNN with that aggregator and a scan."""
    return lambda size: Scan(MessagePassing(size, aggregator(size), triplets=8, gate=True), size, **options)
