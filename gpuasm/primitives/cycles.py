"""Cycles of a permutation: which cycle each element is on, and how far along."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import compiled


@dataclass(frozen=True)
class Cycles:
    """The cycles of a permutation, named after their least elements.

    Attributes
    ----------
    label : (m,) int32 or int64
        Least element of each element's cycle.
    rank : (m,) int32 or int64
        Steps from the least element to each element.
    leader : (c,) int64, ascending
        The least element of each cycle.
    size : (c,) int64
        Elements of each cycle.
    """

    label: Array
    rank: Array
    leader: Array
    size: Array

    @property
    def n(self) -> int:
        return int(self.leader.size)

    def order(self) -> Array:
        """Return (m,): all elements, cycle after cycle by leader, each from its leader on."""
        xp = array_namespace(self.label)
        start = xp.cumsum(self.size) - self.size
        out = xp.empty(self.label.size, self.label.dtype)
        if self.n == 1:
            out[self.rank] = xp.arange(self.label.size, dtype=self.label.dtype)
            return out
        start_of = xp.zeros(self.label.size, self.label.dtype)
        start_of[self.leader] = start.astype(self.label.dtype)
        out[start_of[self.label] + self.rank] = xp.arange(self.label.size, dtype=self.label.dtype)
        return out


def rank_cycles(successor: Array) -> Cycles:
    """Find the cycles of a permutation: one walk on the CPU, sampled list ranking on CUDA.

    On CUDA about one element in 32 starts a walk to the next such element; the walks form a permutation of their own,
    small enough to be ranked by pointer doubling in the cache; cycles that no walk meets are short and are walked by
    whoever finds out that it is their least element (after Wei and JaJa 2010, doi:10.1109/IPDPS.2010.5470368).

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
    from gpuasm.primitives.cycles_cuda import rank_cycles_cuda  # noqa: PLC0415 - only where there is a device

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
