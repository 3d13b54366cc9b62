"""Sorting. The arrays are shown to a network as chains: each node points at the one that now stands before it."""

import numpy as np

from rnar.clrs.problems.arrays import Numbers
from rnar.clrs.recording import chain, step
from rnar.clrs.registry import algorithm
from rnar.clrs.spec import graph, node
from rnar.common.compiling import kernel

numbers = Numbers()


@kernel
def swap(A, order, i, j):
    """Exchange two places of the array, and the nodes that sit there."""
    A[i], A[j] = A[j], A[i]
    order[i], order[j] = order[j], order[i]


@algorithm(
    problem=numbers,
    hints=dict(pred_h=node.pointer, i=node.mask_one, j=node.mask_one),
    outputs=dict(pred=node.permutation),
)
def insertion_sort(trace, key):
    A, order = key.copy(), np.arange(len(key))  # order[k] is the node that now sits at place k
    step(trace, chain(order), 0, 0)
    for j in range(1, len(A)):
        x, i = A[j], j - 1
        while i >= 0 and A[i] > x:  # insert A[j] into the sorted A[0..j-1]
            A[i + 1], order[i + 1] = A[i], order[i]
            i -= 1
        displaced = order[i + 1]
        A[i + 1], order[i + 1] = x, j
        step(trace, chain(order), displaced, j)
    return chain(order)


@algorithm(
    problem=numbers,
    hints=dict(pred_h=node.pointer, i=node.mask_one, j=node.mask_one),
    outputs=dict(pred=node.permutation),
)
def bubble_sort(trace, key):
    A, order = key.copy(), np.arange(len(key))
    step(trace, chain(order), 0, 0)
    for i in range(len(A) - 1):
        for j in range(len(A) - 1, i, -1):
            if A[j] < A[j - 1]:
                swap(A, order, j, j - 1)
            step(trace, chain(order), order[i], order[j])
    return chain(order)


@kernel
def heap(order, size):
    """The first `size` places as a binary heap: each node points at its parent, all others at themselves."""
    parent = np.arange(len(order))
    for k in range(1, size):
        parent[order[k]] = order[(k - 1) // 2]
    return parent


@kernel
def sift_down(trace, A, order, i, size, start, phase):
    """MAX-HEAPIFY: let the key at place i sink to where it belongs."""
    while True:
        left, right, largest = 2 * i + 1, 2 * i + 2, i
        if left < size and A[left] > A[largest]:
            largest = left
        if right < size and A[right] > A[largest]:
            largest = right
        if largest != i:
            swap(A, order, i, largest)
        step(trace, chain(order), heap(order, size), order[start], order[i], order[largest], order[size - 1], phase)
        if largest == i:
            return
        i = largest


@algorithm(
    problem=numbers,
    hints=dict(
        pred_h=node.pointer,
        parent=node.pointer,
        i=node.mask_one,
        j=node.mask_one,
        largest=node.mask_one,
        heap_size=node.mask_one,
        phase=graph.categorical(3),
    ),
    outputs=dict(pred=node.permutation),
)
def heapsort(trace, key):
    BUILD, TAKE, REPAIR = 0, 1, 2
    A, order, n = key.copy(), np.arange(len(key)), len(key)
    step(trace, chain(order), heap(order, n), n - 1, n - 1, n - 1, n - 1, BUILD)
    for i in range(n - 1, -1, -1):
        sift_down(trace, A, order, i, n, i, BUILD)
    for i in range(n - 1, 0, -1):  # the largest key of A[0..i] goes to place i
        swap(A, order, 0, i)
        # `largest` means nothing here; the reference sets it to node 0
        step(trace, chain(order), heap(order, i), order[0], order[i], 0, order[i - 1], TAKE)
        sift_down(trace, A, order, 0, i, i, REPAIR)
    return chain(order)


@algorithm(
    problem=numbers,
    hints=dict(pred_h=node.pointer, p=node.mask_one, r=node.mask_one, i=node.mask_one, j=node.mask_one),
    outputs=dict(pred=node.permutation),
)
def quicksort(trace, key):
    A, order = key.copy(), np.arange(len(key))
    ranges = [(0, len(A) - 1)]  # still to be sorted; a stack, for compiled code must not recurse
    while len(ranges) > 0:
        p, r = ranges.pop()
        if p >= r:
            continue
        x, i = A[r], p - 1  # partition A[p..r] around its last key
        for j in range(p, r):
            if A[j] <= x:
                i += 1
                swap(A, order, i, j)
            step(trace, chain(order), order[p], order[r], order[i + 1], order[j])
        q = i + 1
        swap(A, order, q, r)
        step(trace, chain(order), order[p], order[r], order[q], order[r])
        ranges.append((q + 1, r))
        ranges.append((p, q - 1))  # the left part is sorted first
    return chain(order)
