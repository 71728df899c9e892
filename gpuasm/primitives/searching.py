"""Search in sorted arrays, for bodies of `for_each` and compiled loops."""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import inlined


@inlined()
def run_of(place, start, n):
    """Return which of n > 0 runs a place lies in: ``start[run] <= place < start[run + 1]``; of empty runs the last."""
    low, high = np.int64(0), np.int64(n)
    while high - low > 1:
        middle = (low + high) >> 1
        if start[middle] <= place:
            low = middle
        else:
            high = middle
    return low


@inlined()
def first_not_below(value, values):
    """Return the first place of sorted values that is not below a value, as numpy's searchsorted, which loads scipy."""
    low, high = np.int64(0), np.int64(values.size)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
