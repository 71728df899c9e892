"""Power iteration on the CPU: each rank is pulled over the edges into its vertex, by chunks of equal work.

Chunks depend on the graph, not on the threads, and every sum has a fixed order: the ranks are bitwise the same with any
number of threads.
"""

from __future__ import annotations

import numpy as np

from gpuasm.graph.rows import group_by, sums_of_rows
from gpuasm.parallel import compiled
from gpuasm.ranking.degree_order import in_places, places_by_degree
from gpuasm.ranking.teleport import Surfer
from gpuasm.threads import ordered_map

_WORK_PER_CHUNK = 1 << 17
_MOST_CHUNKS = 512
_NO_WEIGHTS = np.empty(0, np.float64)
_NO_PLACES = np.empty(0, np.int32)


class PullCpu:
    """The state of a power iteration; `PullCuda` is its counterpart on devices.

    Parameters
    ----------
    surfer
        With arrays on the host; the graph has at least one vertex.
    """

    def __init__(self, surfer: Surfer) -> None:
        n, graph = surfer.graph.n_vertices, surfer.graph.reverse()
        self._damping = 1.0 - surfer.reset
        self._teleport = np.full(n, 1.0 / n) if surfer.teleport is None else surfer.teleport
        self._out_weight = _out_weights(surfer)
        self._weights = _NO_WEIGHTS
        if surfer.weights is not None:
            self._weights = group_by(surfer.graph.columns, surfer.weights, n)[1]
        place, columns = places_by_degree(surfer)
        # Unsigned indices: compiled loops need no check for negative ones, and are twice as fast.
        self._graph = graph.row_offsets.view(np.uint64), columns.view(f"u{columns.dtype.itemsize}")
        self._place = _NO_PLACES if place is None else place
        self._rows = _chunk_bounds(graph.row_offsets)
        self._partial = np.zeros((self._rows.size - 1, 2))
        self._rank = self._teleport.copy()
        has_edge = self._out_weight > 0
        handed = np.divide(self._rank, self._out_weight, out=np.zeros(n), where=has_edge)
        self._handed = in_places(handed, place)
        self._next_handed = np.zeros(n)
        self._lumped = float(self._rank[~has_edge].sum())

    def step(self) -> float:
        """Do one iteration of the vertices with outgoing edges; return the sum of the absolute changes."""
        self._pull(lumped=False)
        self._handed, self._next_handed = self._next_handed, self._handed
        change, mass = (float(total) for total in self._partial.sum(axis=0))
        change += abs(1.0 - mass - self._lumped)
        self._lumped = 1.0 - mass
        return change

    def finish(self) -> np.ndarray:
        """Return all ranks, (n,) float64."""
        self._pull(lumped=True)
        return np.asarray(self._rank / self._rank.sum())

    def _pull(self, *, lumped: bool) -> None:
        base = 1.0 - self._damping + self._damping * self._lumped
        numbers = self._damping, base, lumped
        arrays = (*self._graph, self._weights, self._handed, self._teleport, self._out_weight, self._place)
        out = self._rank, self._next_handed, self._partial
        rows = self._rows
        for _ in ordered_map(
            lambda i: _pull_rows(i, rows[i], rows[i + 1], *arrays, *numbers, *out), range(rows.size - 1)
        ):
            pass


def _chunk_bounds(row_offsets: np.ndarray) -> np.ndarray:
    """Return the first rows of chunks with about as many entries and rows each, and the number of rows."""
    n = row_offsets.size - 1
    work = row_offsets + np.arange(n + 1)
    n_chunks = int(np.clip(work[-1] // _WORK_PER_CHUNK, 1, _MOST_CHUNKS))
    bounds = np.searchsorted(work, np.linspace(0, work[-1], n_chunks + 1).astype(np.int64))
    bounds[-1] = n
    return bounds


def _out_weights(surfer: Surfer) -> np.ndarray:
    """Return the sum of the weights of the edges that leave each vertex, (n,) float64."""
    if surfer.weights is None:
        return surfer.graph.out_degree.astype(np.float64)
    return sums_of_rows(surfer.graph.row_offsets, surfer.weights)


@compiled()
def _pull_rows(
    chunk,
    first,
    last,
    row_offsets,
    columns,
    weights,
    handed,
    teleport,
    out_weight,
    place,
    damping,
    base,
    lumped,
    rank,
    next_handed,
    partial,
):
    change, mass = 0.0, 0.0
    weighted = weights.size > 0
    for v in range(first, last):
        if (out_weight[v] == 0.0) != lumped:
            continue
        total = 0.0
        if weighted:
            for e in range(row_offsets[v], row_offsets[v + 1]):
                total += weights[e] * handed[columns[e]]
        else:
            for e in range(row_offsets[v], row_offsets[v + 1]):
                total += handed[columns[e]]
        new = damping * total + base * teleport[v]
        change += abs(new - rank[v])
        mass += new
        rank[v] = new
        if not lumped:
            next_handed[place[v] if place.size else v] = new / out_weight[v]
    partial[chunk, 0] = change
    partial[chunk, 1] = mass
