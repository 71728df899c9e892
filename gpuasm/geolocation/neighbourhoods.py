"""Gather the located neighbours of some vertices, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.rows import rows_of_slots
from gpuasm.graph.values import scaled_rows
from gpuasm.parallel import compiled
from gpuasm.primitives.counting import count_values


@dataclass(frozen=True)
class Neighbourhoods:
    """Located neighbours of the vertices that have enough of them.

    Attributes
    ----------
    vertices : (r,) int64
        The vertices with enough located neighbours.
    starts : (r + 1,) int64
        Start of the neighbours of each.
    neighbours : (p,) int64
        In the order of the edges.
    weights : (p,) float64
        Of each neighbour; extreme ones are scaled, so that only those of one vertex can be compared.
    """

    vertices: Array
    starts: Array
    neighbours: Array
    weights: Array


def slots_of(row_offsets: Array, vertices: Array) -> tuple[Array, Array]:
    """Return the bounds (r + 1,) of the concatenated rows of some vertices, and their slots (p,)."""
    xp = array_namespace(row_offsets, vertices)
    starts = xp.zeros(len(vertices) + 1, np.int64)
    xp.cumsum(row_offsets[vertices + 1] - row_offsets[vertices], out=starts[1:])
    row = rows_of_slots(starts, int(starts[-1]))
    return starts, row_offsets[vertices][row] + xp.arange(row.size) - starts[row]


def neighbourhoods(
    graph: DirectedGraph,
    weights: Array | None,
    vertices: Array,
    *,
    is_located: Array,
    seen: Array,
    nearest: int | None,
    at_least: int,
) -> Neighbourhoods:
    """Gather the located neighbours of vertices that have more of them than when last processed.

    Parameters
    ----------
    graph
        Its edges lead from a vertex to its neighbours.
    weights : (m,) float64 or None
        Weights of the edges, greater for nearer neighbours; edges of weight 0 are ignored. None: 1 each.
    vertices : (q,) int64
    is_located : (n,) bool
    seen : (n,) int64
        Number of located neighbours of each vertex when last processed; updated.
    nearest
        Use this many of greatest weight, of equal ones the first; None: all.
    at_least
        Omit vertices with fewer neighbours.
    """
    xp = array_namespace(graph.columns, vertices)
    starts, slots = slots_of(graph.row_offsets, vertices)
    row, neighbour = rows_of_slots(starts, len(slots)), graph.columns[slots].astype(np.int64)
    weight = xp.ones(len(slots)) if weights is None else weights[slots]
    kept = is_located[neighbour] & (weight > 0)
    row, neighbour, weight = row[kept], neighbour[kept], weight[kept]
    counts = count_values(row, len(vertices))
    is_new = counts > seen[vertices]
    seen[vertices] = counts
    if nearest is not None:
        kept = _ranks(row, weight, len(vertices)) < nearest
        row, neighbour, weight = row[kept], neighbour[kept], weight[kept]
        counts = xp.minimum(counts, nearest)
    enough = is_new & (counts >= at_least)
    kept = enough[row]
    starts = xp.zeros(int(enough.sum()) + 1, np.int64)
    xp.cumsum(counts[enough], out=starts[1:])
    return Neighbourhoods(vertices[enough], starts, neighbour[kept], scaled_rows(starts, weight[kept]))


@compiled()
def located_neighbours(v, edges, rounds, number):
    """Return the neighbours of one vertex located before a round, and their weights, in the order of the edges.

    The weights of ``edges``, after offsets and columns, are empty if all are 1. Edges of weight 0 are ignored.
    """
    offsets, columns, weights = edges
    start, end = offsets[v], offsets[v + 1]
    near, own, n = np.empty(end - start, np.int64), np.empty(end - start), 0
    for slot in range(start, end):
        weight = weights[slot] if weights.size else 1.0
        if 0 <= rounds[columns[slot]] < number and weight > 0.0:
            near[n], own[n] = columns[slot], weight
            n += 1
    return near[:n], own[:n]


def _ranks(row: Array, weight: Array, n_rows: int) -> Array:
    """Return the rank of each entry in its row, by descending weight."""
    xp = array_namespace(row)
    keys = [xp.arange(row.size, dtype=np.float64), -weight, row.astype(np.float64)]
    order = xp.lexsort(xp.stack(keys))
    first = xp.zeros(n_rows + 1, np.int64)
    xp.cumsum(count_values(row, n_rows), out=first[1:])
    ranks = xp.empty(row.size, np.int64)
    ranks[order] = xp.arange(row.size) - first[row[order]]
    return ranks
