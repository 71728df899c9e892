"""Random walks on the CPU: each thread processes a range of the coupons with its own visits.

A thread moves several coupons alternately. Each step has two dependent memory reads, the bounds of a row and an edge;
with several walks the processor overlaps these reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuasm.parallel import compiled
from gpuasm.primitives.randomness import random_bits
from gpuasm.ranking.thresholds import first_above, high_product
from gpuasm.threads import ordered_map, thread_count

if TYPE_CHECKING:
    from gpuasm.ranking.walk_plan import WalkPlan

_FEWEST_WALKS = 1 << 12  # of a thread


def walk_cpu(plan: WalkPlan) -> tuple[np.ndarray, np.ndarray]:
    """Walk all coupons until they stop.

    Returns
    -------
    visits : (n,) of the plan's type
        Visits of all coupons, without their starts.
    returns : (n,) of the plan's type
        Returns of coupons to their start vertex.
    """
    n, graph = plan.surfer.graph.n_vertices, plan.surfer.graph
    n_parts = max(1, min(thread_count(), plan.n_walks // _FEWEST_WALKS))
    bounds = np.linspace(0, plan.n_walks, n_parts + 1).astype(np.int64)
    arrays = graph.row_offsets, graph.columns, plan.edge_thresholds, plan.start_offsets, plan.teleport_thresholds
    visits, returns = np.zeros(n, plan.dtype), np.zeros(n, plan.dtype)

    def walk(part: int) -> tuple[int, np.ndarray, np.ndarray]:
        first, last = bounds[part], bounds[part + 1]
        start, end = (_start_of(plan, int(coupon)) for coupon in (first, last - 1))
        own_visits, own_returns = np.zeros(n, plan.dtype), np.zeros(end - start + 1, plan.dtype)
        _walk(first, last, start, *arrays, plan.coupons, plan.key, plan.stop, own_visits, own_returns)
        return start, own_visits, own_returns

    for start, own_visits, own_returns in ordered_map(walk, range(n_parts if plan.n_walks else 0)):
        visits += own_visits
        returns[start : start + own_returns.size] += own_returns
    return visits, returns


def _start_of(plan: WalkPlan, coupon: int) -> int:
    """Return the start vertex of a coupon."""
    if plan.start_offsets.size == 0:
        return coupon // plan.coupons
    return int(np.searchsorted(plan.start_offsets, coupon, side="right")) - 1


_LANES = 64
_ONE, _TWO = np.uint64(1), np.uint64(2)


@compiled()
def _walk(
    coupon,
    last,
    first_start,
    row_offsets,
    columns,
    edge_thresholds,
    start_offsets,
    teleport_thresholds,
    coupons,
    key,
    stop,
    visits,
    returns,
):
    n, n_walking = np.uint64(row_offsets.size - 1), min(_LANES, last - coupon)
    at, start, edge = np.empty(_LANES, np.int64), np.empty(_LANES, np.int64), np.empty(_LANES, np.int64)
    own_key, bits, clock = np.empty(_LANES, np.uint64), np.empty(_LANES, np.uint64), np.empty(_LANES, np.uint64)
    vertex = first_start
    for lane in range(n_walking):
        vertex, own_key[lane] = _begin(coupon, vertex, start_offsets, coupons, key)
        at[lane] = start[lane] = vertex
        clock[lane] = 0
        coupon += 1
    while n_walking > 0:
        lane = 0
        while lane < n_walking:
            if random_bits(own_key[lane], clock[lane]) >= stop:
                bits[lane] = random_bits(own_key[lane], clock[lane] + _ONE)
                clock[lane] += _TWO
                lane += 1
            elif coupon < last:
                vertex, own_key[lane] = _begin(coupon, vertex, start_offsets, coupons, key)
                at[lane] = start[lane] = vertex
                clock[lane] = 0
                coupon += 1
            else:
                n_walking -= 1
                at[lane], start[lane] = at[n_walking], start[n_walking]
                own_key[lane], clock[lane] = own_key[n_walking], clock[n_walking]
        for lane in range(n_walking):
            edge[lane] = _choose(row_offsets, edge_thresholds, at[lane], bits[lane])
        for lane in range(n_walking):
            if edge[lane] >= 0:
                at[lane] = columns[edge[lane]]
            elif teleport_thresholds.size:
                share = high_product(bits[lane], teleport_thresholds[-1])
                at[lane] = first_above(teleport_thresholds, 0, teleport_thresholds.size, share)
            else:
                at[lane] = high_product(bits[lane], n)
        for lane in range(n_walking):
            visits[at[lane]] += 1
            if at[lane] == start[lane]:
                returns[at[lane] - first_start] += 1


@compiled()
def _begin(coupon, vertex, start_offsets, coupons, key):
    """Return the start of a coupon, at ``vertex`` or after it, and the key of its random numbers."""
    if start_offsets.size == 0:
        vertex = coupon // coupons
        number = coupon % coupons
    else:
        while start_offsets[vertex + 1] <= coupon:
            vertex += 1
        number = coupon - start_offsets[vertex]
    return vertex, random_bits(random_bits(key, np.uint64(vertex)), np.uint64(number))


@compiled()
def _choose(row_offsets, edge_thresholds, vertex, bits):
    """Return the outgoing edge of a vertex that random bits choose; -1 if there is none."""
    first, last = row_offsets[vertex], row_offsets[vertex + 1]
    if first == last:
        return np.int64(-1)
    if edge_thresholds.size == 0:
        return first + np.int64(high_product(bits, np.uint64(last - first)))
    total = edge_thresholds[last - 1]
    if total == 0:
        return np.int64(-1)
    return np.int64(first_above(edge_thresholds, first, last, high_product(bits, total)))
