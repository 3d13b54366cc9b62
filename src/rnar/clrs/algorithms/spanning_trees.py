"""Minimum spanning trees."""

import numpy as np

from rnar.clrs.algorithms.shortest_paths import extract_min, weighted_and_rooted
from rnar.clrs.problems.graphs import Graphs
from rnar.clrs.recording import step
from rnar.clrs.registry import algorithm
from rnar.clrs.spec import edge, graph, node
from rnar.common.compiling import kernel


@kernel
def edges_by_weight(A):
    """The edges u < v of an undirected graph as two lists, lightest first."""
    n = len(A)
    us, vs, weights = np.empty(n * n, np.int64), np.empty(n * n, np.int64), np.empty(n * n)
    count = 0
    for u in range(n):
        for v in range(u + 1, n):
            if A[u, v] > 0:
                us[count], vs[count], weights[count] = u, v, A[u, v]
                count += 1
    order = np.argsort(weights[:count], kind="mergesort")
    return us[order], vs[order]


@kernel
def climb(pi, root, passed):
    """One step towards the root of a set; all nodes that were passed are hung below it (path compression)."""
    root = pi[root]
    for i in range(len(pi)):
        if passed[i] == 1:
            pi[i] = root
    passed[root] = 1
    return root


@algorithm(
    problem=Graphs(p=0.2, weighted=True),
    hints=dict(
        in_mst_h=edge.mask,
        pi=node.pointer,
        u=node.mask_one,
        v=node.mask_one,
        root_u=node.mask_one,
        root_v=node.mask_one,
        mask_u=node.mask,
        mask_v=node.mask,
        phase=graph.categorical(3),
    ),
    outputs=dict(in_mst=edge.mask),
)
def mst_kruskal(trace, A):
    NEXT, FIND_U, FIND_V = 0, 1, 2
    n = len(A)
    in_mst, pi = np.zeros((n, n)), np.arange(n)
    step(trace, in_mst, pi, 0, 0, 0, 0, np.zeros(n), np.zeros(n), NEXT)
    for u, v in zip(*edges_by_weight(A)):  # noqa: B905 (compiled code has no strict=)
        root_u, root_v = u, v
        mask_u, mask_v = np.zeros(n), np.zeros(n)
        mask_u[u] = mask_v[v] = 1
        step(trace, in_mst, pi, u, v, root_u, root_v, mask_u, mask_v, FIND_U)
        while pi[root_u] != root_u:
            root_u = climb(pi, root_u, mask_u)
            step(trace, in_mst, pi, u, v, root_u, root_v, mask_u, mask_v, FIND_U)
        while pi[root_v] != root_v:
            root_v = climb(pi, root_v, mask_v)
            step(trace, in_mst, pi, u, v, root_u, root_v, mask_u, mask_v, FIND_V)
        if root_u != root_v:
            in_mst[u, v] = in_mst[v, u] = 1
            pi[min(root_u, root_v)] = max(root_u, root_v)
        step(trace, in_mst, pi, u, v, root_u, root_v, mask_u, mask_v, NEXT)
    return in_mst


@algorithm(
    problem=weighted_and_rooted,
    hints=dict(pi_h=node.pointer, key=node.scalar, mark=node.mask, in_queue=node.mask, u=node.mask_one),
    outputs=dict(pi=node.pointer),
)
def mst_prim(trace, A, s):
    n = len(A)
    key, mark, in_queue, pi = np.zeros(n), np.zeros(n), np.zeros(n), np.arange(n)
    in_queue[s] = 1
    step(trace, pi, key, mark, in_queue, s)
    while in_queue.any():
        u = extract_min(key, in_queue)
        mark[u] = 1
        for v in range(n):
            if A[u, v] != 0 and mark[v] == 0 and (in_queue[v] == 0 or A[u, v] < key[v]):
                pi[v], key[v], in_queue[v] = u, A[u, v], 1
        step(trace, pi, key, mark, in_queue, u)
    return pi
