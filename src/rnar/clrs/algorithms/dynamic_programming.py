"""Dynamic programming. A table is shown as edge features: entry (i, j) belongs to the pair of nodes i and j."""

import numpy as np

from rnar.clrs.problems.arrays import Numbers, SearchKeys
from rnar.clrs.problems.strings import TwoStrings
from rnar.clrs.recording import step
from rnar.clrs.registry import algorithm
from rnar.clrs.spec import edge
from rnar.common.compiling import kernel


@algorithm(
    problem=Numbers("p", positive=True),
    hints=dict(m=edge.scalar, s_h=edge.pointer, msk=edge.mask),
    outputs=dict(s=edge.pointer),
    order_is_fixed=True,
)
def matrix_chain_order(trace, p):
    # Matrix i has p[i - 1] rows and p[i] columns. All chains whose parts were known in the last round are
    # solved in one round, so that long chains are ready after about log n rounds.
    n = len(p)
    m, s, known = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for i in range(1, n):
        known[i, i] = 1
    while True:
        m_before, known_before = m.copy(), known.copy()
        step(trace, m, s, known)
        for i in range(1, n):
            for j in range(i + 1, n):
                has_value = known_before[i, j] == 1
                for k in range(i, j):
                    if known_before[i, k] == 1 and known_before[k + 1, j] == 1:
                        known[i, j] = 1
                        cost = m_before[i, k] + m_before[k + 1, j] + p[i - 1] * p[k] * p[j]
                        if not has_value or cost < m[i, j]:
                            m[i, j], s[i, j], has_value = cost, k, True
        if np.all(m_before == m):
            return s


@kernel
def between_strings(table, outside):
    """A table over the letters of x and y as one over all pairs of nodes, where y comes after x."""
    nx, ny = table.shape
    pairs = np.full((nx + ny, nx + ny), outside)
    pairs[:nx, nx:] = table
    return pairs


@algorithm(
    problem=TwoStrings(),
    hints=dict(b_h=edge.categorical(4), c=edge.scalar),
    outputs=dict(b=edge.categorical(4)),
    order_is_fixed=True,
)
def lcs_length(trace, key, first):
    DIAGONAL, UP, LEFT, NOT_A_PAIR = 0.0, 1.0, 2.0, -1.0
    x, y = key[:first], key[first:]
    c, b = np.zeros((len(x), len(y))), np.zeros((len(x), len(y)))
    for i in range(len(x)):
        c[i, 0] = x[i] == y[0] or (i > 0 and c[i - 1, 0] == 1)
        b[i, 0] = DIAGONAL if x[i] == y[0] else UP
    for j in range(len(y)):
        c[0, j] = x[0] == y[j] or (j > 0 and c[0, j - 1] == 1)
        if x[0] == y[j]:
            b[0, j] = DIAGONAL
        else:  # UP where nothing is common yet: the reference's choice
            b[0, j] = LEFT if j > 0 and c[0, j - 1] == 1 else UP
    while True:  # every entry is computed anew from the last round's, until nothing changes
        before = c.copy()
        step(trace, between_strings(b, NOT_A_PAIR), between_strings(c, 0.0))
        for i in range(1, len(x)):
            for j in range(1, len(y)):
                if x[i] == y[j]:
                    c[i, j], b[i, j] = before[i - 1, j - 1] + 1, DIAGONAL
                elif before[i - 1, j] >= before[i, j - 1]:
                    c[i, j], b[i, j] = before[i - 1, j], UP
                else:
                    c[i, j], b[i, j] = before[i, j - 1], LEFT
        if np.all(before == c):
            return between_strings(b, NOT_A_PAIR)


@algorithm(
    problem=SearchKeys(),
    hints=dict(root_h=edge.pointer, e=edge.scalar, w=edge.scalar, msk=edge.mask),
    outputs=dict(root=edge.pointer),
    order_is_fixed=True,
)
def optimal_bst(trace, p, q):
    n = len(p)
    e, w = np.diag(q), np.diag(q)  # the cost and the weight of the tree over keys i..j-1
    root, known = np.zeros((n + 1, n + 1)), np.eye(n + 1)
    step(trace, root, e, w, known)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            e[i, j] = np.inf
            w[i, j] = w[i, j - 1] + p[j - 1] + q[j]
            for r in range(i, j):
                cost = e[i, r] + e[r + 1, j] + w[i, j]
                if cost < e[i, j]:
                    e[i, j], root[i, j] = cost, r
            known[i, j] = 1
        step(trace, root, e, w, known)
    return root
