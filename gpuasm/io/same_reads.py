"""Find equal beginnings of reads: true mates begin at the two ends of a fragment, so theirs differ."""

from __future__ import annotations

import numpy as np

from gpuasm.io.packing import PackedBlock
from gpuasm.sequence.encoding import BASES_PER_WORD

_FEWEST_BASES = 16
_OF_ONE_BASE = np.arange(4, dtype=np.uint64) * np.uint64(0x5555555555555555)


def share_of_same_reads(first: PackedBlock, second: PackedBlock, n: int) -> float:
    """Return the share of the first n mates that begin with the same bases on the same strand.

    Mates of fewer than 16 bases, or of one base alone, are passed over.

    Parameters
    ----------
    first, second
        Blocks of first and of second mates.
    n
        Mates to compare.
    """
    (bases_1, size_1), (bases_2, size_2) = (_first_bases(block, n) for block in (first, second))
    size = np.minimum(size_1, size_2)
    is_judged = (size >= _FEWEST_BASES) & ~np.isin(bases_1, _OF_ONE_BASE)
    dropped = (2 * (BASES_PER_WORD - size[is_judged])).astype(np.uint64)
    same = bases_1[is_judged] >> dropped == bases_2[is_judged] >> dropped
    return float(same.mean()) if same.size else 0.0


def _first_bases(block: PackedBlock, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first 32 bases of the first n reads, and how many of them there are: (n,) uint64 and int64."""
    segment = np.searchsorted(block.read, np.arange(n))
    is_there = segment < block.read.size
    segment[~is_there] = 0
    bases, size = np.zeros(n, np.uint64), np.zeros(n, np.int64)
    if not block.read.size:
        return bases, size
    is_there &= block.read[segment] == np.arange(n)
    bases = np.where(is_there, windows_at(block.packed, block.start[segment], BASES_PER_WORD), np.uint64(0))
    size = np.where(is_there, np.minimum(block.length[segment], BASES_PER_WORD), 0).astype(np.int64)
    return bases, size


def windows_at(packed: np.ndarray, position: np.ndarray, size: int) -> np.ndarray:
    """Return the windows of ``size`` bases, at most 32, at positions of packed bases: (n,) uint64, in the low bits."""
    entry, shift = position // BASES_PER_WORD, (2 * (position % BASES_PER_WORD)).astype(np.uint64)
    following = packed[np.minimum(entry + 1, packed.size - 1)]
    bases = packed[entry] << shift | following >> (np.uint64(63) - shift) >> np.uint64(1)  # no shift by 64
    return bases >> np.uint64(2 * (BASES_PER_WORD - size))
