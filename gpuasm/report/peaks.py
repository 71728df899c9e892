"""Peaks of a distribution of contigs, weighted by their bases: a genome is one peak of depth and one of GC content."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass

_STEPS = 5
"""Points of the density within one standard deviation."""
_REACH = 4
"""Standard deviations beyond which a contig adds nothing."""
_VALLEY = 0.5
"""Of the lower peak: a valley that is not below it is no border between genomes."""


@dataclass(frozen=True)
class Peak:
    """A part of a distribution between two valleys: its mean value, and its share of all bases."""

    value: float
    share: float


def find_peaks(values: Sequence[float], weights: Sequence[int], *, deviation: float) -> list[Peak]:
    """Return the peaks of values, that of the most weight first.

    Parameters
    ----------
    values
        A value of each contig.
    weights
        Its bases.
    deviation
        Standard deviation of the values of one genome: each value counts as a normal distribution of this width.
    """
    total = sum(weights)
    if not total:
        return []
    places = [round(_STEPS * value / deviation) for value in values]
    first, density = _density(places, weights)
    valleys = [first + valley for valley in _valleys(density)]
    sums, parts = [0.0] * (len(valleys) + 1), [0] * (len(valleys) + 1)
    for value, weight, place in zip(values, weights, places, strict=True):
        number = bisect.bisect(valleys, place)
        sums[number] += weight * value
        parts[number] += weight
    peaks = [Peak(own / weight, weight / total) for own, weight in zip(sums, parts, strict=True) if weight]
    return sorted(peaks, key=lambda peak: -peak.share)


def _density(places: Sequence[int], weights: Sequence[int]) -> tuple[int, list[float]]:
    """Return the number of the first point, and the density at each."""
    bases: dict[int, int] = {}
    for place, weight in zip(places, weights, strict=True):
        bases[place] = bases.get(place, 0) + weight
    reach = _STEPS * _REACH
    kernel = [math.exp(-((step / _STEPS) ** 2) / 2) for step in range(-reach, reach + 1)]
    first = min(bases) - reach
    density = [0.0] * (max(bases) + reach + 1 - first)
    for place, weight in bases.items():
        for step, part in enumerate(kernel, start=place - reach - first):
            density[step] += weight * part
    return first, density


def _valleys(density: Sequence[float]) -> list[int]:
    """Return the places of the valleys that are low enough between the peaks on both sides."""
    found: list[int] = []
    top, low, place = 0.0, math.inf, 0
    for step, value in enumerate(density):
        if value > top and not (top and low < _VALLEY * top):
            top, low = value, math.inf
        elif value < low:
            low, place = value, step
        elif low < _VALLEY * min(top, value):
            found.append(place)
            top, low = value, math.inf
    return found
