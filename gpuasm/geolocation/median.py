"""The median of points on a sphere: the place of least sum of great-circle arcs to them."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.errors import DataError
from gpuasm.geolocation.median_cpu import medians_loop
from gpuasm.geolocation.median_cuda import medians_cuda
from gpuasm.geolocation.sphere_cuda import places_of, units_of
from gpuasm.parallel import run_chunks


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
    """
    xp = array_namespace(starts, points, weights)
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
        If there are no places, or a weight is not above 0.
    """
    xp = array_namespace(places)
    if weights is None:
        weights = xp.ones(len(places))
    if len(places) == 0 or not bool((weights > 0).all()):
        raise DataError("places with weights above 0", f"{len(places)} places", "leave out those without weight")
    starts = xp.asarray(np.array([0, len(places)]))
    latitude, longitude = places_of(medians_of(starts, units_of(places.astype(np.float64)), weights))[0].tolist()
    return latitude, longitude
