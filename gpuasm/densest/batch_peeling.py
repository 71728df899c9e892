"""Peeling in batches, for devices: all vertices of at most about average degree are removed at once.

With ``slack`` e the densest remaining subgraph is at least 1 / (2 + 2e) as dense as the densest subgraph, after
O(log n / e) passes (Bahmani, Kumar and Vassilvitskii 2012, doi:10.14778/2140436.2140442).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.checks import instance, real, whole
from gpuasm.densest.adjacency import Adjacency
from gpuasm.primitives.counting import count_true

_SMALLER = 4


@dataclass(frozen=True)
class BatchPeeling:
    """The result of peeling in batches.

    Attributes
    ----------
    vertices : (s,) int64
        The densest subgraph found, ascending; on the host or a device, as the graph.
    weight
        Weight of the edges within it.
    loads : (n,) float64
        The degree of each vertex at its removal; the sum of the s largest is at least the weight within any s vertices.
    core : (c,) int64
        The remaining vertices, ascending.
    passes
        Number of batches removed.
    """

    vertices: Array
    weight: float
    loads: Array
    core: Array
    passes: int


def peel_in_batches(adjacency: Adjacency, *, slack: float = 0.1, stop: int = 0) -> BatchPeeling:
    """Peel a graph in batches, on the host or a device.

    Parameters
    ----------
    adjacency
        Of the graph.
    slack
        A vertex is removed if its degree exceeds the average by at most this share.
    stop
        Stop before fewer than so many vertices remain. The loads of these are their degrees.
    """
    instance(adjacency, Adjacency, "the graph")
    real(slack, "slack", least=0)
    whole(stop, "stop")
    xp = array_namespace(adjacency.graph.columns)
    loads = xp.zeros(adjacency.n, np.float64)
    numbers, alive = xp.arange(adjacency.n), xp.ones(adjacency.n, bool)
    degree = adjacency.graph.strength
    best, best_density, weight, passes = numbers, -1.0, 0.0, 0
    while True:
        n_alive, total = count_true(alive), float(degree.sum()) / 2
        density = total / max(1, n_alive)
        if density > best_density:
            best, best_density, weight = numbers[alive], density, total
        leaving = alive & (degree <= 2 * (1 + slack) * density)
        if n_alive - count_true(leaving) < max(stop, 1):
            loads[numbers[alive]] = degree[alive]
            return BatchPeeling(best, weight, loads, numbers[alive], passes)
        loads[numbers[leaving]] = degree[leaving]
        alive &= ~leaving
        passes += 1
        if int(adjacency.graph.degree[alive].sum()) * _SMALLER < adjacency.graph.columns.size:
            adjacency = Adjacency(adjacency.graph.induced(xp.flatnonzero(alive)))
            numbers, alive = numbers[alive], xp.ones(adjacency.n, bool)
            degree = adjacency.graph.strength
        else:
            degree = xp.where(alive, adjacency @ alive.astype(np.float64), 0.0)
