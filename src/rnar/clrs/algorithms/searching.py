"""Searching and selection."""

import numpy as np

from rnar.clrs.algorithms.sorting import numbers, swap
from rnar.clrs.problems.arrays import SortedAndTarget
from rnar.clrs.recording import chain, step
from rnar.clrs.registry import algorithm
from rnar.clrs.spec import graph, node


@algorithm(
    problem=numbers,
    hints=dict(min_h=node.mask_one, i=node.mask_one),
    outputs=dict(min=node.mask_one),
    order_is_fixed=True,
    multiplier=64,
)
def minimum(trace, key):
    smallest = 0
    step(trace, smallest, 0)
    for i in range(1, len(key)):
        if key[smallest] > key[i]:
            smallest = i
        step(trace, smallest, i)
    return smallest


@algorithm(
    problem=SortedAndTarget(),
    hints=dict(low=node.mask_one, high=node.mask_one, mid=node.mask_one),
    outputs={"return": node.mask_one},
    order_is_fixed=True,
    multiplier=64,
)
def binary_search(trace, key, target):
    low, high = 0, len(key) - 1  # the answer is always a node: the last, if every key is too small
    step(trace, low, high, (low + high) // 2)
    while low < high:
        mid = (low + high) // 2
        if target <= key[mid]:
            high = mid
        else:
            low = mid + 1
        step(trace, low, high, (low + high) // 2)
    return high


@algorithm(
    problem=numbers,
    hints=dict(
        pred_h=node.pointer,
        p=node.mask_one,
        r=node.mask_one,
        i=node.mask_one,
        j=node.mask_one,
        i_rank=graph.scalar,
        target=graph.scalar,
        pivot=node.mask_one,
    ),
    outputs=dict(median=node.mask_one),
    multiplier=64,
)
def quickselect(trace, key):
    A, order, n = key.copy(), np.arange(len(key)), len(key)
    p, r, target = 0, n - 1, n // 2  # the upper median is looked for: rank `target` within A[p..r]
    while True:
        x, i = A[r], p - 1  # partition A[p..r] around its last key
        for j in range(p, r):
            if A[j] <= x:
                i += 1
                swap(A, order, i, j)
            step(trace, chain(order), order[p], order[r], order[i + 1], order[j], (i + 1) / n, target / n, order[r])
        q = i + 1
        swap(A, order, q, r)
        # i_rank counts from p here and from 0 above, as in the reference
        step(trace, chain(order), order[p], order[r], order[q], order[r], (q - p) / n, target / n, order[q])
        if target == q - p:
            return order[q]
        if target < q - p:
            r = q - 1
        else:
            p, target = q + 1, target - (q - p) - 1
