"""Smooth sums of rows over a map: each unit gets the weighted sum of all units' sums.

Sums are float64, added in ascending order of source units along each axis and never contracted into fused
multiply-adds: CPU and CUDA give the same bits. Terms of zero weight may be skipped.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.training.neighbourhood import Neighbourhood, Term
from gpuasm.parallel import compiled, inlined
from gpuasm.threads import run_chunks


def smooth(sums: Array, grid: MapGrid, weights: Neighbourhood) -> Array:
    """Return, for each unit u, the sum over all units s of weight(u, s) * sums[s].

    Parameters
    ----------
    sums : (units, channels) float64
    grid
        The map.
    weights
        From `neighbourhood_of`, for the same map.

    Returns
    -------
    (units, channels) float64, in the memory of ``sums``.
    """
    xp = array_namespace(sums)
    if weights.table is None:
        return smooth_terms(sums, grid, weights.terms)
    if xp is not np:
        from gpuasm.clustering.training.smoothing_cuda import smooth_table_cuda  # noqa: PLC0415 - only where there is a device

        return smooth_table_cuda(sums, grid, weights)
    out = np.zeros_like(sums)
    run_chunks(
        _by_table, grid.n_units, sums, weights.table, (grid.rows, grid.columns),
        (weights.row_reach, weights.column_reach), grid.is_toroidal, out,
    )  # fmt: skip
    return out


def smooth_terms(sums: Array, grid: MapGrid, terms: tuple[Term, ...]) -> Array:
    """Return the sum over the terms of smoothing along columns, then along rows; see `smooth`."""
    if array_namespace(sums) is not np:
        from gpuasm.clustering.training.smoothing_cuda import smooth_terms_cuda  # noqa: PLC0415 - only where there is a device

        return smooth_terms_cuda(sums, grid, terms)
    shape = grid.rows, grid.columns
    parities = 2 if grid.is_hexagonal else 1
    out = np.zeros_like(sums)
    across = np.empty((parities, *sums.shape))
    for term in terms:
        run_chunks(
            _along_columns, parities * grid.n_units, sums, term.along_columns, shape, term.column_reach,
            grid.is_toroidal, across,
        )  # fmt: skip
        run_chunks(_along_rows, grid.n_units, across, term.along_rows, shape, term.row_reach, grid.is_toroidal, out)
    return out


@inlined()
def window(at, reach, length, wraps):
    """Return two intervals, ascending: the positions within ``reach`` of ``at`` on an axis or a ring."""
    if wraps:
        if 2 * reach + 1 >= length:
            return 0, length, length, length
        if at < reach:
            return 0, at + reach + 1, length + at - reach, length
        if at + reach >= length:
            return 0, at + reach + 1 - length, at - reach, length
    return max(0, at - reach), min(length, at + reach + 1), length, length


@compiled()
def _along_columns(first, last, sums, factors, shape, reach, wraps, across):
    rows, columns = shape
    for i in range(first, last):
        other, unit = i // (rows * columns), i % (rows * columns)
        row, column = unit // columns, unit % columns
        shift = other * (1 + row % 2)
        total = across[other, unit]
        total[:] = 0.0
        low, middle, far, end = window(column, reach, columns, wraps)
        for k in range(middle - low + end - far):
            source = low + k if k < middle - low else far + k - (middle - low)
            factor = factors[shift, column - source + columns - 1]
            values = sums[row * columns + source]
            for c in range(total.size):
                total[c] += factor * values[c]


@compiled()
def _along_rows(first, last, across, factors, shape, reach, wraps, out):
    rows, columns = shape
    for unit in range(first, last):
        row, column = unit // columns, unit % columns
        total = out[unit]
        low, middle, far, end = window(row, reach, rows, wraps)
        for k in range(middle - low + end - far):
            source = low + k if k < middle - low else far + k - (middle - low)
            factor = factors[row - source + rows - 1]
            other = (row ^ source) & 1 if across.shape[0] == 2 else 0
            values = across[other, source * columns + column]
            for c in range(total.size):
                total[c] += factor * values[c]


@compiled()
def _by_table(first, last, sums, table, shape, reaches, wraps, out):
    rows, columns = shape
    for unit in range(first, last):
        row, column = unit // columns, unit % columns
        total = out[unit]
        low, middle, far, end = window(row, reaches[0], rows, wraps)
        left, centre, right, edge = window(column, reaches[1], columns, wraps)
        for k in range(middle - low + end - far):
            source_row = low + k if k < middle - low else far + k - (middle - low)
            factors = table[row % 2, row - source_row + rows - 1]
            for j in range(centre - left + edge - right):
                source = left + j if j < centre - left else right + j - (centre - left)
                factor = factors[column - source + columns - 1]
                if factor != 0.0:
                    values = sums[source_row * columns + source]
                    for c in range(total.size):
                        total[c] += factor * values[c]
