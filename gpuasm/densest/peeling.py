"""Greedy peeling: remove the vertex of least degree repeatedly, and keep the densest of the remaining subgraphs.

It is at least half as dense as the densest subgraph (Charikar 2000, doi:10.1007/3-540-44436-X_10). Greedy++ repeats
peeling with loads: each vertex's degrees at its earlier removals are added to its degree. The result approaches the
densest subgraph (Boob et al. 2020, doi:10.1145/3366423.3380140).

The loads also bound every subgraph from above. Each round assigns every edge to the end removed first, so after T
rounds the loads of any S sum to at least T w(S), where w(S) is the weight of the edges within S. So
w(S) <= (the sum of the |S| largest loads) / T.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from gpuasm.checks import instance, whole
from gpuasm.densest.inputs import check_weights
from gpuasm.errors import UsageError
from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.parallel import compiled

_ROUNDING = 1e-9
"""Added to bounds of sums of weights, whose last digits depend on the order of the additions."""


@dataclass(frozen=True)
class Peeling:
    """The result of peeling.

    Attributes
    ----------
    vertices : (s,) int64
        The densest subgraph found, ascending.
    weight
        Weight of the edges within it; their number, if they have no weights.
    loads : (n,) float64
        Mean over the rounds of each vertex's degree at its removal.
    load_bounds : (n,) float64
        Entry s - 1: upper bound of the weight within any s vertices, by the loads.
    tails : list of (n,) int32
        The order of removal in each round; its last s vertices are the remaining subgraph of s vertices.
    """

    vertices: np.ndarray
    weight: float
    loads: np.ndarray
    load_bounds: np.ndarray
    tails: list[np.ndarray]

    @property
    def density(self) -> float:
        """Edge weight per vertex, half the average degree."""
        return self.weight / max(1, self.vertices.size)

    @property
    def density_bound(self) -> float:
        """Upper bound of the edge weight per vertex of any subgraph."""
        sizes = np.arange(1, self.load_bounds.size + 1)
        return float((self.load_bounds / sizes).max(initial=0.0))

    def left(self, k: int) -> list[np.ndarray]:
        """Return the last k vertices of each round, ascending."""
        return [np.sort(order[order.size - k :]).astype(np.int64) for order in self.tails]


def peel(graph: UndirectedGraph, *, rounds: int = 1) -> Peeling:
    """Peel a graph on the host; a round takes O(m + n) without weights, O(m log m) with them.

    Vertices of equal degree are removed in the order of a stack without weights, by number with weights. Of equally
    dense subgraphs the largest of the earliest round is kept.

    Parameters
    ----------
    graph
        On the host.
    rounds
        1 for greedy peeling, more for Greedy++.

    Raises
    ------
    UsageError
        If the number of rounds is below 1.
    DataError
        If a weight is negative, not finite or out of range.
    """
    instance(graph, UndirectedGraph, "the graph")
    whole(rounds, "rounds")
    if rounds < 1:
        raise UsageError("at least one round", str(rounds), "choose one or more")
    check_weights(graph.weights)
    n = graph.n_vertices
    total = 0.5 * float(graph.strength.sum())
    kind = np.int64 if graph.weights is None else np.float64
    loads, tails = np.zeros(n, kind), []
    best, best_density, weight = np.arange(n), -1.0, 0.0
    for _ in range(rounds):
        order, removed = np.empty(n, np.int32), np.empty(n, kind)
        if graph.weights is None:
            _peel_stacks(graph.row_offsets, graph.columns, loads, order, removed)
        else:
            _peel_heap(graph.row_offsets, graph.columns, graph.weights, loads, order, removed)
        loads[order] = loads[order] + removed
        tails.append(order)
        left = total - np.concatenate([[0], np.cumsum(removed)[:-1]])[:n]
        densities = left / np.arange(n, 0, -1)
        if n and densities.max() > best_density:
            first = int(densities.argmax())
            best, best_density, weight = np.sort(order[first:]), densities[first], float(left[first])
    bounds = np.minimum(np.cumsum(np.sort(loads)[::-1]) / rounds, total)
    if graph.weights is not None:
        bounds *= 1 + _ROUNDING
    return Peeling(best.astype(np.int64), weight, loads / rounds, bounds, tails)


@compiled()
def _peel_stacks(offsets, columns, loads, order, removed):
    n = loads.size
    key, n_keys = np.empty(n, np.int64), 1
    for v in range(n):
        key[v] = loads[v] + offsets[v + 1] - offsets[v]
        n_keys = max(n_keys, key[v] + 1)
    # A stack of vertices for each key, doubly linked so that any vertex can be removed.
    top, below, above = np.empty(n_keys, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n_keys):
        top[i] = -1
    for v in range(n - 1, -1, -1):
        above[v] = -1
        below[v] = top[key[v]]
        if below[v] >= 0:
            above[below[v]] = v
        top[key[v]] = v
    lowest = 0
    for i in range(n):
        while top[lowest] < 0:
            lowest += 1
        v = top[lowest]
        top[lowest] = below[v]
        if below[v] >= 0:
            above[below[v]] = -1
        order[i], removed[i] = v, key[v] - loads[v]
        key[v] = -1
        for slot in range(offsets[v], offsets[v + 1]):
            u = columns[slot]
            if key[u] < 0:
                continue
            if above[u] >= 0:
                below[above[u]] = below[u]
            else:
                top[key[u]] = below[u]
            if below[u] >= 0:
                above[below[u]] = above[u]
            key[u] -= 1
            below[u], above[u] = top[key[u]], -1
            if below[u] >= 0:
                above[below[u]] = u
            top[key[u]] = u
            lowest = min(lowest, key[u])


@compiled()
def _peel_heap(offsets, columns, weights, loads, order, removed):
    n = loads.size
    degree, is_removed = np.zeros(n, np.float64), np.zeros(n, np.bool_)
    heap = [(0.0, np.int64(0)) for _ in range(0)]
    for v in range(n):
        for slot in range(offsets[v], offsets[v + 1]):
            degree[v] += weights[slot]
        heap.append((loads[v] + degree[v], np.int64(v)))
    heapq.heapify(heap)
    i = 0
    while i < n:
        key, v = heapq.heappop(heap)
        if is_removed[v] or key != loads[v] + degree[v]:
            continue  # an outdated entry: a later one holds the current key
        order[i], removed[i] = v, degree[v]
        is_removed[v] = True
        i += 1
        for slot in range(offsets[v], offsets[v + 1]):
            u = np.int64(columns[slot])
            if not is_removed[u]:
                degree[u] = max(degree[u] - weights[slot], 0.0)
                heapq.heappush(heap, (loads[u] + degree[u], u))
