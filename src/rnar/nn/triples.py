"""Pointers of pairs as features of three nodes: (i, j) -> k is a number of (i, j, k), and that is how it is kept.

The benchmark's encoder averages P[i, j, k] over i and over j, after which nobody can tell who points at whom, and its
decoder sees of k no more than the node. Here P itself is part of the messages of three nodes, and pointers are read off
triples:

    t_bc  = max_a (... + sum_s P[s(a, b, c)] u_s)                     s: the six orders of three nodes
    l_ijk = w . relu(A1 e_ij + A2 e_ik + A3 e_kj + A4 e_ji + A5 e_ki + A6 e_jk + N1 h_i + N2 h_j + N3 h_k
                     + sum_s P[s(i, j, k)] v_s)

So a pointer can be kept, copied from another pair through a node that is marked, and chosen by what two pairs say: what
Floyd-Warshall, Matrix Chain Order and Optimal BST do. Without the relu "if" could not be said: what depends on (i, j)
alone is the same for all k. Neither has anything of H numbers for three nodes.
"""

from typing import Literal

import torch
from torch import nn

from rnar.clrs.spec import Feature
from rnar.nn.linear import truncated_normal_

Pointers = Literal["means", "triplets"]
"""how pointers of pairs are encoded and decoded: as the benchmark does, or as triples besides"""
ORDERS = 6  # of three nodes


class Codes(nn.Module):
    """u_s or v_s: F numbers for each of K pointers and each order of three nodes."""

    def __init__(self, pointers: int, features: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(pointers, ORDERS, features))
        truncated_normal_(self.weight, ORDERS**-0.5)


def points_from_pairs(feature: Feature) -> bool:
    return feature.place == "edge" and feature.kind == "pointer"
