"""Where nodes are drawn."""

from __future__ import annotations

import numpy as np
import pytest

import rnar.clrs
from rnar.inference.page.layout import is_dense, on_circle, places


@pytest.mark.parametrize(
    "task", ["bfs", "mst_kruskal", "bridges", "dag_shortest_paths", "strongly_connected_components"]
)
@pytest.mark.parametrize("n", [4, 5, 16, 64])
def test_nodes_have_places_of_their_own_within_the_picture(task, n):
    A = rnar.clrs.sample(task, n, 1, seed=n).inputs["A"][0]
    at = places((A != 0) | (A.T != 0))
    assert at.shape == (n, 2) and np.isfinite(at).all() and at.min() >= -1e-9 and at.max() <= 1 + 1e-9
    apart = np.linalg.norm(at[:, None] - at[None], axis=2)[~np.eye(n, dtype=bool)]
    assert apart.min() > 0.2 / np.sqrt(n) / 2


def test_a_path_is_drawn_as_a_path():
    A = np.diag(np.ones(9), 1)
    joined = (A + A.T) != 0
    at = places(joined)
    assert not is_dense(joined)
    distance = np.linalg.norm(at[:, None] - at[None], axis=2)
    assert distance[0, 9] > distance[0, 5]
    for i in range(8):
        assert distance[i, i + 1] < distance[i, i + 2]  # who has an edge to it is nearer than the next one


def test_the_same_graph_has_the_same_places_and_few_or_no_nodes_do_no_harm():
    joined = rnar.clrs.sample("bridges", 20, 1, seed=1).inputs["A"][0] != 0
    np.testing.assert_array_equal(places(joined), places(joined))
    for n in (1, 2, 3):
        assert places(np.zeros((n, n), bool)).shape == on_circle(n).shape == (n, 2)
    assert np.isfinite(places(np.zeros((9, 9), bool))).all()
