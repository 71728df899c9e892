"""Rounds of spherical medians by a queue, on the host; see `queue_cpu`."""

from __future__ import annotations

import math

import numpy as np

from gpuasm.geolocation.median_cpu import median_of_row, room_for_sums
from gpuasm.geolocation.neighbourhoods import located_neighbours
from gpuasm.geolocation.queue_cpu import FEW, MOST_AT_ONCE, Queue, fill_queue
from gpuasm.geolocation.spread import radius_around
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.values import LEAST, MODERATE
from gpuasm.parallel import compiled
from gpuasm.threads import run_chunks

Rules = tuple[int, int, float, float]
"""Neighbours to use at most, and at least; the share of their weight that a radius holds; the largest radius or NaN."""


def finish_rounds(
    graph: DirectedGraph,
    weights: np.ndarray | None,
    rules: Rules,
    *,
    state: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    number: int,
    last: int,
) -> None:
    """Run the rounds after ``number``, to ``last`` or until one changes nothing.

    Parameters
    ----------
    graph
        On the host.
    weights : (m,) float64 or None
        Weights of the edges.
    state
        Of each vertex its unit vector (n, 3) float64, its round (n,) int32, its radius in kilometres (n,) float64, and
        the number (n,) int64 of its located neighbours when last processed; updated.
    """
    queue = Queue(graph, state[1], number)
    edges = (graph.row_offsets, graph.columns, np.empty(0) if weights is None else weights)
    while queue.size and queue.number < last:
        if queue.size < FEW:
            extent = (queue.size, queue.number, last)
            queue.size, queue.number = _run_few(queue.vertices, extent, edges, state, rules, queue.links)
            continue
        found = (np.empty((queue.size, 3)), np.empty(queue.size))
        number = queue.number + 1
        run_chunks(_infer_loop, queue.size, queue.vertices, number, edges, state, rules, found)
        queue.end_round(_keep_located(queue.vertices, queue.size, number, state, found), number)


@compiled()
def _run_few(queue, extent, edges, state, rules, links):
    """Run rounds while the queue is short; return its length and the number of the last round."""
    n, number, last = extent
    n_read = 0
    found = (np.empty((FEW, 3)), np.empty(FEW))
    while 0 < n < FEW and number < last and n_read < MOST_AT_ONCE:
        number += 1
        _infer_loop(0, n, queue, number, edges, state, rules, found)
        n_read += n
        n = fill_queue(queue, _keep_located(queue, n, number, state, found), number, links)
    return n, number


@compiled()
def _keep_located(queue, n, number, state, found):
    """Write the places found; keep those located as the first of the queue, and return their number."""
    units, rounds, radius_km, _ = state
    medians, radii = found
    n_located = 0
    for i in range(n):
        if np.isnan(medians[i, 0]):
            continue
        v = queue[i]
        units[v, 0], units[v, 1], units[v, 2] = medians[i, 0], medians[i, 1], medians[i, 2]
        rounds[v], radius_km[v] = number, radii[i]
        queue[n_located] = v
        n_located += 1
    return n_located


@compiled()
def _infer_loop(first, last, queue, number, edges, state, rules, found):
    """Write the median and the radius of each vertex of a queue; NaN if it is not located in this round."""
    units, rounds, radius_km, seen = state
    nearest, at_least, share, max_radius = rules
    medians, radii = found
    room = room_for_sums()
    for i in range(first, last):
        medians[i, 0] = np.nan
        near, weights = located_neighbours(queue[i], edges, rounds, number)
        n_before, seen[queue[i]] = seen[queue[i]], near.size
        if near.size <= n_before or min(near.size, nearest) < at_least:
            continue
        if near.size > nearest:
            kept = np.sort(np.argsort(-weights, kind="mergesort")[:nearest])
            near, weights = near[kept], weights[kept]
        _scale(weights)
        points = units[near]
        median = median_of_row(points, weights, room)
        radius = radius_around(median, points, weights, radius_km[near], share)
        if np.isnan(max_radius) or radius <= max_radius:
            medians[i, 0], medians[i, 1], medians[i, 2] = median
            radii[i] = radius


@compiled()
def _scale(weights):
    """Scale a row with an extreme weight as `gpuasm.graph.values.scaled_rows` does."""
    greatest, least = weights.max(), weights.min()
    if greatest > MODERATE or least < 1 / MODERATE:
        exponent = math.frexp(greatest)[1]
        for k in range(weights.size):
            weights[k] = max(math.ldexp(weights[k], -exponent), LEAST)
