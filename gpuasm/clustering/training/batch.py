"""Batch training: an epoch finds the best unit of each row, then replaces each unit by a weighted mean of all rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.search.search import Searcher
from gpuasm.clustering.training.neighbourhood import Neighbourhood
from gpuasm.clustering.training.online import OnlineTraining
from gpuasm.clustering.training.smoothing import smooth, smooth_terms
from gpuasm.clustering.training.sums import unit_sums
from gpuasm.parallel import for_each

_CHUNK = 32


@dataclass(frozen=True)
class EpochErrors:
    """Errors of a map before the update of an epoch.

    Attributes
    ----------
    quantisation : float
        Mean distance of the rows to their nearest units.
    topographic : float
        Share of the rows whose two nearest units are not neighbours on the map.
    """

    quantisation: float
    topographic: float


class BatchTraining:
    """Rows of a training with the data that are constant over epochs, in the memory of the rows.

    Parameters
    ----------
    rows : (n, d) float32
    grid
        The map.
    metric
        As for `Searcher`.
    """

    def __init__(self, rows: Array, grid: MapGrid, metric: str) -> None:
        self._xp = array_namespace(rows)
        self._rows, self._grid = rows, grid
        self.searcher = Searcher(rows, metric)
        self._neighbours = to_namespace(self._xp, grid.neighbours())
        self._errors: list[Array] = []

    def run(
        self, weights: Array, neighbourhoods: Iterable[Neighbourhood], progress: Callable[[int], object] | None = None
    ) -> Array:
        """Train an epoch for each neighbourhood; return the weights, (units, d) float32."""
        for weighting in neighbourhoods:
            units, values = self.searcher(weights)
            self.note_errors(units, values)
            weights = self._updated(weights, units[0], weighting)
            if progress is not None:
                progress(1)
        return weights

    def run_online(
        self, weights: Array, online: OnlineTraining, progress: Callable[[int], object] | None = None
    ) -> Array:
        """Train online, with the same errors recorded before each epoch; return the weights."""
        rows = self.searcher.rows  # of length 1 for the cosine metric
        for stages in online.stages(rows.shape[0]):
            self.note_errors(*self.searcher(weights))
            weights = online.epoch(rows, weights, stages)
            if progress is not None:
                progress(1)
        return weights

    def note_errors(self, units: Array, values: Array) -> None:
        """Record the sums of the errors of an epoch, without waiting for a device."""
        n_chunks = -(-units.shape[1] // _CHUNK)
        sums = self._xp.empty((2, n_chunks), np.float64)
        _add_errors(
            n_chunks, units.shape[1], units[0], units[1], values[0], self._neighbours.reshape(-1),
            self._neighbours.shape[1],
            0.5 if self.searcher.metric == "cosine" else 1.0, int(self.searcher.metric == "euclidean"),
            sums[0], sums[1],
        )  # fmt: skip
        self._errors.append(sums)

    def errors(self) -> list[EpochErrors]:
        """Return the errors of all recorded epochs."""
        n = self._rows.shape[0]
        found = []
        for sums in self._errors:
            both = to_host(sums)
            found.append(EpochErrors(math.fsum(both[0]) / n, math.fsum(both[1]) / n))
        return found

    def _updated(self, weights: Array, unit: Array, weighting: Neighbourhood) -> Array:
        sums = unit_sums(self._rows, unit, self._grid.n_units, has_missing=self.searcher.has_missing)
        smoothed = smooth(sums, self._grid, weighting)
        d = weights.shape[1]
        if weighting.envelope:
            reach = smooth_terms(self._xp.ascontiguousarray(sums[:, d:]), self._grid, weighting.envelope)
            return _attracted(weights, smoothed, reach)
        out = self._xp.empty(weights.size, np.float32)
        channels = smoothed.shape[1]
        _divide(weights.size, smoothed.reshape(-1), channels, d, weights.reshape(-1), out)
        return out.reshape(weights.shape)


def _attracted(weights: Array, smoothed: Array, reach: Array) -> Array:
    """Move each unit by the weighted mean of its differences to rows, with weights that may be negative.

    With negative weights h, sum(h x) / sum(h) is unbounded. The steps of w + sum(h (x - w)) / sum(|h|) are bounded, and
    for h >= 0 it is the same. An upper bound (envelope) of |h| replaces |h|. Units with sum(h) <= 0 do not move: they
    would diverge.
    """
    xp = array_namespace(weights)
    d = weights.shape[1]
    # Separate operations: one kernel would contract them into fused multiply-adds.
    pulled = smoothed[:, d:] * weights
    difference = smoothed[:, :d] - pulled
    step = difference / xp.where(reach > 0, reach, 1.0)
    return (weights + xp.where(smoothed[:, d:] > 0, step, 0.0)).astype(np.float32)


@for_each
def _divide(i, smoothed, channels, d, weights, out):
    unit = i // d
    column = i % d
    count = smoothed[unit * channels + (d if channels == d + 1 else d + column)]
    out[i] = np.float32(smoothed[unit * channels + column] / count) if count > 0.0 else weights[i]


@for_each
def _add_errors(i, n, first, second, value, neighbours, width, scale, is_squared, distances, apart):
    distance = 0.0
    strangers = 0
    for row in range(i * _CHUNK, min(n, (i + 1) * _CHUNK)):
        v = float(value[row])
        distance += math.sqrt(v) if is_squared else v * scale  # the scale is a power of two: exact
        touches = 0
        for j in range(first[row] * width, (first[row] + 1) * width):
            if neighbours[j] == second[row]:
                touches = 1
        strangers += 1 - touches
    distances[i] = distance
    apart[i] = strangers
