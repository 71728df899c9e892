"""Cycles of a permutation: the cycle of each element, and its position there."""

from __future__ import annotations

from dataclasses import dataclass

from gpuasm.arrays import Array, array_namespace


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
        """Return (m,): all elements, cycle after cycle in the order of leaders, each from its leader on."""
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
