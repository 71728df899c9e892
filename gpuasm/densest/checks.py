"""Refusals: what no dense subgraph can be asked of."""

from __future__ import annotations

from gpuasm.arrays import Array, array_namespace
from gpuasm.errors import DataError, UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.undirected_graph import UndirectedGraph


def check_graph(graph: UndirectedGraph, k: int) -> None:
    """Raise an error if there are no edges or no k vertices, or a weight is negative."""
    if k < 2:
        raise UsageError("a k of 2 or more", str(k), "ask for two vertices or more")
    _check_counts(graph.n_vertices, graph.n_edges, k)
    check_weights(graph.weights)


def check_block(graph: DirectedGraph, sizes: tuple[int, int], weights: Array | None) -> None:
    """Raise an error if there are no edges or too few vertices for the rows or columns, or a weight is negative."""
    if min(sizes) < 1:
        raise UsageError("at least one row and one column", f"{sizes[0]} and {sizes[1]}", "ask for more")
    _check_counts(graph.n_vertices, graph.n_edges, max(sizes))
    check_weights(weights)


def check_weights(weights: Array | None) -> None:
    """Raise DataError if a weight is negative or not finite."""
    if weights is None or weights.size == 0:
        return
    xp = array_namespace(weights)
    if not bool(xp.isfinite(weights).all()) or float(weights.min()) < 0:
        raise DataError(
            "finite weights of 0 or more", "others", "leave edges of no or negative weight out, or shift the weights"
        )


def _check_counts(n: int, m: int, k: int) -> None:
    if n == 0:
        raise DataError("a graph with vertices", "none", "check that the right file was read")
    if k > n:
        raise DataError(f"at least k = {k} vertices", str(n), "ask for a smaller k")
    if m == 0:
        raise DataError("a graph with edges", "none, self-loops aside", "check that the right file was read")
