"""Pareto density: the number of rows around each unit of a map (Ultsch 2003, doi:10.1007/3-540-26981-9_13)."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.search.direct_cpu import CHEBYSHEV, EUCLIDEAN, MANHATTAN
from gpuasm.clustering.search.search import unit_vectors
from gpuasm.errors import DataError
from gpuasm.parallel import for_each, inlined

PARETO_SHARE = 0.2013
"""Share of pairwise distances up to the Pareto radius: a sphere of that size has a fifth of the rows, and gives four
fifths of the information on their density."""
_SAMPLE_FOR_RADIUS = 2000
_SAMPLE_FOR_DENSITY = 5000
"""Rows of a random sample that are counted around units; a fifth of them is a thousand, with an error of about 3 %."""
_FORMS = {"euclidean": EUCLIDEAN, "cosine": EUCLIDEAN, "manhattan": MANHATTAN, "chebyshev": CHEBYSHEV}


def pareto_radius(rows: Array, metric: str = "euclidean") -> float:
    """Return the 20.13 % quantile of the distances of all pairs of rows.

    Parameters
    ----------
    rows : (n, d) float32
        Normalised rows; NaN for missing values. Of more than 2000 rows a random sample is used.
    metric
        As for `SelfOrganisingMap`.

    Raises
    ------
    DataError
        If there are fewer than two rows.
    """
    sample = _sampled(rows, _SAMPLE_FOR_RADIUS)
    n = sample.shape[0]
    if n < 2:
        raise DataError("at least two rows, for distances between them", f"{n}", "give more rows")
    if metric == "cosine":
        sample = unit_vectors(sample)
    xp = array_namespace(sample)
    values = xp.empty((n, n), np.float64)
    flat = xp.ascontiguousarray(sample).reshape(-1)
    _measure(n, flat, flat, sample.shape[1], n, _FORMS[metric], values.reshape(-1))
    pairs = to_host(values)[np.triu_indices(n, 1)]
    return float(_distances(np.quantile(pairs, PARETO_SHARE, method="inverted_cdf"), metric))


def density_around(
    weights: Array, rows: Array, radius: float, *, metric: str = "euclidean", grid: MapGrid
) -> np.ndarray:
    """Return the P-matrix: the number of rows within ``radius`` of each unit.

    Parameters
    ----------
    weights : (units, d) float32
    rows : (n, d) float32
        Of more than 5000 rows a random sample is counted, and the counts are scaled to n.
    radius
        For example `pareto_radius`.
    metric
        As for `SelfOrganisingMap`.
    grid
        The map.

    Returns
    -------
    (rows, columns) float64, on the host.
    """
    xp = array_namespace(rows)
    sample, weights = _sampled(rows, _SAMPLE_FOR_DENSITY), to_namespace(xp, weights)
    if metric == "cosine":
        sample, weights = unit_vectors(sample), unit_vectors(weights)
    limit = {"euclidean": radius * radius, "cosine": 2 * radius}.get(metric, radius)
    count = xp.empty(grid.n_units, np.int64)
    flat = xp.ascontiguousarray(sample).reshape(-1)
    flat_weights = xp.ascontiguousarray(weights).reshape(-1)
    _count(grid.n_units, flat_weights, flat, rows.shape[1], sample.shape[0], _FORMS[metric], limit, count)
    return grid.image(to_host(count) * (rows.shape[0] / sample.shape[0]))


def _sampled(rows: Array, most: int) -> Array:
    """Return a reproducible random sample of rows; regularly spaced rows could all be of one kind."""
    n = rows.shape[0]
    if n <= most:
        return rows
    chosen = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    return rows[array_namespace(rows).asarray(chosen)]


def _distances(values: np.ndarray, metric: str) -> np.ndarray:
    return np.sqrt(values) if metric == "euclidean" else values * (0.5 if metric == "cosine" else 1.0)


# Differences are rounded to float32, whose squares are exact in float64: contracted or not, sums are the same bits.


@inlined()
def _with_column(total, one, other, form):
    """Add a column to a distance (its square if Euclidean); NaN is skipped."""
    difference = float(np.float32(one - other))
    if difference != difference:  # noqa: PLR0124 - a missing value
        return total
    if form == 0:
        return total + difference * difference
    return total + abs(difference) if form == 1 else max(total, abs(difference))


@for_each
def _measure(i, one, other, d, n, form, out):
    for j in range(n):
        total = 0.0
        for k in range(d):
            total = _with_column(total, one[i * d + k], other[j * d + k], form)
        out[i * n + j] = total


@for_each
def _count(i, weights, rows, d, n, form, limit, count):
    inside = 0
    for j in range(n):
        total = 0.0
        for k in range(d):
            total = _with_column(total, weights[i * d + k], rows[j * d + k], form)
            if total > limit:
                break  # it never decreases
        if total <= limit:
            inside += 1
    count[i] = inside
