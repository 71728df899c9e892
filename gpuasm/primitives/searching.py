"""Search in sorted arrays: for many values at once, and for bodies of `for_each` and compiled loops."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import inlined

BLOCK_BITS = 4
"""A block has 2^4 positions: few runs begin in one, and its table takes a quarter of a byte for each position."""


def places_among(values: Array, ascending: Array) -> tuple[Array, Array]:
    """Return the first place of each value among ascending ones, and whether it is there.

    Parameters
    ----------
    values : (n,) of any type
    ascending : (m,) of the same type

    Returns
    -------
    (n,) int64, a place of any value or 0 where the value is not there; and (n,) bool.
    """
    xp = array_namespace(values)
    place = xp.minimum(xp.searchsorted(ascending, values), max(0, ascending.size - 1))
    return place, ascending[place] == values if ascending.size else xp.zeros(values.size, bool)


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


def runs_of_blocks(start: Array, n_positions: int) -> Array:
    """Return the run of the first position of each block, 0 before the first run: (n_blocks,) int32.

    Parameters
    ----------
    start : (n_runs + 1,) int64
        Where runs begin, ascending; the last one is the end of all.
    n_positions
        Positions that the blocks cover.
    """
    xp = array_namespace(start)
    first = xp.arange(0, n_positions, 1 << BLOCK_BITS, dtype=np.int64)
    return xp.maximum(xp.searchsorted(start[:-1], first, side="right") - 1, 0).astype(np.int32)


@inlined()
def run_in_block(place, start, blocks):
    """Return the run of a position below the last start, as `run_of`, by the table of `runs_of_blocks`."""
    run = np.int64(blocks[place >> BLOCK_BITS])
    while start[run + 1] <= place:
        run += 1
    return run


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
