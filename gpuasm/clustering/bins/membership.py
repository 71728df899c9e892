"""Probability of each bin for each contig, by composition and depth."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

ROUNDS = 3
TYPICAL = 0.9
"""Probability from which a contig is typical of its bin."""
HEAVY_TAIL = 6.0
"""Degrees of freedom of the distribution of compositions: islands and phages differ much from their genome."""
AVERAGED_OUT = 4.0
"""Greatest weight of a contig's composition, in windows: the variation within its genome does not average out."""
LIGHTEST = 10
"""Greatest weight of a contig in the mean of its bin, in windows."""
DEPTH_SPREAD = 0.05
"""Least standard deviation of the logarithm of depth within a genome, in addition to that of counting reads."""
READ = 150
"""Bases of a read, for the counting noise of depth."""
_WITHIN, _UNEVEN, _COPIED, _NEVER = 0.9, 0.05, 0.05, 1e-9
_MOST_COPIES = 20


@dataclass(frozen=True)
class Membership:
    """Probabilities of the bins of each contig.

    Attributes
    ----------
    probability : (m, b) float64
        Probability of each bin; rows sum to 1, or to less if bins without contigs were left out.
    """

    probability: np.ndarray

    @functools.cached_property
    def best(self) -> np.ndarray:
        """The most probable bin of each contig, (m,) int64."""
        return self.probability.argmax(axis=1)

    @functools.cached_property
    def sureness(self) -> np.ndarray:
        """The probability of the most probable bin, (m,) float64."""
        return self.probability.max(axis=1)

    @functools.cached_property
    def second(self) -> np.ndarray:
        """The second most probable bin, (m,) int64; -1 if there is only one."""
        if self.probability.shape[1] < 2:
            return np.full(self.probability.shape[0], -1)
        return np.argsort(-self.probability, axis=1, kind="stable")[:, 1]


def assign(
    place: np.ndarray, length: np.ndarray, depth: np.ndarray, *, start: np.ndarray, n_bins: int, window: int,
    sureness: float,
) -> Membership:  # fmt: skip
    """Assign contigs to bins, starting from those whose bin is known from the map.

    Each round estimates the bins from the contigs of sufficient probability, and the probabilities of all contigs.

    Parameters
    ----------
    place : (m, d) float64
        Composition of each contig, with noise of about 1 for a window of ``window`` bases.
    length : (m,) int64
        Bases of each contig, at least 1.
    depth : (m, s) float64
        Depth in each sample; s may be 0.
    start : (m,) int
        Bin of each contig, -1 if unknown; each bin has at least one.
    n_bins
        Number of bins.
    window
        Bases of a window.
    sureness
        Least probability of a contig that is used to estimate its bin; a higher one than `TYPICAL` counts as that.
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
        sure = np.where(found.sureness >= min(sureness, TYPICAL), found.best, -1)
        # A bin without any contig keeps the estimate from its previous contigs.
        empty = np.flatnonzero(np.bincount(sure[sure >= 0], minlength=n_bins) == 0)
        bin_of = np.where(np.isin(bin_of, empty), bin_of, sure)
    return found


def _mean(rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return (rows * weight[:, None]).sum(axis=0) / weight.sum()


def _of_composition(place: np.ndarray, centre: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return the log likelihood up to a constant: Student's t in d dimensions."""
    apart = place - centre
    squared = (apart * apart).sum(axis=1) / noise
    return -(HEAVY_TAIL + place.shape[1]) / 2 * np.log1p(squared / HEAVY_TAIL)


def _summary(level: np.ndarray, length: np.ndarray) -> tuple[float, float]:
    """Return the median, and half the distance between the 16 % and 84 % quantiles by bases."""
    order = np.argsort(level, kind="stable")
    reached = np.cumsum(length[order]) / length.sum()
    low, middle, high = (float(level[order[np.searchsorted(reached, share)]]) for share in (0.16, 0.5, 0.84))
    return middle, max(DEPTH_SPREAD, (high - low) / 2)


def _of_depth(level: np.ndarray, counting: np.ndarray, of_bin: tuple[float, float]) -> np.ndarray:
    """Return the log likelihood of depths.

    A mixture of depths around that of the bin, with usual or larger variance, and of higher depths by any factor, for
    repeats and plasmids. Sequence of a genome does not have less depth than the genome.
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
