"""Refusals: what no dense subgraph can be asked of."""

from __future__ import annotations

from gpuasm.arrays import array_namespace
from gpuasm.errors import DataError, UsageError
from gpuasm.graph.undirected_graph import UndirectedGraph


def check_graph(graph: UndirectedGraph, k: int) -> None:
    """Raise an error if there are no edges or no k vertices, or a weight is negative."""
    if k < 2:
        raise UsageError("a k of 2 or more", str(k), "ask for two vertices or more")
    if graph.n_vertices == 0:
        raise DataError("a graph with vertices", "none", "check that the right file was read")
    if k > graph.n_vertices:
        raise DataError(f"at least k = {k} vertices", str(graph.n_vertices), "ask for a smaller k")
    if graph.n_edges == 0:
        raise DataError("a graph with edges", "none, self-loops aside", "check that the right file was read")
    check_weights(graph)


def check_weights(graph: UndirectedGraph) -> None:
    """Raise DataError if a weight is negative or not finite."""
    if graph.weights is None:
        return
    xp = array_namespace(graph.weights)
    if not bool(xp.isfinite(graph.weights).all()) or float(graph.weights.min()) < 0:
        raise DataError(
            "finite weights of 0 or more", "others", "leave edges of no or negative weight out, or shift the weights"
        )
