"""Copies by reads: how much likelier so many reads are of one copy than of two, and by how much their depth varies.

Reads that begin anywhere with the same chance are Poisson's. Those of real libraries vary more from place to place,
with bases or where an enzyme cuts, and so many more or less say less: logarithms of odds are divided by how many times
as large as Poisson's the variance is (quasi-likelihood: Wedderburn 1974, doi:10.1093/biomet/61.3.439).
"""

from __future__ import annotations

from itertools import pairwise
from math import log

import numpy as np

_WINDOW, _LEAST = 2, 5
"""Windows are so many reads long, and a contig has so many at least."""
_WITHIN = 1 - 1 / (3 * _WINDOW)
"""Variance for Poisson's of the reads in a window, counted by their bases: those across its ends count in part."""
_DEVIATION = 1.4826
"""Standard deviations in the median distance from the median, of a normal distribution."""
_ERRORS, _ERROR = 3, 2.33
"""The variance is taken to be so many standard errors less; one is so much of it, by the root of the windows."""


def log_odds_of_one(reads: np.ndarray | float, one: np.ndarray | float, other: float) -> np.ndarray:
    """Return how much likelier reads are if copies give ``one`` of them than if another gives ``other`` more.

    Parameters
    ----------
    reads : (n,) float64, or one
        How many there are.
    one : (n,) float64, or one
        How many the copies that are there anyway should give.
    other
        How many one more should give.

    Returns
    -------
    (n,) float64, or one
        Natural logarithms; minus infinity where copies give none.
    """
    # The logarithm is Python's, once for each number, so that it is the same on every machine.
    distinct, which = np.unique(one, return_inverse=True)
    more = np.array([log(1 + other / own) if own > 0 else 0.0 for own in distinct.tolist()])[which]
    return np.where(np.asarray(one) > 0, other - reads * more.reshape(np.shape(one)), -np.inf)


def overdispersion(depth: np.ndarray, bounds: np.ndarray, *, read_length: int) -> float:
    """Return how many times as large as Poisson's the variance of reads is, in windows of two read lengths; at least 1.

    The half of the windows that are the nearest to the middle of their contig tell it: others may be of several copies.

    Parameters
    ----------
    depth : (n_places,) int32
        Reads over each base of all contigs.
    bounds : (n + 1,) int64
        Where each contig begins, and the end.
    read_length
        Bases of a typical read.
    """
    size = _WINDOW * read_length
    found = []
    for low, high in pairwise(bounds.tolist()):
        n = (high - low) // size if size else 0
        if n >= _LEAST:
            reads = depth[low : low + n * size].reshape(n, size).sum(axis=1) / read_length
            middle = float(np.median(reads))
            found += [(reads - middle) / middle**0.5] if middle > 0 else []
    if not found:
        return 1.0
    distance = np.abs(np.concatenate(found))
    deviation = _DEVIATION * float(np.median(distance))
    return max(1.0, deviation * deviation / _WITHIN / (1 + _ERRORS * _ERROR / distance.size**0.5))
