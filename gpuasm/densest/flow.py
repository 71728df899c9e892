"""Whether a subgraph is denser than a limit, by maximum flow; exact, in integers.

Each edge of capacity c is divided between its two ends, and the load of a vertex is what it holds. For any set S of
vertices the capacity within S is at most the sum of its loads. So if edges can be divided such that no load is above L,
no set has more than L per vertex. Else let C be the vertices from which no share can be passed on, edge by edge, to a
vertex of load below L. Edges between C and the others are held by the others alone, so the capacity within C is the sum
of its loads: above L per vertex. C has the greatest excess over L |C| of all sets and contains each that is as great
(Goldberg 1984 computes it as a minimum cut). It depends on the graph and L alone, not on how edges were divided.

Shares are passed as preflows are pushed (Goldberg and Tarjan 1988, doi:10.1145/48014.61051): breadth-first search
gives the distance of each vertex to a load below L; then all vertices, the farthest first, pass on what they have
above L to vertices one step nearer. This is repeated until nothing can be passed on.
"""

from __future__ import annotations

import numpy as np

from gpuasm.graph.rows import index_type
from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.parallel import compiled


class Division:
    """A division of the edges of a graph between their ends.

    At first an end holds the share of some orders of the vertices in which it comes first.

    Parameters
    ----------
    graph
        On the host; its weights are not used.
    capacity : (2 m,) or (1,) int64
        Of the edge of each slot, or of all.
    places : (n, t) int32
        The place of each vertex in each order.

    Attributes
    ----------
    load : (n,) int64
        What each vertex holds.
    visits
        Slots read so far.
    """

    def __init__(self, graph: UndirectedGraph, capacity: np.ndarray, places: np.ndarray) -> None:
        self._graph = graph
        self._held, self.load = np.empty(graph.columns.size, np.int64), np.zeros(graph.n_vertices, np.int64)
        self._twin = np.empty(graph.columns.size, index_type(graph.columns.size))
        _divide(graph.row_offsets, graph.columns, capacity, places, self._held, self.load, self._twin)
        self.visits = 0

    def level(self, limit: int, *, most_visits: int) -> np.ndarray | None:
        """Pass on what is above a limit, and return the vertices of C, (c,) int64; None if that takes too long.

        Parameters
        ----------
        limit
            L, of the load of a vertex.
        most_visits
            Slots to read at most.
        """
        distance = np.empty(self.load.size, np.int64)
        edges = self._graph.row_offsets, self._graph.columns, self._twin
        visits, is_level = _level(edges, self._held, self.load, limit, most_visits, distance)
        self.visits += int(visits)
        return np.flatnonzero(distance < 0) if is_level else None


@compiled()
def _divide(offsets, columns, capacity, places, held, load, twin):
    n, n_orders = places.shape
    reached = offsets[:n].copy()
    for u in range(n):
        for slot in range(offsets[u], offsets[u + 1]):
            v = columns[slot]
            twin[slot] = reached[v]  # rows rise: u is the next of v's neighbours
            reached[v] += 1
            whole = capacity[slot] if capacity.size > 1 else capacity[0]
            if u < v:
                n_first = 0
                for t in range(n_orders):
                    n_first += places[u, t] < places[v, t]
                held[slot] = whole // n_orders * n_first + whole % n_orders * n_first // n_orders
            else:
                held[slot] = whole - held[twin[slot]]
            load[u] += held[slot]


@compiled()
def _level(edges, held, load, limit, most_visits, distance):
    """Pass on shares; return the slots read, and whether nothing can be passed on. Distances are -1 in C."""
    offsets = edges[0]
    queue = np.empty(load.size, np.int64)
    visits = 0
    while visits <= most_visits:
        n_reached, has_excess = _measure_distances(edges, held, load, limit, distance, queue)
        for v in queue[:n_reached]:
            visits += 2 * (offsets[v + 1] - offsets[v])
        if not has_excess:
            return visits, True
        for i in range(n_reached - 1, -1, -1):
            u = queue[i]
            if load[u] > limit:
                _pass_on(u, edges, held, load, limit, distance)
    return visits, False


@compiled()
def _measure_distances(edges, held, load, limit, distance, queue):
    """Write the distance of each vertex to a load below the limit, and list the vertices by it.

    Return how many have one, and whether any of them is above the limit.
    """
    offsets, columns, twin = edges
    n_reached, n_read, has_excess = 0, 0, False
    for v in range(load.size):
        distance[v] = -1
        if load[v] < limit:
            distance[v] = 0
            queue[n_reached] = v
            n_reached += 1
    while n_read < n_reached:
        v = queue[n_read]
        n_read += 1
        for slot in range(offsets[v], offsets[v + 1]):
            u = columns[slot]
            if distance[u] < 0 and held[twin[slot]] > 0:
                distance[u] = distance[v] + 1
                has_excess |= load[u] > limit
                queue[n_reached] = u
                n_reached += 1
    return n_reached, has_excess


@compiled()
def _pass_on(u, edges, held, load, limit, distance):
    """Pass what a vertex has above the limit on to neighbours one step nearer to a load below it."""
    offsets, columns, twin = edges
    for slot in range(offsets[u], offsets[u + 1]):
        v = columns[slot]
        if distance[v] != distance[u] - 1 or held[slot] == 0:
            continue
        passed = min(load[u] - limit, held[slot])
        if distance[v] == 0:
            passed = min(passed, limit - load[v])
        held[slot] -= passed
        held[twin[slot]] += passed
        load[u] -= passed
        load[v] += passed
        if load[u] == limit:
            break
