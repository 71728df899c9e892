"""The two nearest units of each row on CUDA, without storing the matrix of distances; see `search`.

One kernel (`search_kernels`) is used for every metric: a block compares 128 rows with tiles of 128 units, a thread has
8 x 8 of these pairs in registers, and both are read through shared memory, eight columns at a time. Each thread keeps
the least values of its eight rows and merges them once for each tile. Each column adds to a pair the fused multiply-add
of the difference, which defines the Euclidean distance; or of the product, half the work, for a screening that selects
a few units to be measured. Screening is faster if units are far enough apart, which a sample of the rows determines.
"""

from __future__ import annotations

from math import gcd

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions, multiprocessor_count
from gpuasm.clustering.search.direct_cpu import CHEBYSHEV, EUCLIDEAN, MANHATTAN
from gpuasm.clustering.search.screening import squared_lengths
from gpuasm.clustering.search.search_kernels import SCREENED, TILE, search_source, shared_bytes

_DEPTH = 8
_BLOCKS_PER_MULTIPROCESSOR = 2
_MOST_PARTS = 64
_NAMES = {EUCLIDEAN: "euclidean", MANHATTAN: "manhattan", CHEBYSHEV: "chebyshev"}
_INFINITY = 0x7F800000
"""The bits of an infinite float32."""
_SCREEN_FROM = 32
"""Least number of columns for which the measurement after a screening is cheap compared with the screening."""
_SAMPLE = 32 * TILE
_UNSURE_AT_MOST = 0.2
"""Greatest share of uncertain rows: a screening costs about half of a measurement, so more would save little."""


class RowsOnDevice:
    """Rows prepared for searches with several sets of weights.

    Parameters
    ----------
    rows : (n, d) float32
        On a device; NaN for missing values.
    form
        EUCLIDEAN, MANHATTAN or CHEBYSHEV.
    has_missing
        Whether any value is NaN.
    """

    def __init__(self, rows: Array, *, form: int, has_missing: bool) -> None:
        self._direct = _Direct(rows, _NAMES[form] + ("_missing" if has_missing else ""))
        screens = form == EUCLIDEAN and not has_missing and rows.shape[1] >= _SCREEN_FROM
        self._screen = _Screen(rows) if screens and rows.shape[0] >= 4 * _SAMPLE else None

    def best_two(self, weights: Array) -> tuple[Array, Array]:
        """Find the two nearest units of each row; see `gpuasm.clustering.search.search.Searcher`."""
        if self._screen is None:
            return self._direct.best_two(weights)
        self._screen.prepare(weights)
        if self._screen.share_unsure() > _UNSURE_AT_MOST:
            return self._direct.best_two(weights)
        unsure, out = self._screen.best_two()
        return self._direct.best_two(weights, only=unsure, out=out) if unsure.size else out


class _Direct:
    """Measure every unit, as distances are defined."""

    def __init__(self, rows: Array, variant: str) -> None:
        self._xp, self._shape = array_namespace(rows), rows.shape
        self._columns = columns_first(rows)
        self._variant = variant

    def best_two(
        self, weights: Array, *, only: Array | None = None, out: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        """Search for all rows, or only for those of a list, int32, whose earlier results are overwritten."""
        xp, (n_rows, d) = self._xp, self._shape
        if out is None:
            out = xp.empty((2, n_rows), np.int32), xp.empty((2, n_rows), np.float32)
        name = "search" if only is None else "search_listed"
        search, merge = cuda_functions(search_source(self._variant), name, "merge")
        plan = _Plan(n_rows if only is None else int(only.size), weights.shape[0])
        value, unit = (
            xp.empty((plan.n_parts, 2, plan.stride), np.float32),
            xp.empty((plan.n_parts, 2, plan.stride), np.int32),
        )
        nothing, bounds = xp.zeros(1, np.float64), xp.full(2 * plan.stride, _INFINITY, np.uint32)
        some = nothing if only is None else only
        listed = (some, np.int32(only is not None), np.int32(plan.n))
        tiles = unit_tiles(weights)
        search.max_dynamic_shared_size_bytes = shared_bytes(self._variant)
        search(
            plan.grid, (256,),
            (self._columns, np.int64(self._columns.shape[1]), tiles, np.int64(tiles.shape[1]), nothing, np.int32(d),
             np.int32(weights.shape[0]), np.int32(plan.n_tiles), np.int32(plan.tiles_per_part), plan.leap, some,
             np.int32(plan.n), nothing, nothing, bounds, value, unit, nothing),
            shared_mem=shared_bytes(self._variant),
        )  # fmt: skip
        merge(
            ((plan.n + 127) // 128,), (128,),
            (value, unit, np.int32(plan.n_parts), np.int64(plan.stride), *listed, np.int64(n_rows), *out),
        )  # fmt: skip
        return out


class _Screen:
    """Select a few units for each row by scalar products, and measure these."""

    def __init__(self, rows: Array) -> None:
        self._xp, self._rows = array_namespace(rows), rows
        self._centre = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
        centred = rows - self._centre
        self._norms = self._xp.sqrt(squared_lengths(centred))
        self._columns = columns_first(centred)
        n = rows.shape[0]
        self._sample = self._xp.asarray((np.arange(_SAMPLE) * n // _SAMPLE).astype(np.int32))

    def prepare(self, weights: Array) -> None:
        """Arrange the weights."""
        xp = self._xp
        shifted = weights - self._centre
        squares = squared_lengths(shifted)
        self._weights, self._tiles = weights, unit_tiles(shifted)
        self._largest = xp.sqrt(squares.max()).reshape(1)
        self._halves = xp.full(self._tiles.shape[1], np.inf, np.float32)
        self._halves[: squares.size] = 0.5 * squares

    def share_unsure(self) -> float:
        """Return the share of a sample of the rows whose best units are uncertain."""
        return float(self._run(self._sample)[0].mean())

    def best_two(self) -> tuple[Array, tuple[Array, Array]]:
        """Return the rows whose best units are uncertain, int32, and the results for all."""
        is_unsure, out = self._run(None)
        return self._xp.flatnonzero(is_unsure).astype(np.int32), out

    def _run(self, only: Array | None) -> tuple[Array, tuple[Array, Array]]:
        xp, (n_rows, d) = self._xp, self._rows.shape
        name = "search" if only is None else "search_listed"
        search, measure = cuda_functions(search_source("screen"), name, "measure")
        plan = _Plan(n_rows if only is None else int(only.size), self._weights.shape[0])
        shape = (plan.n_parts, SCREENED, plan.stride)
        value, unit = xp.empty(shape, np.float32), xp.empty(shape, np.int32)
        count, is_unsure = xp.empty((plan.n_parts, plan.stride), np.int32), xp.empty(plan.n, bool)
        out = xp.empty((2, n_rows), np.int32), xp.empty((2, n_rows), np.float32)
        some = count if only is None else only
        listed = (some, np.int32(only is not None), np.int32(plan.n))
        search.max_dynamic_shared_size_bytes = shared_bytes("screen")
        search(
            plan.grid, (256,),
            (self._columns, np.int64(self._columns.shape[1]), self._tiles, np.int64(self._tiles.shape[1]), self._halves,
             np.int32(d), np.int32(self._weights.shape[0]), np.int32(plan.n_tiles), np.int32(plan.tiles_per_part),
             plan.leap, some, np.int32(plan.n), self._norms, self._largest, count, value, unit, count),
            shared_mem=shared_bytes("screen"),
        )  # fmt: skip
        measure(
            ((plan.n + 127) // 128,), (128,),
            (value, unit, count, np.int32(plan.n_parts), np.int64(plan.stride), *listed, np.int64(n_rows), self._rows,
             self._weights, np.int32(d), self._norms, self._largest, *out, is_unsure),
        )  # fmt: skip
        return is_unsure, out


class _Plan:
    """Division of a search into blocks: tiles of rows, and parts of the units if there are too few rows."""

    def __init__(self, n: int, n_units: int) -> None:
        self.n, self.n_tiles = n, -(-n_units // TILE)
        row_tiles = -(-n // TILE)
        self.n_parts = best_parts(row_tiles, self.n_tiles, _BLOCKS_PER_MULTIPROCESSOR * multiprocessor_count())
        self.tiles_per_part = -(-self.n_tiles // self.n_parts)
        self.n_parts = -(-self.n_tiles // self.tiles_per_part)
        self.stride = row_tiles * TILE
        self.grid = (row_tiles, self.n_parts)
        self.leap = np.int32(
            next(s for s in range(round(0.618 * self.n_tiles) | 1, 0, -1) if gcd(s, self.n_tiles) == 1)
        )


def best_parts(row_tiles: int, unit_tiles: int, at_once: int) -> int:
    """Return the number of parts of the units for which blocks, ``at_once`` at a time, take least time."""

    def rounds(parts: int) -> int:
        per_part = -(-unit_tiles // parts)
        return -(-row_tiles * -(-unit_tiles // per_part) // at_once) * (per_part + 2)  # 2: start and end of a block

    # Parts are merged at the end, so a further one has to save at least a hundredth.
    return min(range(1, min(unit_tiles, _MOST_PARTS) + 1), key=lambda parts: rounds(parts) * (100 + parts))


def columns_first(rows: Array) -> Array:
    """Return (depth, size) float32: rows as columns, padded with zeros to eight columns and to whole tiles."""
    xp, (n, d) = array_namespace(rows), rows.shape
    out = xp.zeros((-(-d // _DEPTH) * _DEPTH, -(-n // TILE) * TILE), np.float32)
    out[:d, :n] = rows.T
    return out


def unit_tiles(weights: Array) -> Array:
    """Return (depth, size) float32: as `columns_first`, in each tile in the order in which threads read units.

    Thread lane l (0 .. 15) takes units l, l + 16, .. l + 112 of a tile. They are in two runs of four, 32 apart, next
    to those of the seven other lanes of its warp, so that a warp reads 128 contiguous bytes.
    """
    xp, (n_units, d) = array_namespace(weights), weights.shape
    n_tiles, depth = -(-n_units // TILE), -(-d // _DEPTH) * _DEPTH
    padded = xp.zeros((n_tiles * TILE, depth), np.float32)
    padded[:n_units, :d] = weights
    # unit = 64 * run + 16 * within_run + 8 * half + lane, place = 64 * half + 32 * run + 4 * lane + within_run
    split = padded.reshape(n_tiles, 2, 4, 2, 8, depth).transpose(5, 0, 3, 1, 4, 2)
    return xp.ascontiguousarray(split).reshape(depth, n_tiles * TILE)
