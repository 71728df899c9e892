"""PageRank by a dense system of equations, and walks in plain Python integers."""

from __future__ import annotations

import numpy as np

from gpuasm.graph import DirectedGraph

_MASK = 2**64 - 1


def transition_matrix(graph: DirectedGraph, weights: np.ndarray | None, teleport: np.ndarray | None) -> np.ndarray:
    """Return the (n, n) transition probabilities from u, the row, to v, including jumps from vertices without edges."""
    n = graph.n_vertices
    matrix, jump = np.zeros((n, n)), np.full(n, 1 / n) if teleport is None else np.asarray(teleport) / sum(teleport)
    for e, (u, v) in enumerate(zip(*graph.edges(), strict=True)):
        matrix[u, v] += 1.0 if weights is None else weights[e]
    for u in range(n):
        matrix[u] = matrix[u] / matrix[u].sum() if matrix[u].sum() > 0 else jump
    return matrix


def expected_visits(
    graph: DirectedGraph, weights: np.ndarray | None, teleport: np.ndarray | None, reset: float
) -> np.ndarray:
    """Return the (n, n) expected visits of a walk from u, the row, to v, the start included."""
    matrix = transition_matrix(graph, weights, teleport)
    return np.asarray(np.linalg.inv(np.eye(len(matrix)) - (1 - reset) * matrix))


def exact_ranks(
    graph: DirectedGraph,
    weights: np.ndarray | None = None,
    teleport: np.ndarray | None = None,
    reset: float = 0.15,
) -> np.ndarray:
    """Return the PageRank by an inverse matrix."""
    n = graph.n_vertices
    start = np.full(n, 1 / n) if teleport is None else np.asarray(teleport) / sum(teleport)
    return np.asarray(reset * start @ expected_visits(graph, weights, teleport, reset))


def split_mix(key: int, index: int) -> int:
    """Return the output of SplitMix64 at an index of a stream."""
    z = (key + (index + 1) * 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def walk_one_by_one(graph: DirectedGraph, starts: list[int], key: int, *, reset: float) -> tuple[list[int], list[int]]:
    """Return visits and returns of walks without weights, one after another; jumps are uniform."""
    n, rows = graph.n_vertices, [[int(v) for v in row] for _, row in graph]
    visits, returns = [0] * n, [0] * n
    for start in range(n):
        for number in range(starts[start]):
            own, clock, vertex = split_mix(split_mix(key, start), number), 0, start
            visits[start] += 1
            while split_mix(own, clock) >= int(reset * 2**64):
                bits = split_mix(own, clock + 1)
                clock += 2
                row = rows[vertex]
                vertex = row[bits * len(row) >> 64] if row else bits * n >> 64
                visits[vertex] += 1
                returns[start] += vertex == start
    return visits, returns
