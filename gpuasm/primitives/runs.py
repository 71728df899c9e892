"""Runs of equal values in an array, as keys that are sorted have them, and ranges of places."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import for_each, signatures


def begins_run(values: Array) -> Array:
    """Return whether each value differs from the one before, the first one too: (n,) bool."""
    is_first = array_namespace(values).ones(values.size, bool)
    is_first[1:] = values[1:] != values[:-1]
    return is_first


def run_bounds(values: Array) -> Array:
    """Return where the runs of equal values begin, and the end of the last: (n_runs + 1,) int64."""
    xp = array_namespace(values)
    return xp.concatenate([xp.flatnonzero(begins_run(values)), xp.full(1, values.size)]).astype(np.int64)


def occurrences(values: Array) -> tuple[Array, Array]:
    """Return the distinct values, ascending, and how often each occurs: (n,) int64 each."""
    values = array_namespace(values).sort(values)
    bounds = run_bounds(values)
    return values[bounds[:-1]], bounds[1:] - bounds[:-1]


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


def values_of_ranges(values: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the values in ranges of places, range by range, copied by all threads; on the host.

    Parameters
    ----------
    values : (n,) uint8, int32 or bool
    begin, end : (m,) int64
        First place of each range, and the place behind its last.
    """
    values, begin, end = (np.ascontiguousarray(column) for column in (values, begin, end))
    last = np.cumsum(end - begin)
    copied = np.empty(int(last[-1]) if last.size else 0, values.dtype)
    _copy_ranges(begin.size, values, begin, end, last, copied)
    return copied


@signatures(
    "uint8[::1], int64[::1], int64[::1], int64[::1], uint8[::1]",
    "int32[::1], int64[::1], int64[::1], int64[::1], int32[::1]",
    "boolean[::1], int64[::1], int64[::1], int64[::1], boolean[::1]",
    on="host",
)
@for_each
def _copy_ranges(row, values, begin, end, last, copied):
    first, to = np.uint64(begin[row]), np.uint64(last[row] - end[row] + begin[row])
    for i in range(np.uint64(end[row] - begin[row])):  # unsigned, so that the loop is vectorised
        copied[to + i] = values[first + i]


def mark_ranges(begin: np.ndarray, end: np.ndarray, size: int) -> np.ndarray:
    """Mark the places of ranges, from ``begin`` on and before ``end``, (m,) int64 each: (size,) bool, on the host."""
    is_within = np.zeros(size, bool)
    _mark_range(begin.size, np.ascontiguousarray(begin), np.ascontiguousarray(end), is_within)
    return is_within


@signatures("int64[::1], int64[::1], boolean[::1]", on="host")
@for_each
def _mark_range(row, begin, end, is_within):
    first = np.uint64(begin[row])
    for i in range(np.uint64(max(np.int64(0), end[row] - begin[row]))):  # unsigned, so that the loop is vectorised
        is_within[first + i] = True  # all threads write the same
