"""An algorithm of one's own: selection sort, as in a textbook, plus `step`.

    python examples/algorithm.py

Prints how three numbers are sorted, step by step, and the shapes of a batch that a network could learn from.
"""

import numpy as np

import rnar
from rnar.clrs import chain, node, step
from rnar.clrs.mersenne import seeded
from rnar.clrs.problems.arrays import Numbers


@rnar.algorithm(
    problem=Numbers(),
    hints=dict(pred_h=node.pointer, i=node.mask_one),
    outputs=dict(pred=node.permutation),
)
def selection_sort(trace, key):
    """It is compiled, with all that it calls. `step` records the hints; what is returned is the output."""
    A, order = key.copy(), np.arange(len(key))  # order[k] is the node that now sits at place k
    step(trace, chain(order), 0)
    for i in range(len(A) - 1):
        k = i + np.argmin(A[i:])
        A[i], A[k] = A[k], A[i]
        order[i], order[k] = order[k], order[i]
        step(trace, chain(order), order[i])
    return chain(order)


if __name__ == "__main__":
    one = selection_sort.trace([3.0, 1.0, 2.0])  # each node points to the one before it, the first to itself
    print("\n".join(f"step {t}: {hint}" for t, hint in enumerate(one.hints["pred_h"])), one.outputs["pred"], sep="\n")
    batch = selection_sort.sample(seeded(0), n=16, batch=32)
    print(batch.size, "samples:", {name: array.shape for name, array in (batch.inputs | batch.outputs).items()})
