"""Euler paths: circuits of the graph with one more edge, from the end of the path to its start, taken out again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from gpuasm.arrays import array_namespace
from gpuasm.graph.balance import require_eulerian
from gpuasm.graph.tours import EulerTour

if TYPE_CHECKING:
    from gpuasm.graph.directed_graph import DirectedGraph

CircuitFinder = Callable[["DirectedGraph"], EulerTour]
"""What finds an Euler circuit of each component: `hierholzer`, or `find_euler_circuits` with its options bound."""


def find_euler_path(graph: DirectedGraph, find_circuits: CircuitFinder) -> EulerTour:
    """Find an Euler path of the component that has one, and circuits of all others.

    Parameters
    ----------
    graph
        Balanced but for two vertices: the start has one edge more out than in, the end one more in than out. Where all
        are balanced, the circuits are paths too.
    find_circuits
        How to find circuits.

    Returns
    -------
    EulerTour, on the device of the graph; components by their least edge, where the added edge counts as the last one
    of the path's end.

    Raises
    ------
    DataError
        If there is no such path.
    """
    # Imported late: a module of the graph class may import this one.
    from gpuasm.graph.directed_graph import DirectedGraph  # noqa: PLC0415

    check = require_eulerian(graph, path=True)
    if check.start is None or check.end is None:
        return find_circuits(graph)
    xp = array_namespace(graph.columns)
    added = int(graph.row_offsets[check.end + 1])
    offsets = graph.row_offsets.copy()
    offsets[check.end + 1 :] += 1
    back = xp.asarray([check.start], graph.columns.dtype)
    columns = xp.concatenate([graph.columns[:added], back, graph.columns[added:]])
    return _without(find_circuits(DirectedGraph(offsets, columns, graph.names)), added)


def _without(tour: EulerTour, edge: int) -> EulerTour:
    """Take an edge out of its circuit, so that a path remains, and number the edges as if it had not been there."""
    xp, edges = array_namespace(tour.edges), tour.edges
    at = xp.flatnonzero(edges == edge)
    walk = int(xp.searchsorted(tour.start, at, side="right")[0]) - 1
    low, high = (int(x) for x in tour.start[walk : walk + 2])
    place = int(at[0])
    kept = xp.concatenate([edges[:low], edges[place + 1 : high], edges[low:place], edges[high:]])
    kept -= (kept > edge).astype(kept.dtype)
    start = tour.start - (xp.arange(tour.start.size) > walk).astype(np.int64)
    return EulerTour(kept, start)
