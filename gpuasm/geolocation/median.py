"""The median of points on a sphere: the place of least sum of great-circle arcs to them."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.checks import array_of
from gpuasm.errors import DataError
from gpuasm.geolocation.median_cpu import medians_loop
from gpuasm.geolocation.median_cuda import medians_cuda
from gpuasm.geolocation.sphere_cuda import places_of, units_of
from gpuasm.graph.values import checked_places, checked_values, scaled_rows
from gpuasm.threads import run_chunks

_ROUNDING = 1e-6


def medians_of(starts: Array, points: Array, weights: Array) -> Array:
    """Return the median of each row of points; see `median_cpu` for the method.

    For two points it is the midpoint of their great circle if their weights are equal, else the heavier one. If several
    minima have the same sum of arcs, it is the northernmost.

    Parameters
    ----------
    starts : (r + 1,) int64
        Start of the points of each row; no row is empty.
    points : (p, 3) float64
        Unit vectors.
    weights : (p,) float64
        Above 0.

    Returns
    -------
    (r, 3) float64
        Unit vectors, bitwise the same on the host and on a device.

    Raises
    ------
    DataError
        If the arrays do not fit together, a point is no unit vector, or a weight is not above 0 and finite.
    """
    array_of(starts, "starts of rows", "iu", (None,))
    array_of(points, "points", "iuf", (None, 3))
    weights = checked_values(weights, len(points), what="weight", whose="point")
    xp = array_namespace(starts, points, weights)
    begins_and_ends = starts.size > 0 and int(starts[0]) == 0 and int(starts[-1]) == len(points)
    if not begins_and_ends or bool((starts[1:] <= starts[:-1]).any()):
        raise DataError(f"starts that rise from 0 to {len(points)}, no row empty", "others", "count the points anew")
    starts, points = starts.astype(np.int64, copy=False), points.astype(np.float64, copy=False)
    if not bool((xp.abs((points * points).sum(axis=1) - 1.0) < _ROUNDING).all() & (weights > 0).all()):
        raise DataError("unit vectors with weights above 0", "others", "leave out those without place or weight")
    weights = scaled_rows(starts, weights)
    medians = xp.empty((len(starts) - 1, 3), np.float64)
    points, weights = xp.ascontiguousarray(points), xp.ascontiguousarray(weights)
    if xp is np:
        run_chunks(medians_loop, len(medians), starts, points, weights, medians)
    elif len(medians):
        medians_cuda(starts, points, weights, medians)
    return medians


def spherical_median(places: Array, weights: Array | None = None) -> tuple[float, float]:
    """Return latitude and longitude of the median of places.

    Parameters
    ----------
    places : (n, 2) float64
        Latitudes and longitudes in degrees.
    weights : (n,) float64, optional
        Above 0; None: 1.

    Raises
    ------
    DataError
        If there are no places, one is none on Earth, or a weight is not above 0 and finite.
    """
    array_of(places, "latitudes and longitudes", "iuf", (None, 2))
    xp, n = array_namespace(places), len(places)
    places = checked_places(places, n)
    weights = xp.ones(n) if weights is None else checked_values(weights, n, what="weight", whose="place")
    if n == 0 or bool(xp.isnan(places).any()) or not bool((weights > 0).all()):
        raise DataError("known places with weights above 0", f"{n} places", "leave out those unknown or without weight")
    starts = xp.asarray(np.array([0, n]))
    latitude, longitude = places_of(medians_of(starts, units_of(places), weights))[0].tolist()
    return latitude, longitude
