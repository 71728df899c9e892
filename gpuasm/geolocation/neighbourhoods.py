"""The located neighbours of some vertices, row after row: gathered once for all that is made of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.rows import rows_of_slots


@dataclass(frozen=True)
class Neighbourhoods:
    """Located neighbours of vertices that have enough of them.

    Attributes
    ----------
    vertices : (r,) int64
        Those with enough.
    starts : (r + 1,) int64
        Where the neighbours of each begin.
    neighbours : (p,) int64
        In the order of the edges.
    weights : (p,) float64
    """

    vertices: Array
    starts: Array
    neighbours: Array
    weights: Array


def slots_of(row_offsets: Array, vertices: Array) -> tuple[Array, Array]:
    """Return the bounds (r + 1,) of the rows of some vertices put together, and the slots (p,) that they hold."""
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
    """Gather the located neighbours of vertices that have more of them than when they were last looked at.

    Parameters
    ----------
    graph
        Its edges lead from a vertex to its neighbours.
    weights : (m,) float64 or None
        Of the edges, greater for nearer neighbours; an edge of weight 0 is none. 1 each, if None.
    vertices : (q,) int64
    is_located : (n,) bool
    seen : (n,) int64
        How many located neighbours each vertex had when it was last looked at; brought up to date.
    nearest
        Take this many of the greatest weight, of equal ones the first; all, if None.
    at_least
        Leave out vertices with fewer neighbours than this.
    """
    xp = array_namespace(graph.columns, vertices)
    starts, slots = slots_of(graph.row_offsets, vertices)
    row, neighbour = rows_of_slots(starts, len(slots)), graph.columns[slots].astype(np.int64)
    weight = xp.ones(len(slots)) if weights is None else weights[slots]
    kept = is_located[neighbour] & (weight > 0)
    row, neighbour, weight = row[kept], neighbour[kept], weight[kept]
    counts = _counts(row, len(vertices))
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
    return Neighbourhoods(vertices[enough], starts, neighbour[kept], weight[kept])


def _counts(row: Array, n_rows: int) -> Array:
    xp = array_namespace(row)
    return xp.bincount(row, minlength=n_rows) if row.size else xp.zeros(n_rows, np.int64)


def _ranks(row: Array, weight: Array, n_rows: int) -> Array:
    """Return the place of each entry among those of its row, the greatest weight first."""
    xp = array_namespace(row)
    keys = [xp.arange(row.size, dtype=np.float64), -weight, row.astype(np.float64)]
    order = xp.lexsort(xp.stack(keys))
    first = xp.zeros(n_rows + 1, np.int64)
    xp.cumsum(_counts(row, n_rows), out=first[1:])
    ranks = xp.empty(row.size, np.int64)
    ranks[order] = xp.arange(row.size) - first[row[order]]
    return ranks
