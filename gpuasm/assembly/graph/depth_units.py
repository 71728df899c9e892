"""Depth in units: multiplicities of k-mers of any length, made comparable as the depth of bases in reads."""

from __future__ import annotations

from dataclasses import replace

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


def scaled(tally: Tally, worth: int) -> Tally:
    """Turn multiplicities into depth in units; a k that hardly any read reaches is bounded by what 32 bits hold."""
    most = int(tally.count.max()) if tally.n else 1
    factor = np.uint32(max(1, min(worth, (1 << 31) // most)))
    return replace(tally, count=tally.count * factor, followers=tally.followers * factor)
