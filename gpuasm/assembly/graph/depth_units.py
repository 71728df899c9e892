"""Depth in units: multiplicities of k-mers of any length, made comparable as the depth of bases in reads."""

from __future__ import annotations

import numpy as np

from gpuasm.kmers.tally import Tally

UNIT = 32
"""Depths are kept in units of 1 / 32."""
TWO_READS = 1.75
"""Windows a position that tell two reads from one that another touches."""


def count_windows(lengths: np.ndarray, k: int) -> int:
    """Return how many windows of k bases pieces of the given lengths have."""
    return int((np.maximum(np.arange(lengths.size) - k + 1, 0) * lengths).sum())


def window_worth(lengths: np.ndarray, k: int, *, n_bases: int) -> int:
    """Return what a window of k bases counts as, in units: the bases of the reads for each of their windows.

    Parameters
    ----------
    lengths
        How many pieces there are of each length: of reads, or of fragments made of pairs.
    k
        Bases of a window.
    n_bases
        Bases of the reads.
    """
    return UNIT * n_bases // max(1, count_windows(lengths, k))


def scale(tally: Tally, worth: int) -> None:
    """Turn multiplicities into depth in units, where they are."""
    factor = worth_within(tally, worth)
    tally.count[:] *= factor
    tally.followers[:] *= factor


def worth_within(tally: Tally, worth: int) -> np.uint32:
    """Return what a window counts as, less where 32 bits would not hold it: where hardly any read reaches k."""
    most = int(tally.count.max()) if tally.n else 1
    return np.uint32(max(1, min(worth, (1 << 31) // most)))
