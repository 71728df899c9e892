"""Estimate the memory for training a map, and refuse if there is less."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, free_device_memory
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.training.start import SAMPLE, WIDE
from gpuasm.resources import memory_budget, require_memory


def bytes_for_map(n: int, d: int, grid: MapGrid) -> int:
    """Return an upper estimate of the bytes of training, without the rows themselves.

    There are two copies of the rows, one of them centred. Sums are float64. A map needs sums, sums smoothed along one
    axis (twice on a hexagonal lattice) and along both, and several copies of its weights. Principal components, before
    that, need a copy of the sampled rows and of the map in float64.
    """
    pieces = min(n, grid.n_units) + n // 256
    channels = 2 * d
    per_unit = (8 * channels * (4 if grid.is_hexagonal else 3)) + 16 * d + 64
    training = 12 * n * d + 192 * n + 8 * channels * pieces + per_unit * grid.n_units
    components = 4 * n * d + 20 * d * min(n, SAMPLE) + 24 * min(n, d, WIDE) ** 2 + 24 * d * grid.n_units
    return max(training, components)


def require_memory_for_map(rows: Array, grid: MapGrid) -> None:
    """Refuse to train a map that memory cannot hold.

    Raises
    ------
    ResourceError
        If the estimate exceeds the free memory of the rows' device.
    """
    n, d = rows.shape
    budget = memory_budget() if array_namespace(rows) is np else free_device_memory()
    require_memory(bytes_for_map(n, d, grid), budget, f"a map of {grid.rows:,} x {grid.columns:,} units and {n:,} rows")
