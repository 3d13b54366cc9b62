"""The linear map, initialised as the reference initialises it."""

import math
from typing import Annotated, Any

from torch import Tensor, nn

from rnar.functional import Features, computed, is_plain, linear

LARGEST_SIZE = 8192  # of a network: its weights take gigabytes then
Size = Annotated[int, range(1, LARGEST_SIZE + 1)]


class Linear(nn.Linear):
    """y = W x + b, with Haiku's initial values: a normal of deviation 1/sqrt(inputs), cut off at two; b = 0.

    Of a lazy value it is a lazy value (`rnar.functional.affine`); hooks are given tensors.
    """

    plain = True

    def __init__(self, inputs: int, outputs: int, deviation: float | None = None, bias: float = 0.0):
        self.deviation = deviation or 1 / math.sqrt(inputs)
        self.first_bias = bias
        super().__init__(inputs, outputs)

    def __call__(self, x: Features) -> Any:
        return super().__call__(x if isinstance(x, Tensor) or is_plain(self) else computed(x))

    def reset_parameters(self) -> None:
        truncated_normal_(self.weight, self.deviation)
        nn.init.constant_(self.bias, self.first_bias)

    def forward(self, x: Features) -> Tensor:
        return linear(x, self.weight, self.bias)


def truncated_normal_(tensor: Tensor, deviation: float) -> None:
    nn.init.trunc_normal_(tensor, std=deviation, a=-2 * deviation, b=2 * deviation)
