"""Places of samples, and the names of these, from the places of related samples; errors by cross-validation.

Predictors by nearest relatives and by trees are averaged with the weights that predict the known samples best, each
from the others (`stacking.stack`). The result is the place with the least expected root of the distance: the root lets
a place that is probably right win over one that lies between several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.checks import instance
from gpuasm.errors import DataError
from gpuasm.geolocation.calibration import RADIUS_SHARES, calibrated_factor
from gpuasm.geolocation.coefficients import EARTH_RADIUS_KM
from gpuasm.geolocation.predictors import RelatedSamples, predictions
from gpuasm.geolocation.sphere_cuda import arcs_between, units_of
from gpuasm.geolocation.stacking import stack
from gpuasm.graph.values import checked_places

MOST_NAMES = 512
"""Greatest number of names, or of different places."""
_FINEST_DEGREES = 0.01
_LEAST_SPREAD_KM = 1.0
_DIGITS = 7
"""Of costs: smaller differences depend on the order of sums."""


@dataclass(frozen=True)
class RelatedLocations:
    """Places of samples.

    Attributes
    ----------
    places : (n, 2) float64
        Latitude and longitude in degrees; NaN if unknown.
    rounds : (n,) int32
        0 if given, 1 if inferred, -1 if no relative has a place.
    radius_km : (n, 2) float64
        Radii that hold the true place with a probability of 0.5 and 0.9; 0 if given, NaN where too few places are
        known.
    known : (k,) int64
        The samples with a given place.
    error_km : (k,) float64
        Errors of these by cross-validation.
    nearest_km : (k,) float64
        Errors of the place of the nearest other sample; NaN if it has no relative.
    weights : dict of float
        Weights of the predictors, the greatest first.
    """

    places: np.ndarray
    rounds: np.ndarray
    radius_km: np.ndarray
    known: np.ndarray
    error_km: np.ndarray
    nearest_km: np.ndarray
    weights: dict[str, float]


@dataclass(frozen=True)
class RelatedNames:
    """Names of the places of samples.

    Attributes
    ----------
    names : tuple of str
        All names that occur, in alphabetical order.
    probability : (n, s) float64
        Of each name for each sample; for a sample with a given name by the other samples.
    best : (n,) int64
        The most probable name; -1 if no relative has one.
    given : (n,) int64
        The given name; -1 if unknown.
    """

    names: tuple[str, ...]
    probability: np.ndarray
    best: np.ndarray
    given: np.ndarray


def locate_related(samples: RelatedSamples, places: np.ndarray) -> RelatedLocations:
    """Infer the places of samples without one from those of related samples.

    Parameters
    ----------
    samples
        Their distances, trees, sizes and dates.
    places : (n, 2) float64
        Latitude and longitude in degrees, NaN if unknown.

    Raises
    ------
    DataError
        If no place is known, or a place is none on Earth.
    """
    instance(samples, RelatedSamples, "related samples")
    places = checked_places(places, samples.n)
    known = np.flatnonzero(~np.isnan(places).any(axis=1))
    if not known.size:
        raise DataError("the place of at least one sample", "none", "fill in latitude and longitude where known")
    sites, site_of_known = _sites(places[known])
    states = np.full(samples.n, -1)
    states[known] = site_of_known
    predicted = predictions(samples, states, len(sites))
    between, cost = kilometres(sites, sites), kilometres(places[known], sites)
    shares, weights = stack(list(predicted.values()), known, np.sqrt(cost), np.sqrt(between))
    best = np.round(shares @ np.sqrt(between), _DIGITS).argmin(axis=1)
    spread = (shares * between[best]).sum(axis=1) + _LEAST_SPREAD_KM
    error = cost[np.arange(known.size), best[known]]
    calibration = error if known.size > 1 else error[:0]
    factors = [calibrated_factor(calibration / spread[known][: calibration.size], share) for share in RADIUS_SHARES]
    is_inferred = samples.related_to(known)
    is_inferred[known] = False
    found, rounds = places.copy(), np.full(samples.n, -1, np.int32)
    rounds[known], rounds[is_inferred] = 0, 1
    found[is_inferred] = sites[best[is_inferred]]
    radius = np.where(is_inferred[:, None], spread[:, None] * np.array(factors), np.nan)
    radius[known] = 0
    order = np.argsort(-weights, kind="stable").tolist()
    names = list(predicted)
    nearest = _nearest_errors(samples, known, kilometres(places[known], places[known]))
    return RelatedLocations(found, rounds, radius, known, error, nearest, {names[i]: float(weights[i]) for i in order})


def name_related(samples: RelatedSamples, names: Sequence[str | None]) -> RelatedNames:
    """Infer the names of places, such as countries, of samples without one from those of related samples.

    Parameters
    ----------
    samples
        Their distances, trees, sizes and dates.
    names
        The name of each sample; None if unknown.

    Raises
    ------
    DataError
        If no name is known, or more than 512 differ.
    """
    instance(samples, RelatedSamples, "related samples")
    kinds = sorted({name for name in names if name is not None})
    if not 0 < len(kinds) <= MOST_NAMES or len(names) != samples.n:
        found = f"{len(kinds)} of {len(names)} samples"
        raise DataError(f"1 to {MOST_NAMES} names for {samples.n} samples", found, "name another column")
    number = {name: i for i, name in enumerate(kinds)}
    given = np.array([-1 if name is None else number[name] for name in names], np.int64)
    known = np.flatnonzero(given >= 0)
    predicted = predictions(samples, given, len(kinds))
    between = 1.0 - np.eye(len(kinds))
    shares, _ = stack(list(predicted.values()), known, between[given[known]], between)
    best = np.round(-shares, _DIGITS).argmin(axis=1)
    best[~samples.related_to(known)] = -1
    return RelatedNames(tuple(kinds), shares, best, given)


def _sites(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct places (s, 2), and the number of each sample's (k,); near ones are one if there are many."""
    sites, number = np.unique(places, axis=0, return_inverse=True)
    number = number.ravel()
    cell = _FINEST_DEGREES
    while len(sites) > MOST_NAMES:
        cells, number = np.unique(np.round(places / cell), axis=0, return_inverse=True)
        number = number.ravel()
        if len(cells) <= MOST_NAMES:
            return np.array([_commonest(places[number == i]) for i in range(len(cells))]), number
        cell *= 2
    return sites, number


def _commonest(places: np.ndarray) -> np.ndarray:
    found, counts = np.unique(places, axis=0, return_counts=True)
    return found[counts.argmax()]


def kilometres(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the distances (a, b) of places, 0 between equal ones."""
    first, second = np.repeat(units_of(a), len(b), axis=0), np.tile(units_of(b), (len(a), 1))
    return EARTH_RADIUS_KM * arcs_between(first, second).reshape(len(a), len(b))


def _nearest_errors(samples: RelatedSamples, known: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """Return the distance from each known sample to its nearest relative among the others."""
    distance = samples.nearest_distance[np.ix_(known, known)].astype(np.float64)
    np.fill_diagonal(distance, np.inf)
    nearest = distance.argmin(axis=1)
    row = np.arange(known.size)
    return np.where(distance[row, nearest] < 1, apart[row, nearest], np.nan)
