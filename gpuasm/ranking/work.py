"""Work of each thread in random walks, distributed by vertex or by coupon.

With a thread for each vertex, the work of a thread is the visits of its vertex. With coupons distributed cyclically, it
is the visits of its coupons. The threads of a warp run in lockstep: the slowest determines the time.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.checks import array_of, whole
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.parallel import for_each
from gpuasm.primitives.randomness import random_bits
from gpuasm.ranking.teleport import DEFAULT_RESET, make_surfer
from gpuasm.ranking.walk_plan import plan_walks
from gpuasm.ranking.walks import DEFAULT_COUPONS

WARP = 32
"""Threads of a CUDA warp."""


def work_by_coupon(
    graph: DirectedGraph,
    *,
    n_threads: int,
    coupons: int = DEFAULT_COUPONS,
    seed: int = 0,
    teleport: Array | None = None,
    reset: float = DEFAULT_RESET,
) -> Array:
    """Return the visits of each thread's coupons, including starts, (n_threads,) int64.

    Thread i takes the coupons i, i + n_threads and so on, as `random_walks` does on a device, with the same random
    numbers; the length of a walk does not depend on its vertices. The sum is that of the visits.

    Parameters
    ----------
    graph
        On the host or a device, which does the work.
    n_threads
        Number of threads.
    coupons, seed, teleport, reset
        As in `random_walks`.
    """
    whole(n_threads, "n_threads", least=1, most=1 << 40)
    whole(coupons, "coupons", least=1, most=1 << 40)
    plan = plan_walks(make_surfer(graph, teleport=teleport, reset=reset), coupons, seed)
    xp = plan.surfer.xp
    work = xp.zeros(n_threads, np.int64)
    offsets = plan.start_offsets if plan.start_offsets.size else xp.zeros(1, np.int64)
    kind = 0 if plan.start_offsets.size else coupons
    _follow(n_threads, n_threads, plan.n_walks, kind, offsets, offsets.size - 1, plan.key, plan.stop, work)
    return work


def idle_share(work: Array) -> float:
    """Return the share of the time in which threads wait for the slowest of their warp, between 0 and 1."""
    array_of(work, "the work of each thread", "iu", (None,))
    xp = array_namespace(work)
    padded = xp.zeros(-(-work.size // WARP) * WARP, np.int64)
    padded[: work.size] = work
    slowest = int(padded.reshape(-1, WARP).max(axis=1).sum()) * WARP
    return 1.0 - int(work.sum()) / slowest if slowest else 0.0


@for_each
def _follow(thread, n_threads, n_walks, coupons, start_offsets, n, key, stop, work):
    n_visits = 0
    for coupon in range(thread, n_walks, n_threads):
        if coupons > 0:
            start = coupon // coupons
            number = coupon % coupons
        else:
            start, last = 0, n - 1  # the last vertex whose first coupon is this one or an earlier one
            while start < last:
                middle = (start + last + 1) >> 1
                if start_offsets[middle] <= coupon:
                    start = middle
                else:
                    last = middle - 1
            number = coupon - start_offsets[start]
        own_key = random_bits(random_bits(key, np.uint64(start)), np.uint64(number))
        clock = np.uint64(0)
        n_visits += 1
        while random_bits(own_key, clock) >= stop:
            clock += np.uint64(2)
            n_visits += 1
    work[thread] = n_visits
