"""Sums of the rows of each unit, in an order that depends only on the rows."""

from __future__ import annotations

import math

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import for_each

_BLOCK = 256
"""Rows of a block; the rows of a unit are added in blocks, and the blocks in order."""


def unit_sums(rows: Array, unit: Array, n_units: int, *, has_missing: bool) -> Array:
    """Add up the rows of each unit, and count them.

    Parameters
    ----------
    rows : (n, d) float32
        NaN for missing values.
    unit : (n,) int32
        The unit of each row.
    n_units
        Number of units.
    has_missing
        Whether any value is NaN: then present values are counted by column.

    Returns
    -------
    (n_units, d + 1) float64, the last column the number of rows; with missing values (n_units, 2 * d), the second half
    the number of values present. Rows are added in their order, in blocks of 256, and blocks in theirs: the same bits
    on every device.
    """
    xp = array_namespace(rows)
    n, d = rows.shape
    order = xp.argsort(unit, kind="stable")
    begin = xp.searchsorted(unit[order], xp.arange(n_units + 1, dtype=unit.dtype))
    blocks = (begin[1:] - begin[:-1] + (_BLOCK - 1)) // _BLOCK
    block_begin = xp.zeros(n_units + 1, np.int64)
    block_begin[1:] = xp.cumsum(blocks)
    most = n // _BLOCK + min(n, n_units)  # avoids a transfer of the number of blocks
    unit_of = xp.searchsorted(block_begin, xp.arange(most), side="right") - 1  # n_units beyond the last block
    channels = 2 * d if has_missing else d + 1
    partial = xp.empty(most * channels, np.float64)
    flat = rows.reshape(-1)
    if has_missing:
        _add_present(most * d, flat, order, begin, block_begin, unit_of, n_units, d, partial)
    else:
        _add_rows(most * channels, flat, order, begin, block_begin, unit_of, n_units, d, partial)
    out = xp.empty(n_units * channels, np.float64)
    _add_blocks(n_units * channels, partial, block_begin, channels, out)
    return out.reshape(n_units, channels)


@for_each
def _add_rows(i, rows, order, begin, block_begin, unit_of, n_units, d, partial):
    block = i // (d + 1)
    column = i % (d + 1)
    unit = unit_of[block]
    if unit < n_units:
        first = begin[unit] + (block - block_begin[unit]) * _BLOCK
        last = min(begin[unit + 1], first + _BLOCK)
        if column == d:
            partial[i] = float(last - first)
        else:
            total = 0.0
            for j in range(first, last):
                total += rows[order[j] * d + column]
            partial[i] = total


@for_each
def _add_present(i, rows, order, begin, block_begin, unit_of, n_units, d, partial):
    block = i // d
    column = i % d
    unit = unit_of[block]
    if unit < n_units:
        first = begin[unit] + (block - block_begin[unit]) * _BLOCK
        last = min(begin[unit + 1], first + _BLOCK)
        total = 0.0
        present = 0.0
        for j in range(first, last):
            value = rows[order[j] * d + column]
            if not math.isnan(value):
                total += value
                present += 1.0
        partial[block * 2 * d + column] = total
        partial[block * 2 * d + d + column] = present


@for_each
def _add_blocks(i, partial, block_begin, channels, out):
    unit = i // channels
    total = 0.0
    for block in range(block_begin[unit], block_begin[unit + 1]):
        total += partial[block * channels + i % channels]
    out[i] = total
