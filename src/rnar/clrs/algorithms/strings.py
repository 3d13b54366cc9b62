"""String matching. The nodes are the letters of the haystack T, then those of the needle P.

Where there is no match, the answer is the first letter of the needle.
"""

import numpy as np

from rnar.clrs.problems.strings import HaystackAndNeedle
from rnar.clrs.recording import step
from rnar.clrs.registry import algorithm
from rnar.clrs.spec import graph, node

haystack_and_needle = HaystackAndNeedle()


@algorithm(
    problem=haystack_and_needle,
    hints=dict(s=node.mask_one, i=node.mask_one, j=node.mask_one),
    outputs=dict(match=node.mask_one),
    order_is_fixed=True,
    multiplier=64,
)
def naive_string_matcher(trace, key, first):
    T, P = key[:first], key[first:]
    for s in range(len(T) - len(P) + 1):
        i, j = s, 0
        step(trace, s, i, len(T) + j)
        while T[i] == P[j]:
            if j == len(P) - 1:
                return s
            i += 1
            j += 1
            step(trace, s, i, len(T) + j)
    return len(T)


@algorithm(
    problem=haystack_and_needle,
    hints=dict(
        pi=node.pointer,
        is_reset=node.mask,
        k=node.mask_one,
        k_reset=graph.mask,
        q=node.mask_one,
        q_reset=graph.mask,
        s=node.mask_one,
        i=node.mask_one,
        phase=graph.mask,
    ),
    outputs=dict(match=node.mask_one),
    order_is_fixed=True,
    multiplier=64,
)
def kmp_matcher(trace, key, first):
    # Here j, k and q are nodes of the needle, the first of which is n. The book's prefix function is -1 where no
    # prefix fits; a pointer cannot be, and so the reference has masks instead: k_reset and q_reset say that no
    # letter of the needle is matched, is_reset[j] that pi[j] would lead there.
    PREFIXES, MATCH = 0, 1
    n, m = first, len(key) - first
    pi, is_reset = np.arange(n + m), np.zeros(n + m, np.int64)
    is_reset[n] = 1
    k, k_reset, q, q_reset, s = n, 1, n, 1, 0
    step(trace, pi, is_reset, k, k_reset, n + 1 if m > 1 else n, 1, 0, 0, PREFIXES)
    for j in range(n + 1, n + m):
        while k_reset == 0 and key[k + 1] != key[j]:
            k_reset = is_reset[k]
            k = n if k_reset == 1 else pi[k]
            step(trace, pi, is_reset, k, k_reset, j, 1, 0, 0, PREFIXES)
        following = n if k_reset == 1 else k + 1
        if key[following] == key[j]:
            k, k_reset = following, 0
        else:
            k, k_reset, is_reset[j] = n, 1, 1
        pi[j] = k
        step(trace, pi, is_reset, k, k_reset, j, 1, 0, 0, PREFIXES)
    for i in range(n):
        if i >= m:
            s += 1
        step(trace, pi, is_reset, k, k_reset, q, q_reset, s, i, MATCH)
        while q_reset == 0 and key[q + 1] != key[i]:
            q_reset = is_reset[q]
            q = n if q_reset == 1 else pi[q]
            step(trace, pi, is_reset, k, k_reset, q, q_reset, s, i, MATCH)
        following = n if q_reset == 1 else q + 1
        if key[following] == key[i]:
            if following == n + m - 1:
                return s
            q, q_reset = following, 0
        else:
            q, q_reset = n, 1
    return n
