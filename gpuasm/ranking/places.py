"""Where the numbers lie that vertices hand on: in the order of falling out-degree.

Those that are read most often share cache lines then, and stay in the cache.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.graph.rows import index_type
from gpuasm.parallel import for_each
from gpuasm.primitives.counting import count_true
from gpuasm.primitives.stable_order import stable_order
from gpuasm.ranking.teleport import Surfer

FEWEST_MOVED = 1 << 20
"""What fewer vertices hand on fits into the cache in any order."""


def places_by_degree(surfer: Surfer) -> tuple[Array | None, Array]:
    """Return the place of each vertex's number, and the columns of the reversed graph as places.

    Returns
    -------
    place : (n,) int32 or int64, or None
        None where the graph is small: then the place is the vertex.
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


def order_by_degree(surfer: Surfer, goes_on: Array) -> tuple[Array, int]:
    """Return the vertices in the order of falling out-degree, those that do not go on last.

    Parameters
    ----------
    surfer
        Of a small graph, vertices keep their order within the two kinds.
    goes_on : (n,) bool
        Whether an edge of a weight above 0 leaves a vertex.

    Returns
    -------
    order : (n,) int32 or int64
    n_live
        How many go on.
    """
    graph = surfer.graph
    moved = graph.n_vertices >= FEWEST_MOVED
    degree = (graph.out_degree if moved else 1) * goes_on.astype(np.int64)
    most = int(degree.max())
    order = stable_order(most - degree, most + 1).astype(index_type(graph.n_vertices), copy=False)
    return order, count_true(goes_on)


def in_places(values: Array, place: Array | None) -> Array:
    """Return numbers of vertices, each at its place."""
    if place is None:
        return values
    moved = array_namespace(values).empty_like(values)
    moved[place] = values
    return moved


@for_each
def _look_up(edge, columns, place, moved):
    moved[edge] = place[columns[edge]]
