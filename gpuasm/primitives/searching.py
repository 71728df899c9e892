"""Search in sorted arrays, for bodies of `for_each` and compiled loops."""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import inlined


@inlined()
def run_of(place, start, n):
    """Return the run, of n > 0, of a position: ``start[run] <= place < start[run + 1]``; of empty runs the last."""
    low, high = np.int64(0), np.int64(n)
    while high - low > 1:
        middle = (low + high) >> 1
        if start[middle] <= place:
            low = middle
        else:
            high = middle
    return low


@inlined()
def first_not_below(value, values, n):
    """Return the first position of n sorted values not below a value, like numpy's searchsorted."""
    low, high = np.int64(0), np.int64(n)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
