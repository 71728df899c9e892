"""Queues of vertices whose neighbours changed: rounds of geolocation that process these alone, on the host.

The first rounds scan all vertices without place, as most of them are located there. A later round takes the vertices
with an edge to one that the round before located: any other would find what it found before. A vertex is read again
only where its neighbours changed, so the rounds together take time in proportion to the edges. Results are those of
scanning, byte for byte.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, is_on_device
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.parallel import compiled

SCANNED_ROUNDS = 16
"""Most rounds that scan all vertices without place."""

_SCANS, _LEAST_SCANNED = 4, 1 << 20
"""On the host no round scans where those before have read this many times as many vertices as there are, and more."""

FEW = 1024
"""Least vertices of a queue that several threads share."""

MOST_AT_ONCE = 1 << 16
"""Vertices after which compiled code returns, so that a signal is answered."""


_LAST = 2**31 - 2


def last_round(iterations: int | None) -> int:
    """Return the number of the last round; None is as many as there can be."""
    return _LAST if iterations is None else min(iterations, _LAST)


def may_scan(rounds: Array, number: int, n_scanned: int) -> bool:
    """Return whether a round scans all vertices without place, and not a queue.

    Parameters
    ----------
    rounds : (n,) int32
        The round of each vertex; on a device a scan takes less than to go on elsewhere.
    number
        The round before.
    n_scanned
        Vertices that the rounds before have scanned.
    """
    if number >= SCANNED_ROUNDS:
        return False
    return is_on_device(rounds) or n_scanned <= _SCANS * rounds.size + _LEAST_SCANNED


class Queue:
    """The vertices to process in the next round.

    Parameters
    ----------
    graph
        On the host.
    rounds : (n,) int32
        The round in which each vertex was located, -1 if in none; kept, and updated by those who locate vertices.
    number
        The last round that is complete.
    """

    def __init__(self, graph: DirectedGraph, rounds: np.ndarray, number: int) -> None:
        backward = graph.reverse()
        queued = np.full(rounds.size, -1, np.int32)
        self.vertices = np.empty(rounds.size, np.int64)
        self.links = (backward.row_offsets, backward.columns, rounds, queued, np.empty(rounds.size, np.int64))
        """What `fill_queue` needs: the reversed graph, rounds, when each vertex was last queued, and room."""
        located = np.flatnonzero(rounds == number)
        self.vertices[: located.size] = located
        self.size, self.number = 0, number
        self.end_round(located.size, number)

    def end_round(self, n_located: int, number: int) -> None:
        """Fill the queue after a round; its first vertices are those that the round located."""
        self.size, self.number = fill_queue(self.vertices, n_located, number, self.links), number


@compiled()
def fill_queue(queue, n_located, number, links):
    """Replace the vertices located, which a queue begins with, by those with edges to them; return their number."""
    offsets, columns, rounds, queued, following = links
    n = 0
    for u in queue[:n_located]:
        for slot in range(offsets[u], offsets[u + 1]):
            v = columns[slot]
            if rounds[v] < 0 and queued[v] < number:
                queued[v] = number
                following[n] = v
                n += 1
    for i in range(n):
        queue[i] = following[i]
    return n
