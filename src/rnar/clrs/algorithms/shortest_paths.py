"""Shortest paths."""

import numpy as np

from rnar.clrs.algorithms.graph_traversal import FINISHING_ORDER, finish_in_order
from rnar.clrs.problems.graphs import Graphs
from rnar.clrs.recording import step
from rnar.clrs.registry import algorithm
from rnar.clrs.spec import edge, graph, node
from rnar.common.compiling import kernel

weighted_and_rooted = Graphs(weighted=True, rooted=True)


@kernel
def extract_min(key, in_queue):
    """Take the node with the smallest key from the queue."""
    u = -1
    for v in range(len(key)):
        if in_queue[v] == 1 and (u < 0 or key[v] < key[u]):
            u = v
    in_queue[u] = 0
    return u


@algorithm(
    problem=weighted_and_rooted,
    hints=dict(pi_h=node.pointer, d=node.scalar, msk=node.mask),
    outputs=dict(pi=node.pointer),
)
def bellman_ford(trace, A, s):
    # All edges are relaxed at once, from the distances of the last round. A node that was not yet reached has
    # distance 0 and is told from the others by `msk`.
    n = len(A)
    d, pi, reached = np.zeros(n), np.arange(n), np.zeros(n)
    reached[s] = 1
    while True:
        d_before, reached_before = d.copy(), reached.copy()
        step(trace, pi, d, reached)
        for u in range(n):
            for v in range(n):
                if reached_before[u] == 1 and A[u, v] != 0:
                    if reached[v] == 0 or d_before[u] + A[u, v] < d[v]:
                        d[v], pi[v] = d_before[u] + A[u, v], u
                    reached[v] = 1
        if np.all(d == d_before):
            return pi


@algorithm(
    problem=weighted_and_rooted,
    hints=dict(pi_h=node.pointer, d=node.scalar, mark=node.mask, in_queue=node.mask, u=node.mask_one),
    outputs=dict(pi=node.pointer),
)
def dijkstra(trace, A, s):
    n = len(A)
    d, mark, in_queue, pi = np.zeros(n), np.zeros(n), np.zeros(n), np.arange(n)
    in_queue[s] = 1
    step(trace, pi, d, mark, in_queue, s)
    while in_queue.any():
        u = extract_min(d, in_queue)
        mark[u] = 1
        for v in range(n):
            if A[u, v] != 0 and mark[v] == 0 and (in_queue[v] == 0 or d[u] + A[u, v] < d[v]):
                pi[v], d[v], in_queue[v] = u, d[u] + A[u, v], 1
        step(trace, pi, d, mark, in_queue, u)
    return pi


@algorithm(
    problem=Graphs(directed=True, acyclic=True, weighted=True, rooted=True),
    hints=dict(**FINISHING_ORDER, pi_h=node.pointer, d=node.scalar, mark=node.mask, phase=graph.mask),
    outputs=dict(pi=node.pointer),
)
def dag_shortest_paths(trace, A, s):
    SORT, RELAX = 0, 1
    n = len(A)
    pi, d, mark = np.arange(n), np.zeros(n), np.zeros(n)
    color, topo, below = np.zeros(n), np.arange(n), np.arange(n)
    head, u, v = finish_in_order(trace, A, s, color, topo, 0, below, (pi, d, mark, SORT))
    mark[head] = 1  # the head is s, which was finished last
    while topo[head] != head:
        mark[head] = 1
        step(trace, topo, head, color, below, u, v, u, (pi, d, mark, RELAX))
        for j in range(n):
            if A[head, j] != 0 and (mark[j] == 0 or d[head] + A[head, j] < d[j]):
                pi[j], d[j], mark[j] = head, d[head] + A[head, j], 1
        head = topo[head]
    step(trace, topo, head, color, below, u, v, u, (pi, d, mark, RELAX))
    return pi


@algorithm(
    problem=Graphs(weighted=True),
    hints=dict(Pi_h=edge.pointer, D=edge.scalar, msk=edge.mask, k=node.mask_one),
    outputs=dict(Pi=edge.pointer),
)
def floyd_warshall(trace, A):
    n = len(A)
    D, Pi, known = A.copy(), np.zeros((n, n)), 1.0 * ((A + np.eye(n)) != 0)
    for i in range(n):
        Pi[i, :] = i
    for k in range(n):
        D_before, known_before = D.copy(), known.copy()
        step(trace, Pi, D, known, k)
        for i in range(n):
            for j in range(n):
                if known_before[i, k] > 0 and known_before[k, j] > 0:
                    through_k = D_before[i, k] + D_before[k, j]
                    if known[i, j] == 0 or through_k < D[i, j]:
                        D[i, j], Pi[i, j] = through_k, Pi[k, j]
                    known[i, j] = 1
    return Pi
