"""Arrays that grow in place while blocks arrive, so that the reads are never held twice."""

from __future__ import annotations

from typing import Any

import numpy as np

_FIRST_CAPACITY = 1 << 16
_GROWTH = 1.5


class GrowingArray:
    """A one-dimensional array to append to; ``finish`` gives up the room left over.

    Growing reallocates: the system moves the pages of large arrays without copying, and pages never written cost
    nothing.
    """

    def __init__(self, dtype: Any) -> None:
        self._data = np.empty(_FIRST_CAPACITY, dtype)
        self.size = 0

    def append(self, values: np.ndarray) -> None:
        """Append the values."""
        needed = self.size + values.size
        if needed > self._data.size:
            self._data.resize(max(needed, int(self._data.size * _GROWTH)), refcheck=False)
        self._data[self.size : needed] = values
        self.size = needed

    def view(self) -> np.ndarray:
        """Return what is there so far; no view may be left when more is appended."""
        return self._data[: self.size]

    def finish(self) -> np.ndarray:
        """Return the array; nothing may be appended afterwards."""
        self._data.resize(self.size, refcheck=False)
        return self._data
