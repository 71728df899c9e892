"""Changes of graphs that take the weights of edges along."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gpuasm.graph.building import undirected
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.names import Label
from gpuasm.graph.random_graphs import random_permutation, shuffled
from gpuasm.graph.rows import group_by

Weighted = tuple[DirectedGraph, np.ndarray | None]
"""A graph on the host, and the weights of its edges, (m,) float64, or None."""


def weights_of_part(graph: DirectedGraph, weights: np.ndarray | None, vertices: Iterable[Label]) -> Weighted:
    """Return the subgraph of some vertices; see `gpuasm.graph.directed_graph.DirectedGraph.induced`."""
    chosen = np.array([graph.number_of(vertex) for vertex in vertices], np.int64)
    part = graph.induced(chosen)
    if weights is None:
        return part, None
    new_number = np.full(graph.n_vertices, -1, np.int64)
    new_number[chosen] = np.arange(chosen.size)
    source, target = (new_number[ends] for ends in graph.edges())
    kept = (source >= 0) & (target >= 0)
    return part, group_by(source[kept], weights[kept], chosen.size)[1]


def weights_of_both_ways(graph: DirectedGraph, weights: np.ndarray | None) -> Weighted:
    """Return the graph with a reverse edge for each edge, of the same weight; see `gpuasm.graph.undirected`."""
    if weights is None:
        return undirected(graph), None
    ends = np.concatenate(graph.edges())
    return undirected(graph), group_by(ends, np.concatenate([weights, weights]), graph.n_vertices)[1]


def weights_of_shuffled(graph: DirectedGraph, weights: np.ndarray | None, *, seed: int) -> Weighted:
    """Return the graph with its vertices renumbered at random; see `gpuasm.graph.random_graphs.shuffled`."""
    result = shuffled(graph, seed=seed)
    if weights is None:
        return result, None
    old = random_permutation(graph.n_vertices, seed=seed)
    rows = [weights[graph.row_offsets[v] : graph.row_offsets[v + 1]] for v in old.tolist()]
    return result, np.concatenate([*rows, weights[:0]])
