"""Pairs that say more than their unitigs: mates that lie apart, or not wholly on one unitig."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.carrying.crossing import OnUnitigs, repack
from gpuasm.assembly.carrying.insert_sizes import LONGEST, InsertSizes
from gpuasm.assembly.graph.levels import Level
from gpuasm.sequence.reads import Reads

_TIMES_MEDIAN = 5
"""Insert sizes are measured on unitigs so many times as long as a fragment: short ones hold short fragments only."""
_FACING = 0.5
"""Share of the pairs within one unitig that must face each other."""


@dataclass(frozen=True)
class SpanningPairs:
    """The pairs that may join unitigs, and the insert sizes of all pairs.

    Attributes
    ----------
    reads : Reads
        Two pieces a pair, the first of each mate where N cuts it, with the numbers that the reads have in the sample.
    inserts : InsertSizes
    n_pairs : int
        Pairs in the sample.
    """

    reads: Reads
    inserts: InsertSizes
    n_pairs: int


def spanning_pairs(reads: Reads, laid: OnUnitigs, level: Level) -> SpanningPairs | None:
    """Choose the pairs that do not lie within one unitig, facing each other; None where pairs are of no use.

    Parameters
    ----------
    reads
        All reads, paired.
    laid
        Where they lie on the level's unitigs.
    level
        A level of plain k.
    """
    if not reads.paired or reads.n_pieces == 0:
        return None
    first, second = pieces_of_mates(reads)
    here, there = laid.oriented[first], laid.oriented[second]
    faces, inserts = _facing(reads, laid, level, (first, second))
    if inserts is None:
        return None
    xp = array_namespace(here)
    chosen = xp.flatnonzero(~faces & (here >= 0) & (there >= 0))
    pieces = xp.stack([first[chosen], second[chosen]], axis=1).ravel()
    kept = repack(reads.select(pieces))
    return SpanningPairs(kept, inserts, int(first.size))


def measure_inserts(reads: Reads, laid: OnUnitigs, level: Level) -> InsertSizes | None:
    """Measure the sizes of fragments on the unitigs of a level of plain k; None where pairs are of no use."""
    if not reads.paired or reads.n_pieces == 0:
        return None
    return _facing(reads, laid, level, pieces_of_mates(reads))[1]


def _facing(
    reads: Reads, laid: OnUnitigs, level: Level, pieces: tuple[Array, Array]
) -> tuple[Array, InsertSizes | None]:
    """Return which pairs lie within one unitig, facing each other, and the sizes of their fragments."""
    first, second = pieces
    here, there = laid.oriented[first], laid.oriented[second]
    within = laid.contained[first] & laid.contained[second] & (here >= 0) & (there >= 0) & (here >> 1 == there >> 1)
    xp = array_namespace(here)
    length = to_namespace(xp, level.graph.length)[xp.maximum(here, 0) >> 1]
    insert = length - laid.base[first] - laid.base[second]
    faces = within & (here != there) & (insert > 0) & (insert <= LONGEST)
    bases = int((reads.length[first] + reads.length[second]).sum(dtype=np.int64)) // max(1, int(first.size))
    inserts = _measure(to_host(insert[faces]), to_host(length[faces]), bases)
    if int(faces.sum()) < _FACING * int(within.sum()):
        inserts = None
    return faces, inserts


def pieces_of_mates(reads: Reads) -> tuple[Array, Array]:
    """Return the first piece of either mate of every pair whose mates both have one."""
    xp = array_namespace(reads.read)
    number = xp.arange(reads.n_reads // 2 * 2, dtype=np.int64)
    piece = xp.searchsorted(reads.read, number)
    has_one = (piece < reads.n_pieces) & (reads.read[xp.minimum(piece, reads.n_pieces - 1)] == number)
    both = has_one[::2] & has_one[1::2]
    return piece[::2][both], piece[1::2][both]


def _measure(insert: np.ndarray, length: np.ndarray, bases_per_pair: int) -> InsertSizes | None:
    """Measure insert sizes on long unitigs, or on all where these hold too few pairs."""
    if insert.size == 0:
        return None
    is_long = length >= _TIMES_MEDIAN * np.median(insert)
    on_long = InsertSizes.of(np.bincount(insert[is_long], minlength=1), bases_per_pair=bases_per_pair)
    return on_long or InsertSizes.of(np.bincount(insert), bases_per_pair=bases_per_pair)
