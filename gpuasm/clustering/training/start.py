"""Initial weights of a map, computed on the host so that training starts from the same bits on all devices."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.clustering.grid import MapGrid
from gpuasm.errors import DataError, UsageError
from gpuasm.threads import single_threaded_blas

STARTS = ("pca", "linear", "random")
WIDE = 1000
"""Columns up to which their covariances are computed."""
_BASIS, _STEPS = 12, 20
SAMPLE = 20_000
"""Number of evenly spaced rows for principal components."""


def start_weights(rows: Array, grid: MapGrid, start: str | np.ndarray, *, seed: int) -> np.ndarray:
    """Compute the initial weights of training.

    Parameters
    ----------
    rows : (n, d) float32
        NaN for missing values.
    grid
        The map.
    start
        "pca": the plane of the two first principal components, from -2 to 2 standard deviations, the first along the
        longer side of the map; "linear": even columns rise from their least to their largest value along the map's
        columns, odd ones along its rows; "random": rows drawn at random; or an array (units, d) of weights.
    seed
        Seed for "random".

    Returns
    -------
    (units, d) float32, on the host.

    Raises
    ------
    UsageError
        If the start is unknown.
    DataError
        If given weights have another shape, or are not all finite.
    """
    if not isinstance(start, str):
        return _given(start, (grid.n_units, rows.shape[1]))
    if start not in STARTS:
        raise UsageError(f"a start named {', '.join(STARTS)}, or weights", repr(start), "use one of those names")
    xp = array_namespace(rows)
    least, most = to_host(xp.nanmin(rows, axis=0)), to_host(xp.nanmax(rows, axis=0))
    if start == "linear":
        return _linear(least, most, grid)
    n = rows.shape[0]
    if start == "random":
        return _filled(to_host(rows[xp.asarray(np.random.default_rng(seed).integers(n, size=grid.n_units))]))
    sample = np.arange(n) if n <= SAMPLE else np.arange(SAMPLE) * n // SAMPLE
    return _plane(_filled(to_host(rows[xp.asarray(sample)])), grid)


def _given(weights: Array, shape: tuple[int, int]) -> np.ndarray:
    weights = np.array(to_host(weights), dtype=np.float32)
    if weights.shape != shape:
        raise DataError(f"{shape[0]} x {shape[1]} weights to start from", f"{weights.shape}", "give one row per unit")
    if not np.isfinite(weights).all():
        raise DataError("finite weights to start from", "NaN or infinity", "give a number for each unit and column")
    return weights


def _linear(least: np.ndarray, most: np.ndarray, grid: MapGrid) -> np.ndarray:
    row, column = np.divmod(np.arange(grid.n_units), grid.columns)
    across = column / max(1, grid.columns - 1)
    down = row / max(1, grid.rows - 1)
    share = np.where(np.arange(least.size) % 2 == 0, across[:, None], down[:, None])
    return (least + share * (most.astype(np.float64) - least)).astype(np.float32)


def _filled(rows: np.ndarray) -> np.ndarray:
    """Replace missing values by column means."""
    is_missing = np.isnan(rows)
    if not is_missing.any():
        return rows
    present = (~is_missing).sum(axis=0)
    mean = np.where(is_missing, 0, rows).sum(axis=0, dtype=np.float64) / np.maximum(1, present)
    return np.where(is_missing, mean, rows).astype(np.float32)


def _principal_axes(deviation: np.ndarray, n_axes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest variances, and the directions (n_axes, d) that have them.

    A table of many columns takes the matrix of its rows, or, if these are many too, some steps of subspace iteration
    (Halko et al. 2011, doi:10.1137/090771806): neither needs a matrix of columns by columns.
    """
    n, d = deviation.shape
    per_row = max(1, n - 1)
    if d <= WIDE:
        variance, axes = np.linalg.eigh(deviation.T @ deviation / per_row)
        return variance[::-1][:n_axes], axes.T[::-1][:n_axes]
    if n <= WIDE:
        variance, ends = np.linalg.eigh(deviation @ deviation.T / per_row)
        axes = (deviation.T @ ends[:, ::-1][:, :n_axes]).T
    else:
        basis = np.random.default_rng(0).standard_normal((d, _BASIS))
        for _ in range(_STEPS):
            basis = np.linalg.qr(deviation.T @ (deviation @ basis))[0]
        image = deviation @ basis
        variance, inner = np.linalg.eigh(image.T @ image / per_row)
        axes = (basis @ inner[:, ::-1][:, :n_axes]).T
    length = np.sqrt((axes * axes).sum(axis=1, keepdims=True))
    axes /= np.where(length > 0, length, 1.0)
    missing = n_axes - len(axes)  # of a single row
    return np.pad(variance[::-1][:n_axes], (0, missing)), np.pad(axes, ((0, missing), (0, 0)))


def _plane(sample: np.ndarray, grid: MapGrid) -> np.ndarray:
    mean = sample.mean(axis=0, dtype=np.float64)
    n_axes = min(2, mean.size)
    with single_threaded_blas():  # sums by several threads are rounded differently
        variance, axes = _principal_axes(sample - mean, n_axes)
    spread = 2 * np.sqrt(np.maximum(0.0, variance))
    # Eigenvectors are unique up to sign: make their largest component positive.
    axes = axes * np.sign(axes[np.arange(n_axes), np.abs(axes).argmax(axis=1)])[:, None]
    row, column = np.divmod(np.arange(grid.n_units), grid.columns)
    places = [2 * column / max(1, grid.columns - 1) - 1, 2 * row / max(1, grid.rows - 1) - 1]
    if grid.rows > grid.columns:
        places.reverse()
    weights = np.tile(mean, (grid.n_units, 1))
    for place, width, axis in zip(places, spread, axes, strict=False):
        weights += (place * width)[:, None] * axis
    return weights.astype(np.float32)
