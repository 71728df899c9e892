"""Insert sizes: the lengths of sequenced fragments, measured from pairs whose mates align to one unitig."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.parameters import FRAGMENTS

_QUARTILES = (0.25, 0.5, 0.75)
_LOG2_SCALE = 256


@dataclass(frozen=True)
class InsertSizes:
    """The distribution of insert sizes: lengths of fragments, both mates included.

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
        """Return the distribution without outliers, or None where too few pairs were measured.

        Parameters
        ----------
        measured : (n,) int64
            How many fragments of each length were measured.
        bases_per_pair
            Mean bases of a pair's two reads.
        """
        if measured.sum() < FRAGMENTS.insert_least_pairs:
            return None
        low, median, high = (_quantile(measured, share) for share in _QUARTILES)
        reach = FRAGMENTS.insert_outlier_widths * max(1, median - low, high - median)
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
        """The least usual length: few fragments are shorter."""
        return _quantile(self.histogram, 1 / FRAGMENTS.insert_tail_odds)

    @property
    def longest(self) -> int:
        """The greatest usual length: few fragments are longer."""
        return _quantile(self.histogram, 1 - 1 / FRAGMENTS.insert_tail_odds)

    def log2_density(self) -> np.ndarray:
        """Return the smoothed log2 density of each length, bounded below: (longest + 1,) int32, in 1 / 256.

        Sums of integers depend neither on order nor on the device.
        """
        width = max(1, round(self.sd / FRAGMENTS.insert_smoothing))
        smooth = np.convolve(self.histogram, np.ones(2 * width + 1), mode="same")
        density = smooth / smooth.max()
        return np.round(_LOG2_SCALE * np.log2(np.maximum(density, 2.0**-FRAGMENTS.insert_floor_bits))).astype(np.int32)


def _quantile(histogram: np.ndarray, share: float) -> int:
    """Return the least length that this share of the fragments does not exceed."""
    cumulative = np.cumsum(histogram)
    return int(np.searchsorted(cumulative, max(1.0, share * cumulative[-1])))
