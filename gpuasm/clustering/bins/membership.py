"""Which bin each contig belongs to, and how sure that is: by composition and depth together."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

ROUNDS = 3
HEAVY_TAIL = 6.0
"""Degrees of freedom of the distribution of compositions: islands and phages lie far from their genome."""
AVERAGED_OUT = 4.0
"""A contig of any length tells as much as so many pieces at most: its genome's unevenness does not average out."""
LIGHTEST = 10
"""A contig weighs as much as so many pieces at most in the mean of its bin."""
DEPTH_SPREAD = 0.05
"""Least standard deviation of the logarithm of depth within a genome, beside that of counting reads."""
READ = 150
"""Bases of a read, which says how even depth can be."""
_WITHIN, _UNEVEN, _COPIED, _NEVER = 0.9, 0.05, 0.05, 1e-9
_MOST_COPIES = 20


@dataclass(frozen=True)
class Membership:
    """How sure the bin of each contig is.

    Attributes
    ----------
    probability : (m, b) float64
        Of each bin; rows add up to 1.
    """

    probability: np.ndarray

    @functools.cached_property
    def best(self) -> np.ndarray:
        """The likeliest bin of each contig, (m,) int64."""
        return self.probability.argmax(axis=1)

    @functools.cached_property
    def sureness(self) -> np.ndarray:
        """Its probability, (m,) float64."""
        return self.probability.max(axis=1)

    @functools.cached_property
    def second(self) -> np.ndarray:
        """The next likeliest bin, (m,) int64; -1 where there is but one."""
        if self.probability.shape[1] < 2:
            return np.full(self.probability.shape[0], -1)
        return np.argsort(-self.probability, axis=1, kind="stable")[:, 1]


def assign(
    place: np.ndarray, length: np.ndarray, depth: np.ndarray, *, start: np.ndarray, n_bins: int, window: int,
    sureness: float,
) -> Membership:  # fmt: skip
    """Assign contigs to bins, beginning with those whose bin is known from the map.

    Each round describes the bins by the contigs that are surely in them, and looks at all contigs anew.

    Parameters
    ----------
    place : (m, d) float64
        Composition of each contig, with noise of about 1 for a piece of ``window`` bases.
    length : (m,) int64
        Bases, at least one each.
    depth : (m, s) float64
        Of each sample; s may be 0.
    start : (m,) int
        Bin of each contig, -1 where it is not known; each bin has at least one.
    n_bins
        Bins.
    window
        Bases of a piece.
    sureness
        Least probability of a contig that describes its bin.
    """
    weight = np.minimum(length, LIGHTEST * window).astype(np.float64)
    noise = np.maximum(window / length, 1 / AVERAGED_OUT)
    counting = READ / np.maximum(depth * length[:, None], READ)
    bin_of, found = start, Membership(np.zeros((length.size, n_bins)))
    for _ in range(ROUNDS):
        likelihood = np.empty((length.size, n_bins))
        for b in range(n_bins):
            of_bin = np.flatnonzero(bin_of == b)
            likelihood[:, b] = _of_composition(place, _mean(place[of_bin], weight[of_bin]), noise)
            for s in range(depth.shape[1]):
                level = np.log(np.maximum(depth[:, s], 1 / READ))
                likelihood[:, b] += _of_depth(level, counting[:, s], _summary(level[of_bin], length[of_bin]))
        found = Membership(_normalised(likelihood))
        sure = np.where(found.sureness >= sureness, found.best, -1)
        # A bin that would be left without any contig is described by those it had.
        empty = np.flatnonzero(np.bincount(sure[sure >= 0], minlength=n_bins) == 0)
        bin_of = np.where(np.isin(bin_of, empty), bin_of, sure)
    return found


def _mean(rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return (rows * weight[:, None]).sum(axis=0) / weight.sum()


def _of_composition(place: np.ndarray, centre: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return the logarithm of the likelihood, but for a constant: Student's t in d dimensions."""
    apart = place - centre
    squared = (apart * apart).sum(axis=1) / noise
    return -(HEAVY_TAIL + place.shape[1]) / 2 * np.log1p(squared / HEAVY_TAIL)


def _summary(level: np.ndarray, length: np.ndarray) -> tuple[float, float]:
    """Return the median, and half the distance between the points that hold 16 % of bases on either side."""
    order = np.argsort(level, kind="stable")
    reached = np.cumsum(length[order]) / length.sum()
    low, middle, high = (float(level[order[np.searchsorted(reached, share)]]) for share in (0.16, 0.5, 0.84))
    return middle, max(DEPTH_SPREAD, (high - low) / 2)


def _of_depth(level: np.ndarray, counting: np.ndarray, of_bin: tuple[float, float]) -> np.ndarray:
    """Return the logarithm of the likelihood of depths.

    Depth around that of the bin, at times less even than is usual; deeper by any factor, as repeats and plasmids are;
    but what is of a genome is not shallower than the genome.
    """
    middle, spread = of_bin
    apart, variance = level - middle, spread * spread + counting
    is_copied = (apart > 0) & (apart < np.log(_MOST_COPIES))
    likelihood = _WITHIN * _normal(apart, variance) + _UNEVEN * _normal(apart, 9 * variance)
    return np.log(likelihood + _COPIED / np.log(_MOST_COPIES) * is_copied + _NEVER)


def _normal(apart: np.ndarray, variance: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * apart * apart / variance) / np.sqrt(2 * np.pi * variance)


def _normalised(likelihood: np.ndarray) -> np.ndarray:
    probability = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    return probability / probability.sum(axis=1, keepdims=True)
