"""Products of matrices on the CPU, by whichever library does them fastest.

torch leaves float32 to MKL, which on CPUs of other makers than its own spends a sixth of its time around its kernel.
oneDNN, which torch has as well and takes for bfloat16, does not; but a call of it costs more, so that it has to be a
large product. Its function is one that torch's compiler calls; where a build has it not, MKL does everything.
"""

from typing import Any

import torch
from torch import Tensor

LARGE = 1 << 22
"""multiplications from which on a call of oneDNN pays"""


def _by_onednn() -> Any:
    """(x, W, bias, what follows, ...) -> tensor, if there is such a function and it works."""
    try:
        found = torch.ops.mkldnn._linear_pointwise
        found(torch.zeros(1, 1), torch.zeros(1, 1), None, "none", [], "")
    except (AttributeError, RuntimeError, TypeError):
        return None
    return found


_ONEDNN = _by_onednn() if torch.backends.mkldnn.is_available() else None


def product(x: Tensor, weight: Tensor) -> Tensor:
    """W x of each row: [R, O] of x [R, I], W [O, I], which has no gradient. Both should be contiguous."""
    if _ONEDNN is not None and x.dtype == torch.float32 and x.shape[0] * weight.numel() >= LARGE:
        return _ONEDNN(x, weight, None, "none", [], "")
    return torch.mm(x, weight.T)
