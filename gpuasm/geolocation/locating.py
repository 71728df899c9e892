"""Geolocation of vertices in rounds, by the exact spherical median of their neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.checks import instance, real, whole
from gpuasm.errors import UsageError
from gpuasm.geolocation.locating_queue import finish_rounds
from gpuasm.geolocation.median import medians_of
from gpuasm.geolocation.neighbourhoods import Neighbourhoods, neighbourhoods, slots_of
from gpuasm.geolocation.queue_cpu import last_round, may_scan
from gpuasm.geolocation.sphere_cuda import places_of, units_of
from gpuasm.geolocation.spread import radii_of
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.values import checked_places, checked_vertices, checked_weights

KNOWN, UNKNOWN = 0, -1
"""Rounds of vertices with a given place, and of those without a place."""

_ALL = 2**62
"""More neighbours than any vertex has."""


@dataclass(frozen=True)
class LocatingOptions:
    """Options of the inference.

    Attributes
    ----------
    iterations
        Greatest number of rounds; None: until a round changes nothing.
    nearest
        Use this many neighbours of greatest weight; None: all.
    min_neighbours
        Do not locate a vertex with fewer located neighbours.
    max_radius_km
        Do not locate a vertex whose radius is larger or undefined; None for no limit.
    share
        The share of the neighbours' weight that the radius holds.
    """

    iterations: int | None = 3
    nearest: int | None = None
    min_neighbours: int = 1
    max_radius_km: float | None = None
    share: float = 0.5

    def __post_init__(self) -> None:
        for name in ("iterations", "nearest"):
            if getattr(self, name) is not None:
                whole(getattr(self, name), name, least=1)
        whole(self.min_neighbours, "min_neighbours", least=1)
        if not 0 < real(self.share, "share") <= 1:
            raise UsageError("a share above 0, at most 1", str(self.share), "give it as in 0.5")
        if self.max_radius_km is not None and not real(self.max_radius_km, "max_radius_km") > 0:
            raise UsageError("a radius above 0 km", str(self.max_radius_km), "give a larger one")


@dataclass(frozen=True)
class Locations:
    """Places of the vertices of a graph.

    Attributes
    ----------
    units : (n, 3) float64
        Unit vectors; NaN if unknown.
    rounds : (n,) int32
        The round in which each place was inferred; 0 if given, -1 if unknown.
    radius_km : (n,) float64
        Uncertainty of an inferred place, see `spread.radii_of`; 0 if given, NaN if undefined.
    options
        Options of the inference.
    """

    units: Array
    rounds: Array
    radius_km: Array
    options: LocatingOptions

    @property
    def places(self) -> Array:
        """Latitudes and longitudes in degrees, (n, 2) float64; NaN if unknown."""
        return places_of(self.units)

    def moved_to(self, xp: Any) -> Locations:
        """Return the locations with arrays in the memory of ``xp``."""
        moved = {name: to_namespace(xp, getattr(self, name)) for name in ("units", "rounds", "radius_km")}
        return replace(self, **moved)


def locate(
    graph: DirectedGraph,
    places: Array,
    options: LocatingOptions | None = None,
    *,
    weights: Array | None = None,
    previous: Locations | None = None,
    touched: Array | None = None,
) -> Locations:
    """Infer the places of vertices without one from their neighbours'.

    In each round, a vertex without place that has enough located neighbours gets the spherical median of their places
    at the beginning of the round, which is final. The result is bitwise the same on the host and on a device.

    Parameters
    ----------
    graph
        With edges in both directions between neighbours.
    places : (n, 2) float64
        Latitude and longitude in degrees, NaN if unknown; in the memory of the graph.
    weights : (m,) float64, optional
        Weights of the edges, greater for nearer neighbours.
    previous
        Locations of the same vertices with the same options, before edges of some vertices or given places changed:
        locations that do not depend on the changes are copied. The result is that of a full computation.
    touched : (t,) integers
        With ``previous``: the vertices whose edges or weights have changed.

    Raises
    ------
    UsageError
        If ``nearest`` is given without weights, or ``previous`` has other options or vertices.
    DataError
        If places or weights do not belong to the graph, a place is none on Earth, a weight is negative or not finite,
        or ``touched`` names what is no vertex.
    """
    options = LocatingOptions() if options is None else options
    instance(graph, DirectedGraph, "the graph")
    instance(options, LocatingOptions, "options")
    if options.nearest is not None and weights is None:
        raise UsageError("weights of edges to find the nearest neighbours", "none", "give a graph with weights")
    places, weights = checked_places(places, graph.n_vertices), checked_weights(graph, weights)
    xp = array_namespace(graph.columns, places)
    units = units_of(places)
    is_known = ~xp.isnan(units[:, 0])
    if touched is not None:
        touched = checked_vertices(touched, graph.n_vertices)
    if previous is None:
        state = _State(graph, weights, options, units=units, is_known=is_known)
        state.waiting[:] = ~is_known
    else:
        _check(previous, options, graph.n_vertices)
        state = _State(graph, weights, options, units=units, is_known=is_known, previous=previous.moved_to(xp))
        if touched is not None:
            state.mark_waiting(touched, after=0)
    number, last, changes = 0, last_round(options.iterations), True
    while changes and number < last:
        if not may_scan(state.rounds, number, state.n_scanned):
            if previous is not None:  # all anew by a queue takes less than many rounds of what changed
                state, number = _State(graph, weights, options, units=units, is_known=is_known), 0
            return _finished(state, number, last).moved_to(xp)
        number += 1
        changes = state.run(number)
    return Locations(state.units, state.rounds, state.radius_km, options)


def _finished(state: _State, number: int, last: int) -> Locations:
    """Run the rounds after a number by a queue on the host."""
    options = state.options
    rules = (options.nearest or _ALL, options.min_neighbours, options.share, options.max_radius_km or np.nan)
    units, rounds, radius_km, seen = map(to_host, (state.units, state.rounds, state.radius_km, state.seen))
    weights = None if state.weights is None else to_host(state.weights)
    arrays = (units, rounds, radius_km, seen)
    finish_rounds(state.graph.moved_to(np), weights, rules, state=arrays, number=number, last=last)
    return Locations(units, rounds, radius_km, options)


def _check(previous: Locations, options: LocatingOptions, n: int) -> None:
    instance(previous, Locations, "previous locations")
    if previous.options != options:
        raise UsageError("the options of the previous locations", "others", "compute all anew")
    if {len(previous.units), len(previous.rounds), len(previous.radius_km)} != {n}:
        raise UsageError(f"previous locations of {n} vertices", str(len(previous.rounds)), "compute all anew")


class _State:
    """Current places, and the vertices waiting for the next round.

    With previous locations, a vertex that does not wait has its previous state: located from round ``rounds`` on. If
    the state of a vertex after some round differs from the previous one, the vertices with an edge to it wait.
    """

    def __init__(
        self,
        graph: DirectedGraph,
        weights: Array | None,
        options: LocatingOptions,
        *,
        units: Array,
        is_known: Array,
        previous: Locations | None = None,
    ) -> None:
        xp = self._xp = array_namespace(units)
        self.graph, self.weights, self.options, self._previous = graph, weights, options, previous
        self.waiting = xp.zeros(len(units), bool)
        self.seen = xp.zeros(len(units), np.int64)  # located neighbours when last processed
        self.n_scanned = 0  # vertices that rounds have processed
        if previous is None:
            self.units = units
            self.rounds = xp.where(is_known, KNOWN, UNKNOWN).astype(np.int32)
            self.radius_km = xp.where(is_known, 0.0, np.nan)
            return
        was_known = previous.rounds == KNOWN
        kept = ~is_known & ~was_known
        self.units = xp.where(kept[:, None], previous.units, units)
        self.rounds = xp.where(kept, previous.rounds, xp.where(is_known, KNOWN, UNKNOWN)).astype(np.int32)
        self.radius_km = xp.where(kept, previous.radius_km, xp.where(is_known, 0.0, np.nan))
        self._last = int(previous.rounds.max()) if len(units) else 0
        self.waiting |= ~is_known & was_known
        moved = is_known & was_known & (previous.units != units).any(axis=1)
        self._differs = moved | (is_known != was_known)
        self.mark_waiting(self._with_edges_to(xp.flatnonzero(self._differs)), after=0)

    def mark_waiting(self, vertices: Array, *, after: int) -> None:
        """Mark vertices without a place after a round as waiting, and remove their later places."""
        late = vertices[(self.rounds[vertices] > after) | (self.rounds[vertices] == UNKNOWN)]
        self.waiting[late], self.seen[late] = True, 0
        self.units[late] = self.radius_km[late] = np.nan
        self.rounds[late] = UNKNOWN

    def run(self, number: int) -> bool:
        """Run a round; return whether the next one can change anything."""
        xp = self._xp
        waiting = xp.flatnonzero(self.waiting)
        self.n_scanned += len(waiting)
        is_located = (self.rounds >= KNOWN) & (self.rounds < number)
        found = neighbourhoods(
            self.graph, self.weights, waiting, is_located=is_located, seen=self.seen,
            nearest=self.options.nearest, at_least=self.options.min_neighbours,
        )  # fmt: skip
        located = self._infer(found, number)
        if self._previous is not None:
            differing = self._differing_after(number, waiting)
            self.mark_waiting(self._with_edges_to(differing), after=number)
            return bool(located.size or differing.size or number < self._last)
        return bool(located.size)

    def _infer(self, found: Neighbourhoods, number: int) -> Array:
        """Assign places to the vertices of neighbourhoods, and return those located."""
        units, limit = self.units, self.options.max_radius_km
        medians = medians_of(found.starts, units[found.neighbours], found.weights)
        row = (found.starts, units[found.neighbours], found.weights)
        radii = radii_of(medians, row, self.radius_km[found.neighbours], share=self.options.share)
        fine = self._xp.ones(len(radii), bool) if limit is None else radii <= limit
        located = found.vertices[fine]
        self.units[located], self.radius_km[located] = medians[fine], radii[fine]
        self.rounds[located] = number
        self.waiting[located] = False
        return located

    def _differing_after(self, number: int, looked_at: Array) -> Array:
        """Return which processed vertices differ, for the first time, from their previous state after this round."""
        xp, previous = self._xp, self._previous
        assert previous is not None
        then, now = previous.rounds[looked_at], self.rounds[looked_at]
        had = (then >= KNOWN) & (then <= number)
        has = now == number
        same_place = (self.units[looked_at] == previous.units[looked_at]).all(axis=1)
        radius, old_radius = self.radius_km[looked_at], previous.radius_km[looked_at]
        same_radius = (radius == old_radius) | (xp.isnan(radius) & xp.isnan(old_radius))
        first = ((had != has) | (had & has & ~(same_place & same_radius))) & ~self._differs[looked_at]
        self._differs[looked_at[first]] = True
        return looked_at[first]

    def _with_edges_to(self, vertices: Array) -> Array:
        if not len(vertices):
            return vertices
        backward = self.graph.reverse()
        _, slots = slots_of(backward.row_offsets, vertices)
        return self._xp.unique(backward.columns[slots]).astype(np.int64)
