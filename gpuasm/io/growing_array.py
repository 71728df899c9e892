"""Arrays that grow in place while blocks arrive, so that the reads are never held twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.io.memory_bound import MemoryBound

_FIRST_CAPACITY = 1 << 16
_GROWTH = 1.5


class GrowingArray:
    """A one-dimensional array to append to; ``finish`` gives up the room left over.

    Growing reallocates: the system moves the pages of large arrays without copying, and pages never written cost
    nothing.

    Parameters
    ----------
    dtype
        Of the array.
    bound
        Checked before the array grows; none for arrays that others bound.
    """

    def __init__(self, dtype: Any, bound: MemoryBound | None = None) -> None:
        self._data = np.empty(_FIRST_CAPACITY, dtype)
        self._bound = bound
        self.size = 0

    def append(self, values: np.ndarray) -> None:
        """Append the values.

        Raises
        ------
        ResourceError
            If the bound does not allow the memory.
        """
        self.extend(values.size)[:] = values

    def extend(self, n: int) -> np.ndarray:
        """Append n values of anything, and return the view of them to write to; see `append`."""
        needed = self.size + n
        if needed > self._data.size:
            size = max(needed, int(self._data.size * _GROWTH))
            if self._bound is not None:
                self._bound.require((size - self._data.size) * self._data.itemsize)
            self._data.resize(size, refcheck=False)
        added = self._data[self.size : needed]
        self.size = needed
        return added

    def view(self) -> np.ndarray:
        """Return what is there so far; no view may be left when more is appended."""
        return self._data[: self.size]

    def finish(self) -> np.ndarray:
        """Return the array; nothing may be appended afterwards."""
        self._data.resize(self.size, refcheck=False)
        return self._data
