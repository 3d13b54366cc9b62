"""Divide and conquer. Kadane's scan is here because its problem is the book's first example of the method."""

from rnar.clrs.problems.arrays import Numbers
from rnar.clrs.recording import step
from rnar.clrs.registry import algorithm
from rnar.clrs.spec import graph, node


@algorithm(
    problem=Numbers(low=-1.0),
    hints=dict(
        best_low=node.mask_one,
        best_high=node.mask_one,
        best_sum=graph.scalar,
        i=node.mask_one,
        j=node.mask_one,
        sum=graph.scalar,
    ),
    outputs=dict(start=node.mask_one, end=node.mask_one),
    order_is_fixed=True,
    multiplier=32,
)
def find_maximum_subarray_kadane(trace, key):
    i, total = 0, key[0]  # the best subarray that ends here
    best_low, best_high, best_sum = 0, 0, key[0]
    step(trace, best_low, best_high, best_sum, i, 0, total)
    for j in range(1, len(key)):
        if total + key[j] >= key[j]:
            total += key[j]
        else:
            i, total = j, key[j]
        if total > best_sum:
            best_low, best_high, best_sum = i, j, total
        step(trace, best_low, best_high, best_sum, i, j, total)
    return best_low, best_high
