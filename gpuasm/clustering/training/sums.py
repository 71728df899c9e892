"""Sums of the rows that belong to each unit, in an order that depends on nothing but the rows."""

from __future__ import annotations

import math

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import for_each

_PIECE = 256
"""Rows that are added one after another; more rows of a unit make more pieces, which are then added in order."""


def unit_sums(rows: Array, unit: Array, n_units: int, *, has_missing: bool) -> Array:
    """Add up the rows of each unit, and count them.

    Parameters
    ----------
    rows : (n, d) float32
        NaN where a value is missing.
    unit : (n,) int32
        The unit of each row.
    n_units
        Units there are.
    has_missing
        Whether any value is NaN: then present values are counted column by column.

    Returns
    -------
    (n_units, d + 1) float64, the last column the number of rows; with missing values (n_units, 2 * d), the second half
    the number of values present. Rows are added in their order, in pieces of 256, and pieces in theirs: the same bits
    on every device.
    """
    xp = array_namespace(rows)
    n, d = rows.shape
    order = xp.argsort(unit, kind="stable")
    begin = xp.searchsorted(unit[order], xp.arange(n_units + 1, dtype=unit.dtype))
    pieces = (begin[1:] - begin[:-1] + (_PIECE - 1)) // _PIECE
    piece_begin = xp.zeros(n_units + 1, np.int64)
    piece_begin[1:] = xp.cumsum(pieces)
    most = n // _PIECE + min(n, n_units)  # no need to ask the device how many pieces there are
    unit_of = xp.searchsorted(piece_begin, xp.arange(most), side="right") - 1  # n_units beyond the last piece
    channels = 2 * d if has_missing else d + 1
    partial = xp.empty(most * channels, np.float64)
    flat = rows.reshape(-1)
    if has_missing:
        _add_present(most * d, flat, order, begin, piece_begin, unit_of, n_units, d, partial)
    else:
        _add_rows(most * channels, flat, order, begin, piece_begin, unit_of, n_units, d, partial)
    out = xp.empty(n_units * channels, np.float64)
    _add_pieces(n_units * channels, partial, piece_begin, channels, out)
    return out.reshape(n_units, channels)


@for_each
def _add_rows(i, rows, order, begin, piece_begin, unit_of, n_units, d, partial):
    piece = i // (d + 1)
    column = i % (d + 1)
    unit = unit_of[piece]
    if unit < n_units:
        first = begin[unit] + (piece - piece_begin[unit]) * _PIECE
        last = min(begin[unit + 1], first + _PIECE)
        if column == d:
            partial[i] = float(last - first)
        else:
            total = 0.0
            for j in range(first, last):
                total += rows[order[j] * d + column]
            partial[i] = total


@for_each
def _add_present(i, rows, order, begin, piece_begin, unit_of, n_units, d, partial):
    piece = i // d
    column = i % d
    unit = unit_of[piece]
    if unit < n_units:
        first = begin[unit] + (piece - piece_begin[unit]) * _PIECE
        last = min(begin[unit + 1], first + _PIECE)
        total = 0.0
        present = 0.0
        for j in range(first, last):
            value = rows[order[j] * d + column]
            if not math.isnan(value):
                total += value
                present += 1.0
        partial[piece * 2 * d + column] = total
        partial[piece * 2 * d + d + column] = present


@for_each
def _add_pieces(i, partial, piece_begin, channels, out):
    unit = i // channels
    total = 0.0
    for piece in range(piece_begin[unit], piece_begin[unit + 1]):
        total += partial[piece * channels + i % channels]
    out[i] = total
