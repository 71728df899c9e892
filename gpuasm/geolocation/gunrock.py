"""Geolocation exactly as in Gunrock's application.

A vertex without location uses its neighbours' locations of the round before: one is copied, two give the midpoint of
their great circle, more a modified Weiszfeld median (doi:10.1073/pnas.97.4.1423) in degrees of latitude and longitude.
The median starts at the mean, with arcs on a sphere of radius 6,371 km, and ends with a step below 0.001 degrees. The
date line and the poles have no special treatment. A location found is final.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.checks import instance, whole
from gpuasm.geolocation.gunrock_cpu import round_loop
from gpuasm.geolocation.gunrock_cuda import Rounds
from gpuasm.geolocation.gunrock_queue import finish_rounds
from gpuasm.geolocation.queue_cpu import last_round, may_scan
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.values import checked_places
from gpuasm.threads import run_chunks


def gunrock_locations(
    graph: DirectedGraph, places: Array, *, iterations: int | None = 3, spatial_iterations: int = 1000
) -> tuple[Array, Array]:
    """Infer the places of vertices from those of the vertices that their edges lead to.

    Parameters
    ----------
    graph
        With edges in both directions between neighbours; parallel edges count separately, and weights are ignored.
    places : (n, 2) float64
        Latitude and longitude in degrees, NaN if unknown; in the memory of the graph.
    iterations
        Greatest number of rounds; None: until a round finds nothing.
    spatial_iterations
        Greatest number of steps of a median.

    Returns
    -------
    places : (n, 2) float64
        NaN if still unknown; longitudes from -180 to 180.
    rounds : (n,) int32
        The round in which each place was found; 0 if given, -1 if unknown.

    Raises
    ------
    DataError
        If the places do not belong to the graph, or one is none on Earth.
    UsageError
        If a number of iterations is out of range.
    """
    instance(graph, DirectedGraph, "the graph")
    if iterations is not None:
        whole(iterations, "iterations")
    whole(spatial_iterations, "spatial_iterations", most=2**31 - 1)
    places = checked_places(places, graph.n_vertices)
    xp = array_namespace(graph.columns, places)
    places = xp.array(places, np.float64, order="C")
    rounds = xp.zeros(graph.n_vertices, np.int32)
    state = (_RoundsOnHost if xp is np else Rounds)(graph.row_offsets, graph.columns, places, rounds)
    number, last, n_scanned, finds = 0, last_round(iterations), 0, True
    while finds and number < last and (n_waiting := int(state.waiting.sum())):
        if not may_scan(rounds, number, n_scanned):
            on_host = to_host(places), to_host(rounds)
            finish_rounds(graph.moved_to(np), *on_host, number=number, last=last, spatial_iterations=spatial_iterations)
            places[:], rounds[:] = (to_namespace(xp, own) for own in on_host)
            break
        number, n_scanned = number + 1, n_scanned + n_waiting
        finds = bool(state.run(number, spatial_iterations))
    state.wrap_longitudes()
    return places, rounds


class _RoundsOnHost:
    """The counterpart of `Rounds` on the host."""

    def __init__(self, row_offsets: np.ndarray, columns: np.ndarray, places: np.ndarray, rounds: np.ndarray) -> None:
        self._graph, self._places, self._rounds = (row_offsets, columns), places, rounds
        self._is_known = ~np.isnan(places).any(axis=1)
        rounds[:] = np.where(self._is_known, 0, -1)
        lengths = np.diff(row_offsets)
        self.waiting_rows = np.flatnonzero(~self._is_known & (lengths > 0))
        self._longest = int(lengths[self.waiting_rows].max(initial=0))

    @property
    def waiting(self) -> np.ndarray:
        """Number of vertices of the next round, as an array of one number."""
        return np.array([self.waiting_rows.size])

    def run(self, number: int, spatial_iterations: int) -> int:
        """Run a round, and return the number of vertices located in it."""
        rows = self.waiting_rows
        new_places, counts = np.empty((rows.size, 2)), np.empty(rows.size, np.int32)
        args = (self._is_known, self._places, spatial_iterations, self._longest, new_places, counts)
        run_chunks(round_loop, rows.size, rows, *self._graph, *args)
        found = counts > 0
        self._places[rows[found]] = new_places[found]
        self._rounds[rows[found]] = number
        self._is_known[rows[found]] = True
        self.waiting_rows = rows[~found]
        return int(found.sum())

    def wrap_longitudes(self) -> None:
        """Reduce longitudes beyond 180 degrees, which a midpoint may have, by full turns."""
        far = np.flatnonzero(abs(self._places[:, 1]) > 180)
        self._places[far, 1] -= 360 * np.floor(self._places[far, 1] / 360 + 0.5)
