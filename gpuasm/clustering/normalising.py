"""Normalise columns before a map is trained, so that units of measurement have no influence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.checks import array_of
from gpuasm.errors import DataError, UsageError

KINDS = ("none", "minmax", "zscore", "robust")
_MAD_TO_SD = 1.4826
"""Standard deviation of a normal distribution by its median absolute deviation,"""
_MEAN_AD_TO_SD = 1.2533
"""and by its mean absolute deviation."""


_LEAST_SPREAD = 1e-290
_MOST_EXPONENT = 300


@dataclass(frozen=True)
class Normalisation:
    """Shift and scale of each column; missing values stay missing.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    shift, scale : (d,) float64
        On the host. A constant column has scale 1, so it becomes zeros.
    """

    kind: str
    shift: np.ndarray
    scale: np.ndarray

    def apply(self, rows: Array) -> Array:
        """Return (rows - shift) / scale as float32, computed in float64, in the memory of the rows."""
        if self.kind == "none":
            return rows.astype(np.float32, copy=False)
        shift, scale = self._in_memory_of(rows)
        return ((rows - shift) / scale).astype(np.float32)

    def undo(self, rows: Array) -> Array:
        """Return rows * scale + shift as float32, computed in float64: the inverse of `apply`."""
        if self.kind == "none":
            return rows.astype(np.float32, copy=False)
        shift, scale = self._in_memory_of(rows)
        return (rows * scale + shift).astype(np.float32)

    def _in_memory_of(self, rows: Array) -> tuple[Array, Array]:
        xp = array_namespace(rows)
        return to_namespace(xp, self.shift), to_namespace(xp, self.scale)


def fit_normalisation(rows: Array, kind: str) -> Normalisation:
    """Compute a normalisation from rows.

    Parameters
    ----------
    rows : (n, d) numbers
        NaN for missing values; each column has at least one value.
    kind
        "none"; "minmax": least value to 0 and largest to 1; "zscore": mean 0 and standard deviation 1; "robust":
        median 0, and median absolute deviation 1 / 1.4826, so that normal columns have standard deviation 1 and
        outliers have no influence. If more than half of a column has one value, the mean absolute deviation from the
        median is used instead.

    Raises
    ------
    UsageError
        If the kind is unknown.
    DataError
        If the values of a column differ by too little.
    """
    if kind not in KINDS:
        raise UsageError(f"a normalisation named {', '.join(KINDS)}", repr(kind), "use one of those names")
    array_of(rows, "rows", "iufb", (None, None))
    d = rows.shape[1]
    if kind == "none":
        return Normalisation(kind, np.zeros(d), np.ones(d))
    columns = np.ascontiguousarray(to_host(rows).T, dtype=np.float64)
    found = [_shift_and_scale(column[~np.isnan(column)], kind) for column in columns]
    shift, scale = np.array(found, np.float64).reshape(d, 2).T
    return Normalisation(kind, shift.copy(), scale.copy())


def _shift_and_scale(column: np.ndarray, kind: str) -> tuple[float, float]:
    least, most = float(column.min()), float(column.max())
    if least == most:  # its mean may have a rounding error, which a tiny deviation would amplify
        return least, 1.0
    if most - least < _LEAST_SPREAD:
        raise DataError(
            f"columns that are constant or whose values differ by {_LEAST_SPREAD:g} or more",
            f"values from {least:g} to {most:g}", "multiply the column",
        )  # fmt: skip
    exponent = math.frexp(max(abs(least), abs(most)))[1]
    if abs(exponent) > _MOST_EXPONENT:  # squares would vanish or overflow; a power of two rounds nothing
        shift, scale = _shift_and_scale(np.ldexp(column, -exponent), kind)
        return math.ldexp(shift, exponent), math.ldexp(scale, exponent)
    if kind == "minmax":
        return least, most - least
    if kind == "zscore":
        return float(column.mean()), float(column.std())
    median = float(np.median(column))
    apart = np.abs(column - median)
    return median, _MAD_TO_SD * float(np.median(apart)) or _MEAN_AD_TO_SD * float(apart.mean())
