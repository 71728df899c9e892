"""Integer thresholds for choices in proportion to weights, so that every device chooses the same."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array
from gpuasm.parallel import for_each, inlined
from gpuasm.ranking.teleport import Surfer

_EDGE_UNITS = 2.0**30
_TELEPORT_UNITS = 2.0**62
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def edge_thresholds(surfer: Surfer) -> Array:
    """Return the cumulative weights of each vertex's edges as integers.

    Returns
    -------
    (m,) uint64
        The heaviest edge of a vertex has 2^30, the others in proportion, rounded down, but at least 1 if above 0: the
        error of an edge's probability is below 2^-30. Empty if the edges have no weights.
    """
    graph, xp = surfer.graph, surfer.xp
    thresholds = xp.empty(0 if surfer.weights is None else graph.n_edges, np.uint64)
    if thresholds.size:
        _add_up(graph.n_vertices, graph.row_offsets, surfer.weights, thresholds)
    return thresholds


def teleport_thresholds(teleport: np.ndarray | None) -> np.ndarray:
    """Return the cumulative teleport vector in units of 2^-62, (n,) uint64; empty if it is uniform."""
    if teleport is None:
        return np.empty(0, np.uint64)
    return np.cumsum((teleport * _TELEPORT_UNITS).astype(np.uint64), dtype=np.uint64)


@inlined()
def high_product(a, b):
    """Return the upper 64 bits of the product of two uint64: a number below b from 64 random bits a."""
    a_low, a_high, b_low, b_high = a & _LOW_HALF, a >> _HALF, b & _LOW_HALF, b >> _HALF
    middle = a_high * b_low + (a_low * b_low >> _HALF)
    other = a_low * b_high + (middle & _LOW_HALF)
    return a_high * b_high + (middle >> _HALF) + (other >> _HALF)


@inlined()
def first_above(thresholds, first, last, value):
    """Return the first position from ``first`` on, below ``last``, whose ascending threshold is above a value."""
    while first < last:
        middle = (first + last) >> 1
        if thresholds[middle] > value:
            last = middle
        else:
            first = middle + 1
    return first


@for_each
def _add_up(row, row_offsets, weights, thresholds):
    heaviest = 0.0
    for e in range(row_offsets[row], row_offsets[row + 1]):
        heaviest = max(heaviest, weights[e])
    total = np.uint64(0)
    for e in range(row_offsets[row], row_offsets[row + 1]):
        if weights[e] > 0.0:
            total += max(np.uint64(weights[e] / heaviest * _EDGE_UNITS), np.uint64(1))
        thresholds[e] = total
