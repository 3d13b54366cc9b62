"""Where the nodes of a graph are drawn."""

import numpy as np

SPARSE = 4.0  # edges a node has on average, up to which a graph is untangled; others are drawn on a circle
ROUNDS, PUSHES = 120, 40


def places(joined: np.ndarray) -> np.ndarray:
    """Positions in the unit square [n, 2], the same each time. `joined` [n, n], symmetric: who has an edge to whom."""
    n = len(joined)
    if is_dense(joined):
        return on_circle(n)
    return spread(apart(untangled(joined & ~np.eye(n, dtype=bool), on_circle(n)), 0.6 / np.sqrt(n)))


def is_dense(joined: np.ndarray) -> bool:
    """True if there are so many edges that a circle shows them best."""
    n = len(joined)
    return n < 4 or bool((joined & ~np.eye(n, dtype=bool)).sum() / n > SPARSE)


def on_circle(n: int) -> np.ndarray:
    """Clockwise from the top."""
    angle = 2 * np.pi * np.arange(n) / n
    return 0.5 + 0.5 * np.stack([np.sin(angle), -np.cos(angle)], axis=1)


def untangled(joined: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Distances on the page near those in the graph: stress majorization (Gansner, Koren and North, 2004)."""
    n = len(joined)
    wanted = hops(joined)
    weights = np.where(np.eye(n, dtype=bool), 0.0, 1 / np.maximum(wanted, 1) ** 2)
    solve = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    x = start.copy()
    for _ in range(ROUNDS):
        distance = np.linalg.norm(x[:, None] - x[None], axis=2)
        pull = weights * wanted / np.maximum(distance, 1e-9)
        x = solve @ ((np.diag(pull.sum(axis=1)) - pull) @ x)
    return x


def hops(joined: np.ndarray) -> np.ndarray:
    """The number of edges between two nodes; between parts that no edge joins, a little more than anywhere else."""
    n = len(joined)
    far = np.where(joined, 1.0, np.inf)
    np.fill_diagonal(far, 0)
    for k in range(n):
        far = np.minimum(far, far[:, k : k + 1] + far[k])
    finite = far[np.isfinite(far)]
    return np.where(np.isfinite(far), far, min(finite.max() + 1, 4.0))


def apart(x: np.ndarray, least: float) -> np.ndarray:
    """The same, with no two nodes nearer than that (in units of the whole picture)."""
    x = spread(x)
    for _ in range(PUSHES):
        step = x[:, None] - x[None]
        distance = np.linalg.norm(step, axis=2) + np.eye(len(x))
        push = np.maximum(0, least - distance) * ~np.eye(len(x), dtype=bool) / np.maximum(distance, 1e-6)
        x = x + 0.5 * (step * push[..., None]).sum(axis=1)
    return x


def spread(x: np.ndarray) -> np.ndarray:
    """Over the whole unit square, each axis by itself."""
    low, high = x.min(axis=0), x.max(axis=0)
    return (x - low) / np.where(high > low, high - low, 1.0) + np.where(high > low, 0.0, 0.5)
