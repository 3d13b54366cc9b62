"""Numbers in compiled loops: in either precision, and a sigmoid and a tanh that vectorise.

numba has no bfloat16. Its arrays have the bits as uint16: the upper half of those of a float32.
"""

from typing import Any

import numba
import numpy as np

# With an error where something is divided by zero, as Python has it, no loop would vectorise. Of `fastmath` they do
# without the promise that there is no NaN: what is no number any more must stay so, for training to end.
helper: Any = numba.njit(nogil=True, fastmath={"contract", "arcp", "reassoc"}, error_model="numpy")
HALF: Any = np.uint16
LOG2_E = np.float32(1.4426950408889634)
SHIFT = np.float32(3 << 22)
"""in a float32 of this size the last bit is 1: what is added to it is rounded to a whole number"""
BITS_OF_SHIFT = np.int32(0x4B400000)


@helper
def read(x):
    """A number of an array, as float32."""
    if isinstance(x, HALF):
        return np.uint32(np.uint32(x) << np.uint32(16)).view(np.float32)
    return x


@helper
def kept(x, place):
    """A float32 as an array has it that has `place` now; to bfloat16 it is rounded as torch does, to nearest even."""
    if isinstance(place, HALF):
        bits = np.float32(x).view(np.uint32)
        return np.uint16((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))
    return np.float32(x)


@helper
def sigmoid(x):
    """1 / (1 + 2^y) for y = -x log2(e), to 2e-7. 2^y is made of the bits of y's whole part and a series of the rest."""
    y = min(max(x, np.float32(-80)), np.float32(80)) * -LOG2_E
    whole = np.int32(np.float32(y + SHIFT).view(np.int32) - BITS_OF_SHIFT)
    rest = y - np.float32(whole)
    power = np.float32(1.5403530e-4)
    power = power * rest + np.float32(1.3333558e-3)
    power = power * rest + np.float32(9.6181291e-3)
    power = power * rest + np.float32(5.5504109e-2)
    power = power * rest + np.float32(2.4022651e-1)
    power = power * rest + np.float32(6.9314718e-1)
    power = power * rest + np.float32(1)
    return np.float32(1) / (np.float32(1) + power * np.int32((whole + np.int32(127)) << np.int32(23)).view(np.float32))


@helper
def tanh(x):
    return np.float32(2) * sigmoid(np.float32(2) * x) - np.float32(1)
