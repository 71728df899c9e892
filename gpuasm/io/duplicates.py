"""Duplicates: pairs read of copies of one molecule, as amplification makes them.

A molecule may be wrong: joined of two, or with a base that was copied wrongly. What its duplicates say is then one
witness, however often it is said. Mates begin where their molecule ends, and both ends of two molecules seldom fall on
the same bases by chance (by that doi:10.1093/bioinformatics/btp352 tells duplicates of aligned pairs; here bases do).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.io.read_through import pieces_of_reads, window
from gpuasm.parallel import compiled, inlined, run_chunks
from gpuasm.sequence.randomness import random_bits
from gpuasm.sequence.reads import Reads

MANY = 0.02
"""Share of pairs that are duplicates beyond chance from which on it is worth telling."""
MOST = 0.75
"""Share beyond which they are no accident: all fragments of an amplicon begin and end alike."""

_WORD = 32
"""Bases of either mate that are compared: of two pairs of random bases, these 64 are the same once in 10^38."""
_SAMPLED = 1 << 16
_NONE = np.uint64(0)
_SALT = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class DuplicateSurvey:
    """What a sample of the pairs says.

    Attributes
    ----------
    share
        Pairs that begin and end as another one before them, of all.
    by_chance
        As many as there would be if no molecule had been copied.
    """

    share: float
    by_chance: float

    @property
    def are_many(self) -> bool:
        """Whether there are more than chance makes."""
        return self.share - self.by_chance >= MANY


def survey_duplicates(reads: Reads, n_pairs: int) -> DuplicateSurvey:
    """Estimate how many pairs are duplicates, and how many seem so by chance.

    Deep reads of a short genome begin and end alike without having been copied. By chance as many fragments begin as
    another one and end one base before it; copies do not, so these tell.

    Parameters
    ----------
    reads : Reads
        On the host; reads 2i and 2i + 1 are mates for i < ``n_pairs``.
    n_pairs
        Pairs.
    """
    first_piece = pieces_of_reads(reads)
    ends = _ends(reads, first_piece, n_pairs)
    told = ends[ends != _NONE]
    if not told.size:
        return DuplicateSurvey(0.0, 0.0)
    # By their ends, so that all duplicates of a pair are in the sample, whatever the order of the pairs.
    mask = np.uint64((1 << (told.size // _SAMPLED).bit_length()) - 1)
    chosen = np.unique(told[told & mask == 0], return_counts=True)
    n = int(chosen[1].sum())
    shorter = _ends(reads, first_piece, n_pairs, shift=1)
    shorter = shorter[(shorter != _NONE) & (shorter & mask == 0)]
    neighbours = float(np.isin(shorter, chosen[0]).mean()) if shorter.size else 0.0
    return DuplicateSurvey(1.0 - chosen[0].size / max(1, n), _by_chance(neighbours))


def _by_chance(neighbours: float) -> float:
    """Return the share of pairs that are not the first at their place, if so many places beside a pair are taken.

    Pairs fall on places at random, so many on each that a place is free with this likelihood.
    """
    if neighbours <= 0.0:
        return 0.0
    per_place = -np.log1p(-min(neighbours, 0.999))
    return float(1.0 - neighbours / per_place)


def find_duplicates(reads: Reads, n_pairs: int) -> np.ndarray:
    """Tell pairs that are duplicates of one that stays.

    Pairs are of one molecule if the first 32 bases of both mates are the same, or the next 32, whichever mate is first.
    The longest stays; of those of equal length which one does depends on their bases alone.

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
    first_piece, leaves = pieces_of_reads(reads), np.zeros(n_pairs, np.bool_)
    for offset in (0, _WORD):  # an error hides a duplicate from one of them
        ends = _ends(reads, first_piece, n_pairs, offset=offset)
        ends[leaves] = _NONE
        order = np.argsort(ends)
        _leave_out(ends[order], order, first_piece, reads.words, reads.start, reads.length, leaves)
    return leaves


def _ends(reads: Reads, first_piece: np.ndarray, n_pairs: int, *, offset: int = 0, shift: int = 0) -> np.ndarray:
    """Return a name of the bases of both ends of each pair, 0 without: (n_pairs,) uint64.

    They are read from base ``offset`` of a mate on; the second mate's ``shift`` bases further inwards.
    """
    ends = np.zeros(n_pairs, np.uint64)
    run_chunks(_name, n_pairs, first_piece, reads.words, reads.start, reads.length, offset, shift, ends)
    return ends


@compiled()
def _name(first, last, first_piece, words, start, length, offset, shift, ends):
    for pair in range(first, last):
        a, b, end = first_piece[2 * pair], first_piece[2 * pair + 1], first_piece[2 * pair + 2]
        if b in (a, end) or length[a] < offset + _WORD or length[b] < offset + shift + _WORD:
            continue
        x = window(words, start[a] + offset)
        y = window(words, start[b] + offset + shift)
        name = random_bits(random_bits(_SALT, min(x, y)), max(x, y))
        ends[pair] = name if name != _NONE else _SALT


@inlined()
def _size_and_text(pair, first_piece, words, start, length):
    """Return how many bases a pair has, and a name of them that does not say which mate is first."""
    size, text = np.int64(0), np.uint64(0)
    for mate in range(2):
        name = np.uint64(0)
        for piece in range(first_piece[2 * pair + mate], first_piece[2 * pair + mate + 1]):
            n = np.int64(length[piece])
            size += n
            for at in range(0, n, _WORD):
                left = min(n - at, _WORD)
                name = random_bits(name, window(words, start[piece] + at) >> np.uint64(2 * (_WORD - left)))
            name = random_bits(name, np.uint64(n))
        text += random_bits(_SALT, name)
    return size, text


@compiled()
def _leave_out(ends, order, first_piece, words, start, length, leaves):
    """Of each run of pairs of the same ends, leave out all but the best."""
    i = 0
    while i < ends.size:
        j = i + 1
        while j < ends.size and ends[j] == ends[i]:
            j += 1
        if j - i > 1 and ends[i] != _NONE:
            best, best_size, best_text = np.int64(-1), np.int64(-1), np.uint64(0)
            for at in range(i, j):
                pair = order[at]
                size, text = _size_and_text(pair, first_piece, words, start, length)
                ties = size == best_size and (text < best_text or (text == best_text and pair < best))
                if size > best_size or ties:
                    best, best_size, best_text = pair, size, text
                leaves[pair] = True
            leaves[best] = False
        i = j
