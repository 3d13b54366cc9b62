"""Graph traversal: breadth-first search, and what depth-first search is good for.

The stack of a depth-first search is a linked list through the nodes: `below[v]` is the node under v on the
stack (v itself, if none is), `top` the node on top. Times advance by 0.01, so that they stay small numbers.
When a search has looked at all neighbours in vain, the hint `v` is left at the last node, as in the reference.
"""

import numpy as np

from rnar.clrs.problems.graphs import CommunityGraphs, Graphs
from rnar.clrs.recording import step
from rnar.clrs.registry import algorithm
from rnar.clrs.spec import edge, graph, node
from rnar.common.compiling import kernel

WHITE, GREY, BLACK = 0, 1, 2  # not yet seen; on the stack; finished
TICK = 0.01

sparse_graphs = Graphs(p=0.2)

TIMES = dict(color=node.categorical(3), d=node.scalar, f=node.scalar)
"""hints: when each node was discovered and finished"""
STACK = dict(
    s_prev=node.pointer,
    s=node.mask_one,
    u=node.mask_one,
    v=node.mask_one,
    s_last=node.mask_one,
    time=graph.scalar,
)
"""hints: the stack, and where a search is"""
LOW_POINTS = dict(pi_h=node.pointer, **TIMES, low=node.scalar, **STACK)
"""the hints of `search_with_low_points`"""
FINISHING_ORDER = dict(
    topo_h=node.pointer,
    topo_head_h=node.mask_one,
    color=node.categorical(3),
    s_prev=node.pointer,
    u=node.mask_one,
    v=node.mask_one,
    s_last=node.mask_one,
)
"""the hints of `finish_in_order`"""


@algorithm(
    problem=Graphs(rooted=True),
    hints=dict(reach_h=node.mask, pi_h=node.pointer),
    outputs=dict(pi=node.pointer),
)
def bfs(trace, A, s):
    # All nodes of a round come at once; where several reach a node, the one with the smallest number is its
    # parent, and not the one that was found first: kept as in the reference (google-deepmind/clrs #118).
    n = len(A)
    reached, pi = np.zeros(n), np.arange(n)
    reached[s] = 1
    while True:
        before = reached.copy()
        step(trace, before, pi)
        for u in range(n):
            for v in range(n):
                if A[u, v] > 0 and before[u] == 1:
                    if pi[v] == v and v != s:
                        pi[v] = u
                    reached[v] = 1
        if np.all(reached == before):
            return pi


@kernel
def first_white(A, u, color):
    """The first neighbour of u that was not yet seen, or -1."""
    for v in range(len(A)):
        if A[u, v] != 0 and color[v] == WHITE:
            return v
    return -1


@algorithm(
    problem=Graphs(directed=True),
    hints=dict(pi_h=node.pointer, **TIMES, **STACK),
    outputs=dict(pi=node.pointer),
)
def dfs(trace, A):
    n = len(A)
    color, pi, below = np.zeros(n), np.arange(n), np.arange(n)
    d, f, time = np.zeros(n), np.zeros(n), 0.0
    for s in range(n):
        if color[s] != WHITE:
            continue
        u = v = top = s
        step(trace, pi, color, d, f, below, s, u, v, top, time)
        while True:
            if d[u] == 0:
                time += TICK
                d[u], color[u] = time, GREY
                step(trace, pi, color, d, f, below, s, u, v, top, time)
            white = first_white(A, u, color)
            v = white if white >= 0 else n - 1
            if white >= 0:
                pi[v], color[v] = u, GREY
                below[v], top = top, v
                step(trace, pi, color, d, f, below, s, u, v, top, time)
            if top == u:  # nothing new was found from u
                time += TICK
                f[u], color[u] = time, BLACK
                step(trace, pi, color, d, f, below, s, u, v, top, time)
                if below[u] == u:
                    break
                top, below[u] = below[u], u
            u = top
    return pi


@kernel
def finish_in_order(trace, A, s, color, topo, head, below, others):
    """Search from s; each node that is finished becomes the head of the list `topo`. Returns head, and u and v."""
    u = v = top = s
    step(trace, topo, head, color, below, u, v, top, others)
    while True:
        if color[u] == WHITE:
            color[u] = GREY
            step(trace, topo, head, color, below, u, v, top, others)
        white = first_white(A, u, color)
        v = white if white >= 0 else len(A) - 1
        if white >= 0:
            color[v] = GREY
            below[v], top = top, v
            step(trace, topo, head, color, below, u, v, top, others)
        if top == u:
            color[u] = BLACK
            if color[head] == BLACK:  # u itself, if it is node 0 and the first to be finished
                topo[u] = head
            head = u
            step(trace, topo, head, color, below, u, v, top, others)
            if below[u] == u:
                return head, u, v
            top, below[u] = below[u], u
        u = top


@algorithm(
    problem=Graphs(directed=True, acyclic=True),
    hints=dict(**FINISHING_ORDER, s=node.mask_one),
    outputs=dict(topo=node.pointer, topo_head=node.mask_one),
)
def topological_sort(trace, A):
    n = len(A)
    color, topo, below, head = np.zeros(n), np.arange(n), np.arange(n), 0
    for s in range(n):
        if color[s] == WHITE:
            head, _, _ = finish_in_order(trace, A, s, color, topo, head, below, s)
    return topo, head


@algorithm(
    problem=CommunityGraphs(),
    hints=dict(scc_id_h=node.pointer, A_t=edge.mask, **TIMES, **STACK, phase=graph.mask),
    outputs=dict(scc_id=node.pointer),
)
def strongly_connected_components(trace, A):
    # Kosaraju's algorithm: search the graph, then its transpose from the nodes that were finished last.
    n = len(A)
    scc_id, d, f, time = np.arange(n), np.zeros(n), np.zeros(n), 0.0
    transposed = A.T.copy()
    A_t = 1.0 * ((transposed + np.eye(n)) != 0)
    for phase in range(2):
        color, below = np.zeros(n), np.arange(n)
        searched = A if phase == 0 else transposed
        for s in np.arange(n) if phase == 0 else np.argsort(-f, kind="mergesort"):
            if color[s] != WHITE:
                continue
            u = v = top = s
            step(trace, scc_id, A_t, color, d, f, below, s, u, v, top, time, phase)
            while True:
                if phase == 1:
                    scc_id[u] = s
                if color[u] == WHITE or d[u] == 0:  # in phase 1 that is s alone: the others have their old d
                    time += TICK
                    d[u], color[u] = time, GREY
                    step(trace, scc_id, A_t, color, d, f, below, s, u, v, top, time, phase)
                white = first_white(searched, u, color)
                v = white if white >= 0 else n - 1
                if white >= 0:
                    color[v] = GREY
                    below[v], top = top, v
                    step(trace, scc_id, A_t, color, d, f, below, s, u, v, top, time, phase)
                if top == u:
                    time += TICK
                    f[u], color[u] = time, BLACK
                    step(trace, scc_id, A_t, color, d, f, below, s, u, v, top, time, phase)
                    if below[u] == u:
                        break
                    top, below[u] = below[u], u
                u = top
    return scc_id


@kernel
def mark_cut_point(is_cut, u, pi, d, low, children):
    """A root is one if it has two children, any other node if from some child nothing before it can be reached."""
    if pi[u] == u:
        if children[u] > TICK:
            is_cut[u] = 1
    else:
        for v in range(len(pi)):
            if pi[v] == u and low[v] >= d[u]:
                is_cut[u] = 1


@kernel
def mark_bridges(is_bridge, u, pi, d, low):
    """The edge to a child is one if from there not even u can be reached in another way."""
    for v in range(len(pi)):
        if pi[v] == u and low[v] > d[u]:
            is_bridge[u, v] = is_bridge[v, u] = 1


@kernel
def mark(found, u, pi, d, low, children):
    """Which of the two, nodes or pairs tell: a kernel that is given a kernel as an argument could not be cached."""
    if found.ndim == 1:
        mark_cut_point(found, u, pi, d, low, children)
    else:
        mark_bridges(found, u, pi, d, low)


@kernel
def search_with_low_points(trace, A, found, children, others):
    """Search an undirected graph, and mark in `found` what is seen when a node is finished.

    low[u] is the earliest d that is in reach of u's subtree. Children are counted in hundredths, like time.
    """
    n = len(A)
    color, pi, below = np.zeros(n), np.arange(n), np.arange(n)
    d, f, low, time = np.zeros(n), np.zeros(n), np.zeros(n), 0.0
    for s in range(n):
        if color[s] != WHITE:
            continue
        u = v = top = s
        step(trace, found, pi, color, d, f, low, below, s, u, v, top, time, others)
        while True:
            if d[u] == 0:
                time += TICK
                d[u], low[u], color[u] = time, time, GREY
                step(trace, found, pi, color, d, f, low, below, s, u, v, top, time, others)
            for v in range(n):
                if A[u, v] != 0 and color[v] == WHITE:
                    pi[v], color[v] = u, GREY
                    below[v], top = top, v
                    children[u] += TICK
                    step(trace, found, pi, color, d, f, low, below, s, u, v, top, time, others)
                    break
                elif A[u, v] != 0 and v != pi[u]:
                    low[u] = min(low[u], d[v])
                    step(trace, found, pi, color, d, f, low, below, s, u, v, top, time, others)
            if top == u:
                time += TICK
                f[u], color[u] = time, BLACK
                for v in range(n):
                    if pi[v] == u:
                        low[u] = min(low[u], low[v])
                mark(found, u, pi, d, low, children)
                step(trace, found, pi, color, d, f, low, below, s, u, v, top, time, others)
                if below[u] == u:
                    break
                top, below[u] = below[u], u
            u = top
    return found


@algorithm(
    problem=sparse_graphs,
    hints=dict(is_cut_h=node.mask, **LOW_POINTS, child_cnt=node.scalar),
    outputs=dict(is_cut=node.mask),
)
def articulation_points(trace, A):
    children = np.zeros(len(A))
    return search_with_low_points(trace, A, np.zeros(len(A)), children, children)


@algorithm(
    problem=sparse_graphs,
    hints=dict(is_bridge_h=edge.mask, **LOW_POINTS),
    outputs=dict(is_bridge=edge.mask),
)
def bridges(trace, A):
    n = len(A)
    is_bridge = 1.0 * ((A + np.eye(n)) != 0) - 1  # 0 for the pairs that are joined, -1 (not judged) for all others
    return search_with_low_points(trace, A, is_bridge, np.zeros(n), ())
