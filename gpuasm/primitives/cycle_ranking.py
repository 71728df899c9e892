"""Rank the elements of a permutation in its cycles, on the CPU or on CUDA."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import compiled
from gpuasm.primitives.cycles import Cycles


def rank_cycles(successor: Array) -> Cycles:
    """Find the cycles of a permutation: one walk on the CPU, sampled list ranking on CUDA.

    On CUDA about one element in 32 starts a walk to the next such element. The walks form a permutation small enough to
    be ranked by pointer doubling in the cache. Cycles without a walk are short: their least elements walk them (after
    Wei and JaJa 2010, doi:10.1109/IPDPS.2010.5470368).

    Parameters
    ----------
    successor : (m,) int32 or int64
        A permutation of 0 .. m - 1.

    Returns
    -------
    Cycles, the same on every device.
    """
    if array_namespace(successor) is np:
        label, rank = np.full(successor.size, -1, successor.dtype), np.empty_like(successor)
        leader, size = _walk(successor, label, rank)
        return Cycles(label, rank, leader, size)
    from gpuasm.primitives.cycle_ranking_cuda import rank_cycles_cuda  # noqa: PLC0415 - only where there is a device

    return rank_cycles_cuda(successor)


@compiled()
def _walk(successor, label, rank):
    n_cycles = 0
    leader = np.empty(1024, np.int64)
    size = np.empty(1024, np.int64)
    for first in range(successor.size):
        if label[first] >= 0:
            continue
        element, steps = first, 0
        while label[element] < 0:
            label[element] = first
            rank[element] = steps
            steps += 1
            element = np.int64(successor[element])
        if n_cycles == leader.size:
            leader = np.concatenate((leader, np.empty_like(leader)))
            size = np.concatenate((size, np.empty_like(size)))
        leader[n_cycles], size[n_cycles] = first, steps
        n_cycles += 1
    return leader[:n_cycles].copy(), size[:n_cycles].copy()
