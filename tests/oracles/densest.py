"""Dense subgraphs by exhaustive search: all subsets, all directions, plain lists."""

from __future__ import annotations

import itertools

import numpy as np

from gpuasm.graph.building import from_edges
from gpuasm.graph.undirected_graph import UndirectedGraph, undirected_graph


def graph_of(matrix: np.ndarray, *, weighted: bool = False) -> UndirectedGraph:
    """Return the graph of the upper triangle of a matrix."""
    source, target = np.nonzero(np.triu(matrix, 1))
    weights = matrix[source, target].astype(np.float64) if weighted else None
    order = np.argsort(source, kind="stable")
    return undirected_graph(from_edges(source, target, len(matrix)), None if weights is None else weights[order])


def matrix_of(graph: UndirectedGraph) -> np.ndarray:
    matrix = np.zeros((graph.n_vertices, graph.n_vertices))
    rows = np.repeat(np.arange(graph.n_vertices), np.diff(graph.row_offsets))
    matrix[rows, graph.columns] = 1 if graph.weights is None else graph.weights
    return matrix


def weight_within(matrix: np.ndarray, members) -> float:
    return float(sum(matrix[u, v] for u, v in itertools.combinations(sorted(members), 2)))


def heaviest(matrix: np.ndarray, k: int) -> float:
    """Return the greatest weight within k vertices, by trying all."""
    full = np.triu(matrix, 1)
    full = full + full.T
    members = np.array(list(itertools.combinations(range(len(full)), k)))
    return float(full[members[:, :, None], members[:, None, :]].sum(axis=(1, 2)).max()) / 2


def heaviest_block(matrix: np.ndarray, k_rows: int, k_columns: int) -> float:
    """Return the greatest sum of a block of some rows and columns, by trying all rows."""
    return max(
        float(np.sort(matrix[list(rows)].sum(axis=0))[::-1][:k_columns].sum())
        for rows in itertools.combinations(range(len(matrix)), k_rows)
    )


def densest(matrix: np.ndarray) -> float:
    """Return the greatest weight by vertex of any subgraph, by trying all."""
    return max(heaviest(matrix, k) / k for k in range(1, len(matrix) + 1))


def largest_densest(matrix: np.ndarray) -> list[int]:
    """Return the union of all densest subgraphs, by trying all."""
    best, union = densest(matrix), set[int]()
    for k in range(1, len(matrix) + 1):
        for members in itertools.combinations(range(len(matrix)), k):
            if weight_within(matrix, members) / k > best * (1 - 1e-12):
                union |= set(members)
    return sorted(union)


def longest_sum(points: np.ndarray, k: int) -> float:
    """Return the greatest squared length of a sum of k points, by trying all."""
    sums = [points[list(members)].sum(axis=0) for members in itertools.combinations(range(len(points)), k)]
    return max(float(s @ s) for s in sums)


def peeled_density(matrix: np.ndarray) -> list[float]:
    """Return the least and greatest density that greedy peeling can end with, over all choices among ties."""
    full = np.triu(matrix, 1)
    full = full + full.T

    def ends(left: frozenset[int], best: float) -> set[float]:
        if not left:
            return {best}
        members = sorted(left)
        degree = full[np.ix_(members, members)].sum(axis=1)
        best = max(best, float(degree.sum()) / 2 / len(members))
        lowest = [v for v, d in zip(members, degree, strict=True) if d == degree.min()]
        return set().union(*(ends(left - {v}, best) for v in lowest))

    found = ends(frozenset(range(len(full))), 0.0)
    return [min(found), max(found)]
