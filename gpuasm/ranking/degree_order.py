"""Vertices in descending order of out-degree, so that values that are read most often share cache lines."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.graph.rows import index_type
from gpuasm.parallel import for_each
from gpuasm.primitives.counting import count_true
from gpuasm.primitives.stable_order import stable_order
from gpuasm.ranking.teleport import Surfer

FEWEST_MOVED = 1 << 20
"""The values of fewer vertices fit into the cache in any order."""


def places_by_degree(surfer: Surfer) -> tuple[Array | None, Array]:
    """Return the position of each vertex's value, and the columns of the reversed graph as positions.

    Returns
    -------
    place : (n,) int32 or int64, or None
        None for a small graph: then the position is the vertex.
    columns : (m,) of the same type
    """
    graph, xp = surfer.graph, surfer.xp
    columns, n = graph.reverse().columns, graph.n_vertices
    if n < FEWEST_MOVED or not graph.n_edges:
        return None, columns
    degree = graph.out_degree
    most = int(degree.max())
    order = stable_order(most - degree, most + 1)
    place, moved = xp.empty(n, columns.dtype), xp.empty_like(columns)
    place[order] = xp.arange(n, dtype=columns.dtype)
    _look_up(columns.size, columns, place, moved)
    return place, moved


def order_by_degree(surfer: Surfer, has_edge: Array) -> tuple[Array, int]:
    """Return the vertices in descending order of out-degree, those without an edge of positive weight last.

    Parameters
    ----------
    surfer
        The vertices of a small graph keep their order within the two kinds.
    has_edge : (n,) bool
        Whether an edge of a weight above 0 leaves a vertex.

    Returns
    -------
    order : (n,) int32 or int64
    n_live
        Number of vertices with such an edge.
    """
    graph = surfer.graph
    moved = graph.n_vertices >= FEWEST_MOVED
    degree = (graph.out_degree if moved else 1) * has_edge.astype(np.int64)
    most = int(degree.max())
    order = stable_order(most - degree, most + 1).astype(index_type(graph.n_vertices), copy=False)
    return order, count_true(has_edge)


def in_places(values: Array, place: Array | None) -> Array:
    """Return values of vertices, each at its position."""
    if place is None:
        return values
    moved = array_namespace(values).empty_like(values)
    moved[place] = values
    return moved


@for_each
def _look_up(edge, columns, place, moved):
    moved[edge] = place[columns[edge]]
