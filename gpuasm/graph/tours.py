"""Euler tours, the result of every search for circuits or paths, and an independent check of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.checks import array_of, instance
from gpuasm.errors import DataError
from gpuasm.graph.csr_graph import CsrGraph

if TYPE_CHECKING:
    from gpuasm.graph.directed_graph import DirectedGraph
    from gpuasm.graph.names import Label


@dataclass(frozen=True)
class EulerTour:
    """The edges of a graph in walking order, one weakly connected component after the other.

    Attributes
    ----------
    edges : (m,) int32 or int64
        Edges by number, that is by slot of the graph's rows, each once.
    start : (c + 1,) int64
        Start of the walk of each component in ``edges``; the last entry is m.
    """

    edges: Array
    start: Array

    @property
    def n(self) -> int:
        """Number of walks: one for each component with edges."""
        return int(self.start.size) - 1

    def vertices(self, graph: DirectedGraph) -> Array:
        """Return the vertices of the walks, (m + c,) of the type of the graph's columns.

        Walk i begins at ``start[i] + i`` and has a vertex more than edges; a circuit's last vertex is its first.
        """
        xp = array_namespace(self.edges, graph.columns)
        walk = xp.empty(self.edges.size + self.n, graph.columns.dtype)
        first = self.start[:-1] + xp.arange(self.n)
        is_first = xp.zeros(walk.size, bool)
        is_first[first] = True
        walk[~is_first] = graph.columns[self.edges]
        walk[first] = _sources(graph, self.edges[self.start[:-1]])
        return walk

    def starting_at(self, graph: DirectedGraph, vertex: Label) -> EulerTour:
        """Return the tour with the circuit through a vertex rotated to begin there, at its first visit.

        Raises
        ------
        UsageError
            If there is no such vertex.
        DataError
            If no edge leaves the vertex, or if the walk through it is no circuit and begins elsewhere.
        """
        number = graph.number_of(vertex)
        first, last = (int(x) for x in graph.row_offsets[number : number + 2])
        xp = array_namespace(self.edges)
        found = xp.flatnonzero((self.edges >= first) & (self.edges < last))
        if found.size == 0:
            raise DataError(f"an edge out of {vertex}", "none", "begin at another vertex")
        at = int(found[0])
        walk = int(xp.searchsorted(self.start, found[:1], side="right")[0]) - 1
        low, high = (int(x) for x in self.start[walk : walk + 2])
        if at > low and not _is_closed(graph, self.edges[low:high]):
            raise DataError(f"a circuit through {vertex}", "a path", "begin a path where it has to begin")
        edges = self.edges.copy()
        edges[low:high] = xp.roll(self.edges[low:high], low - at)
        return EulerTour(edges, self.start)

    def moved_to(self, xp: Any) -> EulerTour:
        """Return the tour with its arrays where namespace ``xp`` keeps them."""
        return EulerTour(to_namespace(xp, self.edges), to_namespace(xp, self.start))


def check_tour(graph: DirectedGraph, tour: EulerTour, *, path: bool = False) -> None:
    """Verify that a tour uses each edge once, each after its predecessor, in one closed walk for each component.

    Parameters
    ----------
    graph, tour
        On the same device.
    path
        One of the walks may be open.

    Raises
    ------
    DataError
        With the reason, if it does not.
    """
    instance(graph, CsrGraph, "the graph")
    instance(tour, EulerTour, "the tour")
    for array, what in ((tour.edges, "the edges of a tour"), (tour.start, "the starts of its walks")):
        array_of(array, what, "iu", (None,))
    xp, m, start = array_namespace(graph.columns, tour.edges, tour.start), graph.n_edges, tour.start
    _require(tour.edges.size == m, f"{m} edges", f"{tour.edges.size}")
    rises = start.size >= 1 and int(start[0]) == 0 and int(start[-1]) == m and bool((start[1:] > start[:-1]).all())
    _require(rises, f"walks of at least one edge that begin between 0 and {m}", "others")
    if m == 0:
        return
    _require(bool(((tour.edges >= 0) & (tour.edges < m)).all()), f"edges from 0 to {m - 1}", "others")
    seen = xp.zeros(m, bool)
    seen[tour.edges] = True
    _require(bool(seen.all()), "each edge once", f"{m - int(seen.sum())} edges missing")
    _check_steps(graph, tour, path=path)
    _require(_walks_are_disjoint(graph, tour), "one walk for each component", "walks that share a vertex")


def _check_steps(graph: DirectedGraph, tour: EulerTour, *, path: bool) -> None:
    """Verify that each edge begins where the one before ends, and that walks close."""
    xp, edges = array_namespace(tour.edges), tour.edges
    first, last = tour.start[:-1], tour.start[1:] - 1
    reached = graph.columns[edges]
    follows = _leaves(graph, edges[1:], reached[:-1])
    follows[last[:-1]] = True
    breaks = xp.flatnonzero(~follows)
    place = f"edge {int(breaks[0]) + 2} of the tour" if breaks.size else None
    _require(breaks.size == 0, "edges that follow each other", f"{breaks.size} that do not", place=place)
    n_open = int((~_leaves(graph, edges[first], reached[last])).sum())
    _require(n_open <= int(path), "at most one open walk" if path else "closed walks", f"{n_open} open")


def _walks_are_disjoint(graph: DirectedGraph, tour: EulerTour) -> bool:
    """Return whether no two walks share a vertex."""
    xp = array_namespace(tour.edges)
    passed = tour.vertices(graph)
    begins = xp.zeros(passed.size, np.int64)
    begins[tour.start[:-1] + xp.arange(tour.n)] = 1
    walk = xp.cumsum(begins)
    # Which of several walks stays recorded at a vertex does not matter: another one finds a different number.
    walk_at = xp.zeros(graph.n_vertices, np.int64)
    walk_at[passed] = walk
    return bool((walk_at[passed] == walk).all())


def _is_closed(graph: DirectedGraph, edges: Array) -> bool:
    return bool(_leaves(graph, edges[:1], graph.columns[edges[-1:]])[0])


def _leaves(graph: DirectedGraph, edges: Array, vertices: Array) -> Array:
    """Return whether each edge leaves the vertex at the same position of the other array."""
    return (graph.row_offsets[vertices] <= edges) & (edges < graph.row_offsets[vertices + 1])


def _sources(graph: DirectedGraph, edges: Array) -> Array:
    xp = array_namespace(edges)
    return xp.searchsorted(graph.row_offsets, edges.astype(np.int64, copy=False), side="right") - 1


def _require(holds: bool, expected: str, found: str, *, place: str | None = None) -> None:  # noqa: FBT001 - an assertion
    if not holds:
        remedy = "report this as a bug if gpuasm made the tour"
        raise DataError(f"an Euler tour: {expected}", found, remedy, place=place)
