"""What makes a processor of a size, for a recipe: `Model("mine", triplet_gmpnn(Soft))`."""

from collections.abc import Callable
from typing import Any

from rnar.nn.aggregators import Aggregator, Max
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.processors.processor import Processor
from rnar.nn.processors.scan import Scan


def message_passing(aggregator: Callable[[int], Aggregator], **options: Any) -> Callable[[int], Processor]:
    """size -> message passing with that aggregator."""
    return lambda size: MessagePassing(size, aggregator(size), **options)


def triplet_gmpnn(aggregator: Callable[[int], Aggregator]) -> Callable[[int], Processor]:
    """size -> the Triplet-GMPNN of Ibarz et al. (2022) with that aggregator in place of its maximum."""
    return message_passing(aggregator, triplets=8, gate=True)


def scanning(aggregator: Callable[[int], Aggregator] = Max, **options: Any) -> Callable[[int], Processor]:
    """size -> Triplet-GMPNN with that aggregator and a scan."""
    return lambda size: Scan(MessagePassing(size, aggregator(size), triplets=8, gate=True), **options)
