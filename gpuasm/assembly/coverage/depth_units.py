"""Fixed-point depth: multiplicities of k-mers of any length, converted to the depth of bases in reads."""

from __future__ import annotations

import numpy as np

from gpuasm.kmers.tally import Tally

DEPTH_SCALE = 32
"""Units in a depth of one read."""


def count_windows(lengths: np.ndarray, k: int) -> int:
    """Return how many windows of k bases sequences have, by the number of sequences of each length."""
    return int((np.maximum(np.arange(lengths.size) - k + 1, 0) * lengths).sum())


def window_weight(lengths: np.ndarray, k: int, *, n_bases: int) -> int:
    """Return the weight of a window of k bases, in units: the bases of the reads for each of their windows.

    Parameters
    ----------
    lengths
        Number of reads, or of fragments made of pairs, of each length.
    k
        Bases of a window.
    n_bases
        Bases of the reads.
    """
    return DEPTH_SCALE * n_bases // max(1, count_windows(lengths, k))


def scale(tally: Tally, weight: int) -> None:
    """Convert multiplicities to depth in units, in place."""
    factor = bounded_weight(tally, weight)
    tally.count[:] *= factor
    tally.followers[:] *= factor


def bounded_weight(tally: Tally, weight: int) -> np.uint32:
    """Return the weight of a window, reduced if 32 bits could not hold the depth: then few reads are as long as k."""
    most = int(tally.count.max()) if tally.n else 1
    return np.uint32(max(1, min(weight, (1 << 31) // most)))
