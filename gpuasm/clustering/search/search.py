"""The two nearest units of each row: the definition of distances, and the choice of the fastest search.

Distances are float32 and defined to the bit: columns are taken in order, x - w is rounded, and its square is added by
one fused multiply-add: total = fma(x - w, x - w, total). A missing value contributes nothing. Of equally near
units the lowest is best. CPU and CUDA, with and without screening, give the same bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.clustering.search.direct_cpu import CHEBYSHEV, EUCLIDEAN, MANHATTAN, best_two_direct
from gpuasm.clustering.search.screened_cpu import ScreenedRows
from gpuasm.errors import DataError, UsageError
from gpuasm.parallel import for_each

METRICS = ("euclidean", "cosine", "manhattan", "chebyshev")
_FORM = {"euclidean": EUCLIDEAN, "cosine": EUCLIDEAN, "manhattan": MANHATTAN, "chebyshev": CHEBYSHEV}
SCREEN_FROM = 8
"""Least number of columns for which matrix products and the measurement of candidates cost less than differences."""


@dataclass(frozen=True)
class BestUnits:
    """The nearest and second nearest unit of each row; on a map of one unit the second is -1 at infinite distance.

    Attributes
    ----------
    first, second : (n,) int32
    distance_first, distance_second : (n,) float32
        In the map's metric: not squared; for the cosine metric 1 - cos.
    """

    first: Array
    second: Array
    distance_first: Array
    distance_second: Array


class Searcher:
    """Rows prepared for searches with several sets of weights.

    Parameters
    ----------
    rows : (n, d) float32
        On the host or a device; NaN for missing values.
    metric
        "euclidean", "cosine", "manhattan" or "chebyshev".

    Raises
    ------
    UsageError
        If the metric is unknown.
    DataError
        If the metric is "cosine" and a value is missing or a row is all zeros.
    """

    def __init__(self, rows: Array, metric: str) -> None:
        if metric not in METRICS:
            raise UsageError(f"a metric named {', '.join(METRICS)}", repr(metric), "use one of those names")
        xp = array_namespace(rows)
        self.metric = metric
        self.has_missing = bool(xp.isnan(rows).any())
        if metric == "cosine":
            rows = self._directions(rows)
        screens = _FORM[metric] == EUCLIDEAN and not self.has_missing
        self.rows = rows
        self._ready: Any = None
        if xp is not np:
            from gpuasm.clustering.search.search_cuda import RowsOnDevice  # noqa: PLC0415 - only where there is a device

            self._ready = RowsOnDevice(rows, form=_FORM[metric], has_missing=self.has_missing)
        elif screens and rows.shape[1] >= SCREEN_FROM:
            self._ready = ScreenedRows(rows)

    def __call__(self, weights: Array) -> tuple[Array, Array]:
        """Find the two nearest units of each row.

        Parameters
        ----------
        weights : (units, d) float32

        Returns
        -------
        units : (2, n) int32
            Nearest and second nearest; -1 if there is only one unit.
        values : (2, n) float32
            The compared values: squared distances for the Euclidean and the cosine metric (of unit vectors).
        """
        if self.metric == "cosine":
            weights = unit_vectors(weights)
        if self._ready is not None:
            return self._ready.best_two(weights)
        return best_two_direct(self.rows, weights, _FORM[self.metric])

    def best_units(self, weights: Array) -> BestUnits:
        """Find the two nearest units of each row, with their distances."""
        units, values = self(weights)
        return BestUnits(units[0], units[1], *self.distances(values))

    def distances(self, values: Array) -> Array:
        """Convert compared values to distances, float32."""
        if self.metric == "euclidean":
            return array_namespace(values).sqrt(values)
        return values * np.float32(0.5) if self.metric == "cosine" else values

    def _directions(self, rows: Array) -> Array:
        if self.has_missing:
            raise DataError(
                "no missing values with the cosine metric", "some", "fill them in, or take the Euclidean metric"
            )
        xp = array_namespace(rows)
        is_zero = ~rows.any(axis=1)
        if bool(is_zero.any()):
            raise DataError(
                "rows that have a direction, for the cosine metric",
                "zeros only",
                "leave such rows out, or take the Euclidean metric",
                place=f"row {int(xp.flatnonzero(is_zero)[0])}",
            )
        return unit_vectors(rows)


def unit_vectors(vectors: Array) -> Array:
    """Return each row divided by its length, float32; rows of zeros are unchanged."""
    xp = array_namespace(vectors)
    out = xp.empty(vectors.size, np.float32)
    _normalise(vectors.shape[0], xp.ascontiguousarray(vectors).reshape(-1), vectors.shape[1], out)
    return out.reshape(vectors.shape)


@for_each
def _normalise(i, vectors, d, out):
    total = 0.0
    for k in range(i * d, (i + 1) * d):
        value = float(vectors[k])
        total += value * value  # exact: a product of two float32 fits float64
    length = math.sqrt(total)
    for k in range(i * d, (i + 1) * d):
        out[k] = np.float32(float(vectors[k]) / length) if length > 0.0 else np.float32(0)
