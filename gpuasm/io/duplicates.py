"""Find duplicate pairs: pairs sequenced from amplified copies of one molecule.

A chimeric or mutated molecule is a single observation, however many duplicates support it. Pairs are duplicates if both
ends of their fragments are identical in sequence; SAMtools (doi:10.1093/bioinformatics/btp352) compares the positions
of aligned pairs instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.io.read_through import first_segment_of_reads, window
from gpuasm.parallel import compiled, inlined
from gpuasm.primitives.randomness import random_bits
from gpuasm.sequence.reads import Reads
from gpuasm.threads import run_chunks

MANY = 0.02
"""Least share of duplicate pairs, above the share expected by chance, that is reported."""
MOST = 0.75
"""Largest share of a shotgun library; above it, the fragments are amplicons, which share their ends."""

_COMPARED = 32
"""Bases of either mate that are compared."""
_SAMPLED = 1 << 16
_NONE = np.uint64(0)
_SALT = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False, repr=False)
class DuplicateSurvey:
    """Shares of duplicates in a sample of the pairs.

    Attributes
    ----------
    share
        Share of pairs with the same ends as an earlier pair.
    by_chance
        The share expected if no molecule had been copied.
    """

    share: float
    by_chance: float

    @property
    def are_many(self) -> bool:
        """Whether the share exceeds chance by `MANY`."""
        return self.share - self.by_chance >= MANY


def survey_duplicates(reads: Reads, n_pairs: int) -> DuplicateSurvey:
    """Estimate how many pairs are duplicates, and how many seem so by chance.

    Reads of a short genome at high coverage share their ends by chance. By chance as many fragments begin at the same
    base and end one base earlier; copies do not, so these estimate the share expected by chance.

    Parameters
    ----------
    reads : Reads
        On the host; reads 2i and 2i + 1 are mates for i < ``n_pairs``.
    n_pairs
        Pairs.
    """
    first_segment = first_segment_of_reads(reads)
    ends = _ends(reads, first_segment, n_pairs)
    known = ends[ends != _NONE]
    if not known.size:
        return DuplicateSurvey(0.0, 0.0)
    # By their ends, so that all duplicates of a pair are in the sample, whatever the order of the pairs.
    mask = np.uint64((1 << (known.size // _SAMPLED).bit_length()) - 1)
    chosen = np.unique(known[known & mask == 0], return_counts=True)
    n = int(chosen[1].sum())
    shorter = _ends(reads, first_segment, n_pairs, shift=1)
    shorter = shorter[(shorter != _NONE) & (shorter & mask == 0)]
    neighbours = float(np.isin(shorter, chosen[0]).mean()) if shorter.size else 0.0
    return DuplicateSurvey(1.0 - chosen[0].size / max(1, n), _by_chance(neighbours))


def _by_chance(neighbours: float) -> float:
    """Return the share of pairs that are not the first at their place, if so many places next to a pair are taken.

    Pairs fall on places at random, so many on each that a place is free with this likelihood.
    """
    if neighbours <= 0.0:
        return 0.0
    per_place = -np.log1p(-min(neighbours, 0.999))
    return float(1.0 - neighbours / per_place)


def find_duplicates(reads: Reads, n_pairs: int) -> np.ndarray:
    """Mark the pairs that are duplicates of a pair that is kept.

    Pairs are from one molecule if the first 32 bases of both mates are the same, or the next 32, in any order of mates.
    The longest is kept; of those of equal length the choice depends on their bases alone.

    Parameters
    ----------
    reads : Reads
        On the host; reads 2i and 2i + 1 are mates for i < ``n_pairs``.
    n_pairs
        Pairs.

    Returns
    -------
    (n_pairs,) bool
    """
    first_segment, leaves = first_segment_of_reads(reads), np.zeros(n_pairs, np.bool_)
    for offset in (0, _COMPARED):  # an error hides a duplicate from one of them
        ends = _ends(reads, first_segment, n_pairs, offset=offset)
        ends[leaves] = _NONE
        order = np.argsort(ends)
        _leave_out(ends[order], order, first_segment, reads.packed, reads.start, reads.length, leaves)
    return leaves


def _ends(reads: Reads, first_segment: np.ndarray, n_pairs: int, *, offset: int = 0, shift: int = 0) -> np.ndarray:
    """Return a hash of the bases of both ends of each pair, 0 without: (n_pairs,) uint64.

    They are read from base ``offset`` of a mate on; the second mate's ``shift`` bases further inwards.
    """
    ends = np.zeros(n_pairs, np.uint64)
    run_chunks(_name, n_pairs, first_segment, reads.packed, reads.start, reads.length, offset, shift, ends)
    return ends


@compiled()
def _name(first, last, first_segment, packed, start, length, offset, shift, ends):
    for pair in range(first, last):
        a, b, end = first_segment[2 * pair], first_segment[2 * pair + 1], first_segment[2 * pair + 2]
        if b in (a, end) or length[a] < offset + _COMPARED or length[b] < offset + shift + _COMPARED:
            continue
        x = window(packed, start[a] + offset)
        y = window(packed, start[b] + offset + shift)
        name = random_bits(random_bits(_SALT, min(x, y)), max(x, y))
        ends[pair] = name if name != _NONE else _SALT


@inlined()
def size_and_hash(read, first_segment, packed, start, length):
    """Return how many bases a read has, and a hash of them."""
    size, name = np.int64(0), np.uint64(0)
    for segment in range(first_segment[read], first_segment[read + 1]):
        n = np.int64(length[segment])
        size += n
        for at in range(0, n, _COMPARED):
            left = min(n - at, _COMPARED)
            name = random_bits(name, window(packed, start[segment] + at) >> np.uint64(2 * (_COMPARED - left)))
        name = random_bits(name, np.uint64(n))
    return size, random_bits(_SALT, name)


@inlined()
def _size_and_text(pair, first_segment, packed, start, length):
    """Return how many bases a pair has, and a hash of them that does not depend on the order of the mates."""
    size, text = np.int64(0), np.uint64(0)
    for mate in range(2):
        of_mate, name = size_and_hash(2 * pair + mate, first_segment, packed, start, length)
        size += of_mate
        text += name
    return size, text


@compiled()
def _leave_out(ends, order, first_segment, packed, start, length, leaves):
    """Mark all but the best of each run of pairs with the same ends."""
    i = 0
    while i < ends.size:
        j = i + 1
        while j < ends.size and ends[j] == ends[i]:
            j += 1
        if j - i > 1 and ends[i] != _NONE:
            best, best_size, best_text = np.int64(-1), np.int64(-1), np.uint64(0)
            for at in range(i, j):
                pair = order[at]
                size, text = _size_and_text(pair, first_segment, packed, start, length)
                ties = size == best_size and (text < best_text or (text == best_text and pair < best))
                if size > best_size or ties:
                    best, best_size, best_text = pair, size, text
                leaves[pair] = True
            leaves[best] = False
        i = j
