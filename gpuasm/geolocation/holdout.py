"""Hold-out evaluation: hide some known places, infer them, and measure the errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.checks import instance, real, whole
from gpuasm.errors import DataError, UsageError
from gpuasm.geolocation.coefficients import EARTH_RADIUS_KM
from gpuasm.geolocation.neighbourhoods import slots_of
from gpuasm.geolocation.sphere_cuda import arcs_between, units_of
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.rows import rows_of_slots
from gpuasm.graph.values import checked_places, checked_weights

A_METRE = 1e-3
"""Rounding of distances, in kilometres."""

Inference = Callable[[Array], tuple[Array, Array]]
"""Infers places (n, 2) of all vertices, and radii (n,) in km, from places of which some are hidden."""


@dataclass(frozen=True)
class HeldOut:
    """Errors of hidden places, in kilometres; NaN if none was inferred.

    Attributes
    ----------
    vertices : (h,) int64
        The hidden vertices.
    error_km : (h,) float64
        Distance between the inferred and the hidden place.
    commonest_km : (h,) float64
        Error of the first baseline: every vertex is at the commonest visible place.
    nearest_km : (h,) float64
        Error of the second baseline: every vertex is at the visible neighbour of greatest weight.
    radius_km : (h,) float64
        Inferred radius.
    """

    vertices: np.ndarray
    error_km: np.ndarray
    commonest_km: np.ndarray
    nearest_km: np.ndarray
    radius_km: np.ndarray

    def summary(self) -> dict[str, Any]:
        """Return counts, and medians over the inferred vertices, by name."""
        done = ~np.isnan(self.error_km)
        has_radius = done & ~np.isnan(self.radius_km)
        return {
            "held_out": len(self.vertices),
            "held_out_inferred": int(done.sum()),
            "median_error_km": _median(self.error_km[done]),
            "mean_error_km": _mean(self.error_km[done]),
            "commonest_place_median_km": _median(self.commonest_km[done]),
            "commonest_place_mean_km": _mean(self.commonest_km[done]),
            "nearest_neighbour_median_km": _median(self.nearest_km[done]),
            "nearest_neighbour_mean_km": _mean(self.nearest_km[done]),
            "within_radius": _mean((self.error_km <= self.radius_km + A_METRE)[has_radius]),
        }


def _median(values: np.ndarray) -> float | None:
    values = values[~np.isnan(values)]
    return float(np.median(values)) if values.size else None


def _mean(values: np.ndarray) -> float | None:
    values = values[~np.isnan(values.astype(np.float64))]
    return float(values.mean()) if values.size else None


def hold_out(
    graph: DirectedGraph, places: Array, infer: Inference, *, share: float, seed: int = 0, weights: Array | None = None
) -> HeldOut:
    """Hide a share of the known places, infer them from the others, and measure the errors.

    Parameters
    ----------
    graph, places, weights
        As `locate` takes them.
    infer
        The inference to evaluate.
    share
        Share of the known places to hide, above 0 and below 1; at least one is hidden and one stays visible.
    seed
        Seed of the choice of hidden places, the same on every machine.

    Raises
    ------
    UsageError
        If the share is out of range.
    DataError
        If fewer than two places are known, or as `locate`.
    """
    instance(graph, DirectedGraph, "the graph")
    if not callable(infer):
        raise UsageError("a function that infers places", f"a {type(infer).__name__}", "give one, as with locate")
    places, weights = checked_places(places, graph.n_vertices), checked_weights(graph, weights)
    if not 0 < real(share, "share") < 1:
        raise UsageError("a share above 0 and below 1", str(share), "give it as in 0.2")
    xp = array_namespace(graph.columns, places)
    known = np.flatnonzero(~np.isnan(to_host(places)).any(axis=1))
    if known.size < 2:
        raise DataError("two known places at least, one to hide", str(known.size), "give more of them")
    size = min(max(round(share * known.size), 1), known.size - 1)
    hidden = np.sort(np.random.Generator(np.random.PCG64(whole(seed, "seed"))).permutation(known)[:size])
    left = places.copy()
    left[to_namespace(xp, hidden)] = np.nan
    inferred, radius_km = infer(left)
    truth = places[to_namespace(xp, hidden)]
    estimates = inferred[to_namespace(xp, hidden)], _commonest(left, size), _nearest(graph, left, hidden, weights)
    error, commonest, nearest = (to_host(_kilometres(truth, estimate)) for estimate in estimates)
    return HeldOut(hidden, error, commonest, nearest, to_host(radius_km)[hidden])


def _kilometres(a: Array, b: Array) -> Array:
    return EARTH_RADIUS_KM * arcs_between(units_of(a), units_of(b))


def _commonest(places: Array, n: int) -> Array:
    """Return the commonest place n times; of several, the first."""
    known = to_host(places)
    found, first, counts = np.unique(known[~np.isnan(known).any(axis=1)], axis=0, return_index=True, return_counts=True)
    best = np.lexsort((first, -counts))[0]
    return to_namespace(array_namespace(places), np.repeat(found[best : best + 1], n, axis=0))


def _nearest(graph: DirectedGraph, places: Array, vertices: np.ndarray, weights: Array | None) -> Array:
    """Return the place of each vertex's located neighbour of greatest weight; of several, the first."""
    xp = array_namespace(places)
    starts, slots = slots_of(graph.row_offsets, to_namespace(xp, vertices))
    row, neighbour = to_host(rows_of_slots(starts, len(slots))), to_host(graph.columns[slots])
    weight = np.ones(row.size) if weights is None else to_host(weights[slots])
    known = to_host(places)
    usable = ~np.isnan(known[neighbour]).any(axis=1) & (weight > 0)
    row, neighbour, weight = row[usable], neighbour[usable], weight[usable]
    order = np.lexsort((np.arange(row.size), -weight, row))
    first = order[np.unique(row[order], return_index=True)[1]]
    estimates = np.full((len(vertices), 2), np.nan)
    estimates[row[first]] = known[neighbour[first]]
    return to_namespace(xp, estimates)
