"""Predictors of the state of samples, such as their place: each gives a probability of every state to every sample.

A sample's own state is never used for its own prediction, so predictions of known states measure each predictor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gpuasm.checks import array_of
from gpuasm.geolocation.tree_states import SampleTree, leaf_probabilities

_NEIGHBOURS = (1, 10, 30)
_NEIGHBOURS_BY_DATE = (10, 30)
_RATES = np.array([0.3, 1.0, 3.0, 10.0, 30.0])
"""Changes of state along a path of the median distance."""
_SPANS = (0.03, 0.1, 0.3)
"""Differences in date at which weights fall by a factor of e, as shares of the interquartile range."""
_SHARE_OF_NEAREST = 0.3
_FAR = 20.0
_LEAST_WEIGHT = 1e-12
_LEAST_DATED = 0.5
"""Share of the known samples that must have dates."""


@dataclass(frozen=True)
class RelatedSamples:
    """What is known of the relatedness of samples.

    Attributes
    ----------
    distances : mapping of (n, n) float64
        Substitutions per base by the name of the distance; at 1 samples are unrelated. The value in row i and
        column j is that of j as a relative of i. The first distance defines the nearest relative.
    trees : mapping of SampleTree
        By the name of the distance; none for fewer than three samples.
    bases : (n,) float64
        Sizes of the genomes.
    years : (n,) float64
        Dates of the samples; NaN if unknown.
    """

    distances: Mapping[str, np.ndarray]
    trees: Mapping[str, SampleTree]
    bases: np.ndarray
    years: np.ndarray

    def __post_init__(self) -> None:
        array_of(self.bases, "sizes of genomes", "iuf", (None,))
        n = len(self.bases)
        array_of(self.years, "dates of samples", "iuf", (n,))
        for name, distance in self.distances.items():
            array_of(distance, f"the {name} distance of all samples to all", "iuf", (n, n))

    @property
    def n(self) -> int:
        return len(self.bases)

    @property
    def nearest_distance(self) -> np.ndarray:
        """Return the first distance, (n, n) float64."""
        return next(iter(self.distances.values()))

    def related_to(self, known: np.ndarray) -> np.ndarray:
        """Return which samples a chain of relatives joins to known ones, (n,) bool."""
        found = np.zeros(self.n, bool)
        found[known] = True
        new = known
        while new.size:
            reached = (self.nearest_distance[new] < 1).any(axis=0) & ~found
            found |= reached
            new = np.flatnonzero(reached)
        return found


def predictions(samples: RelatedSamples, states: np.ndarray, n_states: int) -> dict[str, np.ndarray]:
    """Return the probabilities (n, n_states) float64 of each predictor, by its name.

    Parameters
    ----------
    samples
        The samples.
    states : (n,) int64
        The state of each; -1 if unknown. At least one is known.
    n_states
        Number of states.
    """
    known = np.flatnonzero(states >= 0)
    base = _frequencies(states, known, n_states)
    found = {"all samples": base}
    spans = list(_spans_of_dates(samples.years, known))
    for name, distance in samples.distances.items():
        others = distance[:, known].astype(np.float64)
        others[known, np.arange(known.size)] = np.inf
        for count in _NEIGHBOURS:
            weights = _weights_of_nearest(others, count, samples.bases)
            found[f"{count} nearest, {name}"] = _shares(weights, states[known], base)
            if count not in _NEIGHBOURS_BY_DATE:
                continue
            for title, factor in spans:
                dated = weights * np.maximum(factor, _LEAST_WEIGHT)
                found[f"{count} nearest, {name}, {title}"] = _shares(dated, states[known], base)
    for name, tree in samples.trees.items():
        distance = samples.distances[name]
        substitution = 1 / max(float(np.median(samples.bases)), 1.0)
        unit = max(float(np.median(distance[np.triu_indices(samples.n, 1)])), substitution)
        by_rate = leaf_probabilities(tree, states, n_states, rates=_RATES / unit, least_length=substitution / 2)
        found |= {f"tree, {name}, rate {rate:g}": shares for rate, shares in zip(_RATES, by_rate, strict=True)}
    return found


def _frequencies(states: np.ndarray, known: np.ndarray, n_states: int) -> np.ndarray:
    """Return how frequent each state is among the other samples."""
    counts = np.tile(np.bincount(states[known], minlength=n_states).astype(np.float64), (len(states), 1))
    if known.size > 1:
        counts[known, states[known]] -= 1
    return counts / counts.sum(axis=1, keepdims=True)


def _weights_of_nearest(distance: np.ndarray, count: int, bases: np.ndarray) -> np.ndarray:
    """Return weights of the nearest known samples, and of all as near as the last of them; 0 of all others.

    The weight falls by a factor of e for each substitution more than the nearest has, or for each 0.3 of the nearest
    distance if that is more.
    """
    last = np.partition(distance, min(count, distance.shape[1]) - 1, axis=1)[:, min(count, distance.shape[1]) - 1]
    near = (distance <= last[:, None]) & (distance < 1)
    first = np.where(np.isfinite(distance), distance, 1.0).min(axis=1, initial=1.0)
    unit = np.maximum(1 / np.maximum(bases, 1), _SHARE_OF_NEAREST * first)
    steps = np.where(near, distance - first[:, None], 0.0) / unit[:, None]
    return np.where(near, np.exp(-np.minimum(steps, _FAR)), 0.0)


def _shares(weights: np.ndarray, states: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Return the share of each state in the weights of each row; the base where a row has none."""
    n, n_states = base.shape
    row, column = np.nonzero(weights)
    totals = np.bincount(row * n_states + states[column], weights[row, column], minlength=n * n_states)
    totals = totals.reshape(n, n_states)
    whole = totals.sum(axis=1, keepdims=True)
    return np.where(whole > 0, totals / np.where(whole > 0, whole, 1), base)


def _spans_of_dates(years: np.ndarray, known: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield names, and factors (n, k) by the difference in date to each known sample, if enough have dates."""
    dated = years[known][~np.isnan(years[known])]
    if dated.size < _LEAST_DATED * known.size:
        return
    spread = float(np.subtract(*np.percentile(dated, [75, 25])))
    if spread <= 0:
        return
    difference = np.abs(years[:, None] - years[known][None, :]) / spread
    for span in _SPANS:
        yield f"date within {span:g}", np.exp(-np.where(np.isnan(difference), span, difference) / span)
