"""Rounds of Gunrock's geolocation by a queue, on the host; see `queue_cpu`."""

from __future__ import annotations

import numpy as np

from gpuasm.geolocation.gunrock_cpu import round_loop
from gpuasm.geolocation.queue_cpu import FEW, MOST_AT_ONCE, Queue, fill_queue
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.parallel import compiled
from gpuasm.threads import run_chunks


def finish_rounds(
    graph: DirectedGraph, places: np.ndarray, rounds: np.ndarray, *, number: int, last: int, spatial_iterations: int
) -> None:
    """Run the rounds after ``number``, to ``last`` or until one finds nothing.

    Parameters
    ----------
    graph
        On the host.
    places : (n, 2) float64
        In degrees, NaN if unknown; updated.
    rounds : (n,) int32
        The round of each place, -1 if unknown; updated.
    """
    queue, is_known = Queue(graph, rounds, number), rounds >= 0
    lengths = np.diff(graph.row_offsets)
    state = (graph.row_offsets, graph.columns, is_known, places, spatial_iterations)
    while queue.size and queue.number < last:
        if queue.size < FEW:
            queue.size, queue.number = _run_few(queue.vertices, (queue.size, queue.number, last), state, queue.links)
            continue
        rows = queue.vertices[: queue.size]
        found, counts = np.empty((rows.size, 2)), np.empty(rows.size, np.int32)
        run_chunks(round_loop, rows.size, rows, *state, int(lengths[rows].max()), found, counts)
        places[rows], rounds[rows], is_known[rows] = found, queue.number + 1, True
        queue.end_round(rows.size, queue.number + 1)


@compiled()
def _run_few(queue, extent, state, links):
    """Run rounds while the queue is short; return its length and the number of the last round."""
    n, number, last = extent
    offsets, columns, is_known, places, spatial_iterations = state
    rounds, n_read = links[2], 0
    found, counts = np.empty((FEW, 2)), np.empty(FEW, np.int32)
    while 0 < n < FEW and number < last and n_read < MOST_AT_ONCE:
        longest = 0
        for v in queue[:n]:
            longest = max(longest, offsets[v + 1] - offsets[v])
        round_loop(0, n, queue, offsets, columns, is_known, places, spatial_iterations, longest, found, counts)
        number += 1
        for i in range(n):  # each has an edge to a vertex located in the round before
            v = queue[i]
            places[v, 0], places[v, 1] = found[i, 0], found[i, 1]
            rounds[v], is_known[v] = number, True
        n_read += n
        n = fill_queue(queue, n, number, links)
    return n, number
