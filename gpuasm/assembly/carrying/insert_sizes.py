"""Insert sizes: how long the fragments are that mates were read from, measured where both lie on one unitig."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LONGEST = 4000
"""Fragments are looked for up to this many bases; mates farther apart tell of nothing near by."""
_LEAST_PAIRS = 100
_TAIL = 2000
"""One fragment in so many may be shorter than `InsertSizes.shortest`, and one longer than `InsertSizes.longest`."""
_WIDTHS = 8
"""Fragments so many times as far from the median as half of all are come from chimeras and repeats."""

_FLOOR_BITS = 14
"""No length is less likely than the likeliest by more than 2 to this: chimeras have any."""


@dataclass(frozen=True)
class InsertSizes:
    """The distribution of insert sizes: of fragments, both mates included.

    Attributes
    ----------
    histogram : (longest + 1,) int64
        How many fragments of each length were measured.
    bases_per_pair : int
        Mean bases of a pair's two reads.
    """

    histogram: np.ndarray
    bases_per_pair: int

    @classmethod
    def of(cls, measured: np.ndarray, *, bases_per_pair: int) -> InsertSizes | None:
        """Return the distribution without what lies far outside, or None where hardly any pair was measured.

        Parameters
        ----------
        measured : (n,) int64
            How many fragments of each length were seen.
        bases_per_pair
            Mean bases of a pair's two reads.
        """
        if measured.sum() < _LEAST_PAIRS:
            return None
        low, median, high = (_quantile(measured, share) for share in (0.25, 0.5, 0.75))
        reach = _WIDTHS * max(1, median - low, high - median)
        near = measured.copy()
        near[: max(0, median - reach)] = 0
        near[median + reach + 1 :] = 0
        return cls(near[: _quantile(near, 1.0) + 1], bases_per_pair)

    @property
    def n(self) -> int:
        """Fragments measured."""
        return int(self.histogram.sum())

    @property
    def mean(self) -> float:
        """Mean insert size in bases."""
        return float((self.histogram * np.arange(self.histogram.size)).sum() / self.n)

    @property
    def sd(self) -> float:
        """Standard deviation in bases."""
        squares = self.histogram * (np.arange(self.histogram.size) - self.mean) ** 2
        return float(np.sqrt(squares.sum() / self.n))

    @property
    def shortest(self) -> int:
        """Length that hardly any fragment falls below."""
        return _quantile(self.histogram, 1 / _TAIL)

    @property
    def longest(self) -> int:
        """Length that hardly any fragment exceeds."""
        return _quantile(self.histogram, 1 - 1 / _TAIL)

    def log2_density(self) -> np.ndarray:
        """Return how likely each length is: (longest + 1,) int32, log2 in 1 / 256, smoothed, bounded below.

        Integers, so that sums of them do not depend on order or device.
        """
        width = max(1, round(self.sd / 8))
        smooth = np.convolve(self.histogram, np.ones(2 * width + 1), mode="same")
        density = smooth / smooth.max()
        return np.round(256 * np.log2(np.maximum(density, 2.0**-_FLOOR_BITS))).astype(np.int32)


def _quantile(histogram: np.ndarray, share: float) -> int:
    """Return the least length that this share of the fragments does not exceed."""
    cumulative = np.cumsum(histogram)
    return int(np.searchsorted(cumulative, max(1.0, share * cumulative[-1])))
