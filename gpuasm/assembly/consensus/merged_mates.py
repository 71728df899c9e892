"""Merged mates: a pair whose fragment is shorter than both its mates together is one read of that fragment.

Where coverage is thin, a k-mer is solid once two reads have it. Mates that overlap are two reads of one molecule: what
was copied or joined wrongly in it they show twice, and its false ends hide the true ones. So such pairs are merged
before the first k-mers are counted: what a fragment shows counts once, and it bridges a gap as far as it reaches, not
as far as one of its mates does (after Magoc and Salzberg 2011, doi:10.1093/bioinformatics/btr507). Mates must overlap
by k bases at least: every k-mer and edge of the fragment is then one of its mates', and no join is made that neither
shows. Longer k-mers are counted in the reads as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.consensus.stretches import differing, word_at
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import for_each
from gpuasm.sequence.reads import Reads

MATCHES_A_MISMATCH = 20
"""Of so many bases over which mates agree, one may differ: two reads of one molecule differ by their errors alone."""
AMBIGUOUS = 2
"""A second way to overlap over one of so many bases of the best: the mates lie in what repeats itself, and stay two."""
_ONE = np.uint64(1)


@dataclass(frozen=True)
class OverlappingMates:
    """Pairs whose mates overlap: the piece of each first mate, the other's following it, and bases of the fragment."""

    first: Array
    insert: Array

    @property
    def n(self) -> int:
        return int(self.first.size)


def merge_mates(reads: Reads, mates: OverlappingMates) -> Reads:
    """Return the reads with one piece, numbered as the first mate, for each pair whose mates overlap.

    Where mates differ, the base counts that is nearer to the beginning of its read: errors grow towards the end.

    Parameters
    ----------
    reads
        Paired reads, on the host or on a device.
    mates
        As `overlapping_mates` tells them.

    Returns
    -------
    Reads, in the order of their numbers, over the same words with those of the fragments behind them.
    """
    xp = array_namespace(reads.words)
    first, insert = mates.first, mates.insert
    if mates.n == 0:
        return reads
    n_words = (insert + 31) // 32
    end = xp.cumsum(n_words)
    total = int(end[-1])
    words = xp.zeros(total + 1, np.uint64)
    piece = xp.searchsorted(end, xp.arange(total, dtype=np.int64), side="right")
    _copy_fragment(total, piece, end - n_words, first, insert, reads.start, reads.length, reads.words, words)
    stays = xp.ones(reads.n_pieces, dtype=bool)
    stays[first + 1] = False
    start, length = reads.start.copy(), reads.length.copy()
    start[first] = 32 * (end - n_words + reads.words.size)
    length[first] = insert.astype(np.int32)
    merged = replace(reads, words=xp.concatenate([reads.words, words]), start=start, length=length)
    return merged.select(xp.flatnonzero(stays))


def overlapping_mates(reads: Reads, k: int) -> OverlappingMates:
    """Find the pairs whose mates overlap by ``k`` bases; those that N cuts into more pieces are left alone."""
    xp = array_namespace(reads.words)
    number = reads.read
    is_first = (number[:-1] % 2 == 0) & (number[1:] == number[:-1] + 1)
    is_first[1:] &= number[:-2] != number[1:-1]
    is_first[:-1] &= number[2:] != number[1:-1]
    first = xp.flatnonzero(is_first)
    insert = xp.zeros(first.size, np.int64)
    if first.size:
        _find_insert(int(first.size), first, reads.start, reads.length, reads.words, k, insert)
    chosen = xp.flatnonzero(insert)
    return OverlappingMates(first[chosen], insert[chosen])


@for_each
def _find_insert(i, first, start, length, words, k, insert):
    a = first[i]
    size_a, size_b = np.int64(length[a]), np.int64(length[a + 1])
    best, second, found = np.int64(0), np.int64(0), np.int64(0)
    for size in range(k, size_a + size_b - k + 1):
        begin, end = max(np.int64(0), size - size_b), min(size_a, size)
        n = end - begin
        if n < k or AMBIGUOUS * n <= best:
            continue
        # Base j of the second mate's other strand stands at size - size_b + j of the fragment.
        left, j = n // MATCHES_A_MISMATCH, begin - (size - size_b)
        last = j + n
        while j < last and left >= 0:
            differs = differing(words, start[a + 1], size_b, 1, j, words, start[a] + size - size_b)
            if last - j < 32:
                differs = differs >> np.uint64(64 - 2 * (last - j))
            while differs != np.uint64(0) and left >= 0:
                differs &= differs - _ONE
                left -= 1
            j += 32
        if left >= 0 and n > best:
            best, second, found = n, best, size
        elif left >= 0:
            second = max(second, n)
    insert[i] = found if AMBIGUOUS * second < best else 0


@for_each
def _copy_fragment(w, piece, first_word, first, insert, start, length, words, out):
    p = piece[w]
    a, size = first[p], insert[p]
    at = 32 * (w - first_word[p])
    n = min(np.int64(32), size - at)
    from_a = min(max((size + 1) // 2, size - np.int64(length[a + 1])), np.int64(length[a])) - at
    word = np.uint64(0)
    if from_a > 0:
        kept = np.uint64(64 - 2 * min(n, from_a))
        word = (word_at(words, start[a] + at) >> kept) << kept
    if from_a < n:
        skipped = max(np.int64(0), from_a)
        m = n - skipped
        # What stands last here is first on the second mate.
        other = word_at(words, start[a + 1] + size - at - n) >> np.uint64(64 - 2 * m)
        word |= reverse_complement_plain(other, m) << np.uint64(64 - 2 * n)
    out[w] = word
