"""Best units on the CPU by distances as defined: differences of columns, a tile of units at a time."""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import compiled, inlined
from gpuasm.parallel import fused_multiply_add as fma
from gpuasm.threads import run_chunks

EUCLIDEAN, MANHATTAN, CHEBYSHEV = 0, 1, 2
_TILE = 256
"""Units of a tile, whose distances fit into the first-level cache."""


def best_two_direct(rows: np.ndarray, weights: np.ndarray, form: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the two nearest units of each row; see `gpuasm.clustering.search.search`.

    Parameters
    ----------
    rows, weights : (n, d) and (units, d) float32
        Rows may have NaN, which contributes nothing.
    form
        EUCLIDEAN (sums of squares), MANHATTAN or CHEBYSHEV.

    Returns
    -------
    units : (2, n) int32; values : (2, n) float32
    """
    n, d = rows.shape
    n_tiles = -(-weights.shape[0] // _TILE)
    tiles = np.zeros((n_tiles, d, _TILE), np.float32)
    for t in range(n_tiles):
        part = weights[t * _TILE : (t + 1) * _TILE]
        tiles[t, :, : part.shape[0]] = part.T
    has_missing = bool(np.isnan(rows).any())
    unit, value = np.full((2, n), -1, np.int32), np.full((2, n), np.inf, np.float32)
    run_chunks(_search, n, rows, tiles, weights.shape[0], form, has_missing, unit, value)
    return unit, value


@inlined()
def _insert(u, v, i, unit, value):
    """Keep the two least; units are in ascending order, so the lowest of ties is kept."""
    if v < value[0, i]:
        value[1, i] = value[0, i]
        unit[1, i] = unit[0, i]
        value[0, i] = v
        unit[0, i] = u
    elif v < value[1, i]:
        value[1, i] = v
        unit[1, i] = u


@compiled()
def _search(first, last, rows, tiles, n_units, form, has_missing, unit, value):
    total = np.empty(_TILE, np.float32)
    present = np.arange(rows.shape[1])
    n_present = present.size
    block = 64  # rows that use a tile while it is in the second-level cache
    for begin in range(first, last, block):
        for t in range(tiles.shape[0]):
            size = min(_TILE, n_units - t * _TILE)
            for i in range(begin, min(last, begin + block)):
                row = rows[i]
                if has_missing:
                    n_present = 0
                    for k in range(row.size):
                        if not np.isnan(row[k]):
                            present[n_present] = k
                            n_present += 1
                total[:] = np.float32(0)
                _distances(row, present[:n_present], tiles[t], form, total)
                bound = value[1, i]
                hits = 0
                for j in range(size):
                    hits += total[j] < bound
                if hits:
                    for j in range(size):
                        _insert(t * _TILE + j, total[j], i, unit, value)


@compiled()
def _distances(row, present, tile, form, total):
    """Add columns in ascending order, four in a pass; a pass adds them one by one, so the order of sums is the same."""
    k = 0
    if form == 0:
        while k + 4 <= present.size:
            a, b, c, d = present[k], present[k + 1], present[k + 2], present[k + 3]
            xa, xb, xc, xd = row[a], row[b], row[c], row[d]
            ta, tb, tc, td = tile[a], tile[b], tile[c], tile[d]
            for j in range(_TILE):
                da, db, dc, dd = xa - ta[j], xb - tb[j], xc - tc[j], xd - td[j]
                total[j] = fma(dd, dd, fma(dc, dc, fma(db, db, fma(da, da, total[j]))))
            k += 4
    while k < present.size:
        x, t = row[present[k]], tile[present[k]]
        if form == 0:
            for j in range(_TILE):
                total[j] = fma(x - t[j], x - t[j], total[j])
        elif form == 1:
            for j in range(_TILE):
                total[j] += abs(x - t[j])
        else:
            for j in range(_TILE):
                total[j] = max(total[j], abs(x - t[j]))
        k += 1
