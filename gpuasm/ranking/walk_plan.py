"""The plan of random walks: how many coupons start at each vertex, and the integers that decide their steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, to_namespace
from gpuasm.primitives.randomness import stream_key
from gpuasm.ranking.teleport import Surfer, starts_of
from gpuasm.ranking.thresholds import edge_thresholds, teleport_thresholds


@dataclass(frozen=True)
class WalkPlan:
    """The coupons and thresholds of all walks.

    Attributes
    ----------
    surfer
        Graph and probabilities.
    coupons
        Coupons that start at each vertex, if the teleport vector is uniform.
    start_offsets : (n + 1,) int64
        The number of the first coupon of each vertex; empty if the teleport vector is uniform.
    edge_thresholds, teleport_thresholds : uint64
        As in `thresholds`; empty if all edges, or vertices, have the same probability.
    n_walks
        Number of all coupons.
    key
        Key of the random numbers.
    stop
        A coupon stops in a round whose random bits are below this, uint64.
    dtype
        Type of the visits: uint32, or uint64 if there may be too many.
    """

    surfer: Surfer
    coupons: int
    start_offsets: Array
    edge_thresholds: Array
    teleport_thresholds: Array
    n_walks: int
    key: np.uint64
    stop: np.uint64
    dtype: Any


def plan_walks(surfer: Surfer, coupons: int, seed: int) -> WalkPlan:
    """Determine where coupons start, and the integers of their choices."""
    n_walks, xp = coupons * surfer.graph.n_vertices, surfer.xp
    offsets = np.empty(0, np.int64)
    if surfer.teleport is not None:
        offsets = np.concatenate([[0], np.cumsum(starts_of(surfer, n_walks))])
    mean, deviation = n_walks / surfer.reset, math.sqrt(n_walks * (1 - surfer.reset)) / surfer.reset
    return WalkPlan(
        surfer=surfer,
        coupons=coupons,
        start_offsets=to_namespace(xp, offsets),
        edge_thresholds=edge_thresholds(surfer),
        teleport_thresholds=to_namespace(xp, teleport_thresholds(surfer.teleport)),
        n_walks=n_walks,
        key=stream_key(seed, "pagerank"),
        stop=np.uint64(min(int(surfer.reset * 2.0**64), 2**64 - 1)),
        # Twenty standard deviations above the mean, even if all visits were to one vertex.
        dtype=np.uint32 if mean + 20 * deviation < 2.0**32 else np.uint64,
    )
