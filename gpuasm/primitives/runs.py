"""Runs of equal values in an array, as keys that are sorted have them, and ranges of consecutive numbers."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace


def begins_run(values: Array) -> Array:
    """Return whether each value differs from the one before, the first one too: (n,) bool."""
    is_first = array_namespace(values).ones(values.size, bool)
    is_first[1:] = values[1:] != values[:-1]
    return is_first


def run_bounds(values: Array) -> Array:
    """Return where the runs of equal values begin, and the end of the last: (n_runs + 1,) int64."""
    xp = array_namespace(values)
    return xp.concatenate([xp.flatnonzero(begins_run(values)), xp.full(1, values.size)]).astype(np.int64)


def numbers_of_ranges(first: Array, count: Array) -> tuple[Array, Array]:
    """Return all numbers of some ranges, range by range, and the index of the range of each: int64.

    Parameters
    ----------
    first, count : (n,) int64
        First number of each range, and how many it has.
    """
    xp = array_namespace(first)
    end = xp.cumsum(count)
    place = xp.arange(int(end[-1]) if end.size else 0, dtype=np.int64)
    row = xp.searchsorted(end, place, side="right")
    return (first + count - end)[row] + place, row
