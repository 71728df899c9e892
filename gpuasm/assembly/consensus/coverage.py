"""How often each base of the contigs is covered by intervals of the targets' text, round circles too."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.consensus.targets import Targets


class Coverage:
    """Counts how many intervals cover each place; sums of integers, so that their order cannot matter.

    Parameters
    ----------
    targets
        What the intervals lie on.
    xp
        Where the counts are kept.
    """

    def __init__(self, targets: Targets, xp: Any) -> None:
        self._difference = xp.zeros(targets.n_places + 1, np.int32)
        names = ("start", "size", "is_circular", "offset")
        self._start, self._size, self._closed, self._offset = (to_namespace(xp, getattr(targets, n)) for n in names)

    def add(self, target: Array, begin: Array, end: Array) -> None:
        """Count intervals.

        Parameters
        ----------
        target : (n,) int32
        begin, end : (n,) int64
            Text positions; intervals without a base count nothing.
        """
        xp = array_namespace(begin)
        kept = xp.flatnonzero(end > begin)
        target, begin, length = target[kept], begin[kept], (end - begin)[kept]
        first, size = self._offset[target], self._size[target]
        closed = self._closed[target]
        begin = begin - self._start[target]
        begin = xp.where(closed, begin % size, begin)
        # Round a circle: as many whole rounds as there are, then what goes beyond the origin from there on.
        rounds = xp.where(closed, length // size, 0)
        end = begin + length - rounds * size
        beyond = closed & (end > size)
        rounds += beyond
        end = xp.where(beyond, end - size, end)
        xp.add.at(self._difference, first + begin, np.int32(1))
        xp.add.at(self._difference, first + end, np.int32(-1))
        several = xp.flatnonzero(rounds)
        rounds = rounds[several].astype(np.int32)
        xp.add.at(self._difference, first[several], rounds)
        xp.add.at(self._difference, (first + size)[several], -rounds)

    def counts(self) -> Array:
        """Return the (n_places,) int32 counts so far."""
        xp = array_namespace(self._difference)
        return xp.cumsum(self._difference[:-1], dtype=np.int32)
