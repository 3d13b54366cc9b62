"""Losses of a module's own, beside those of outputs and hints."""

from torch import Tensor

from rnar.common.checking import shown
from rnar.functional.scope import current


def auxiliary_loss(name: str, loss: Tensor) -> None:
    """Add a loss of the present step, [B], to the network's.

        rnar.auxiliary_loss("calm", 0.01 * state.square().mean(dim=(1, 2)))

    Any module may call it in its `forward`. It counts as a mean over all steps of all samples, and is logged by its
    name. Outside of a batch that is run it does nothing.
    """
    if not (isinstance(name, str) and isinstance(loss, Tensor)):
        raise ValueError(f"auxiliary_loss: name must be text and loss a tensor, not {shown(name)} and {shown(loss)}")
    scope = current()
    if scope is not None:
        scope.losses[name] = scope.losses[name] + loss if name in scope.losses else loss
