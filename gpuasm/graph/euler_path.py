"""Euler paths: add an edge from the end of the path to its start, find circuits, and remove the edge again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuasm.arrays import array_namespace
from gpuasm.graph.balance import require_eulerian
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.tours import EulerTour

CircuitFinder = Callable[[DirectedGraph], EulerTour]
"""A search for an Euler circuit of each component: `hierholzer`, or `find_euler_circuits` with its options bound."""


def find_euler_path(graph: DirectedGraph, find_circuits: CircuitFinder) -> EulerTour:
    """Find an Euler path of the component that has one, and circuits of all others.

    Parameters
    ----------
    graph
        Balanced except for two vertices: the start has one outgoing edge more, the end one incoming edge more. If all
        are balanced, the circuits are paths too.
    find_circuits
        The search for circuits.

    Returns
    -------
    EulerTour, on the device of the graph; components by their least edge; the added edge counts as the last edge
    of the path's end.

    Raises
    ------
    DataError
        If there is no such path.
    """
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
    """Remove an edge from its circuit, which leaves a path, and renumber the other edges."""
    xp, edges = array_namespace(tour.edges), tour.edges
    at = xp.flatnonzero(edges == edge)
    walk = int(xp.searchsorted(tour.start, at, side="right")[0]) - 1
    low, high = (int(x) for x in tour.start[walk : walk + 2])
    place = int(at[0])
    kept = xp.concatenate([edges[:low], edges[place + 1 : high], edges[low:place], edges[high:]])
    kept -= (kept > edge).astype(kept.dtype)
    start = tour.start - (xp.arange(tour.start.size) > walk).astype(np.int64)
    return EulerTour(kept, start)
