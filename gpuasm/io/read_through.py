"""Insert sizes of pairs whose insert is shorter than their reads, from the overlap of the mates.

Bases of a mate beyond the overlap are adapter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.parallel import compiled, inlined, signatures
from gpuasm.primitives.counting import count_ones
from gpuasm.sequence.encoding import base_at, decode
from gpuasm.sequence.reads import Reads
from gpuasm.threads import run_chunks

NO_INSERT = -1

_LEAST_OVERLAP = 16
"""Bases. Random mates may also overlap by as many; the adapter that follows then decides."""
_LONGEST = 1024
_ADAPTER_LENGTH, _LEAST_ADAPTER = 32, 10
_LEAST_VOTES, _MAJORITY = 20, 0.6

_ODD_BITS = np.uint64(0x5555555555555555)


@dataclass(frozen=True, eq=False, repr=False)
class PairEvidence:
    """Short inserts, and the adapters that follow them.

    Attributes
    ----------
    insert : (n_pairs,) int32
        Bases of the insert if it is shorter than one of the mates and followed by adapter, else -1.
    adapters : list of str
        What follows such inserts in first and in second mates, as far as most of them agree; at most 32 bases.
    """

    insert: np.ndarray
    adapters: list[str]


def inserts_of_pairs(reads: Reads, n_pairs: int, kit: np.ndarray, position: np.ndarray) -> PairEvidence:
    """Find the pairs that read through their insert.

    An insert is short if the first mate and the reverse complement of the second agree over its whole length, and the
    bases that follow are the consensus of those that follow other short inserts: the adapter, known or not. Repeats
    also make mates overlap, but then other bases follow. An insert is also short if both mates contain the probe of one
    kit at the same position, even at the first base.

    Parameters
    ----------
    reads : Reads
        On the host; reads 2i and 2i + 1 are mates for i < ``n_pairs``.
    n_pairs
        Pairs.
    kit, position : (n_reads,) int8, int32
        The adapter whose first bases each read holds (-1: none), and the bases before them.
    """
    insert = np.full(n_pairs, NO_INSERT, np.int32)
    if n_pairs == 0:
        return PairEvidence(insert, [])
    first_segment = first_segment_of_reads(reads)
    arrays = first_segment, reads.packed, reads.start, reads.length
    run_chunks(_overlap, n_pairs, *arrays, insert)
    votes = np.zeros((2, _ADAPTER_LENGTH, 4), np.int64)
    _vote(*arrays, insert, votes)
    adapter, size = _elected(votes)
    run_chunks(_judge, n_pairs, *arrays, adapter, size, insert)
    first, second = kit[: 2 * n_pairs : 2], kit[1 : 2 * n_pairs : 2]
    at_first, at_second = position[: 2 * n_pairs : 2], position[1 : 2 * n_pairs : 2]
    same = (first >= 0) & (first == second) & (at_first == at_second)
    insert[same] = at_first[same]
    return PairEvidence(insert, [decode(adapter[mate, : size[mate]]) for mate in (0, 1) if size[mate]])


def first_segment_of_reads(reads: Reads) -> np.ndarray:
    """Return the (n_reads + 1,) int64 index of each read's first segment."""
    first_segment = np.zeros(reads.n_reads + 1, np.int64)
    np.cumsum(np.bincount(reads.read, minlength=reads.n_reads), out=first_segment[1:])
    return first_segment


def _elected(votes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of the adapter of either mate, and how many of them a clear majority agrees on."""
    total = votes.sum(axis=2)
    agreed = (total >= _LEAST_VOTES) & (votes.max(axis=2) >= _MAJORITY * total)
    size = np.where(agreed.all(axis=1), _ADAPTER_LENGTH, agreed.argmin(axis=1))
    return votes.argmax(axis=2).astype(np.uint8), np.where(size >= _LEAST_ADAPTER, size, 0)


@inlined()
def window(packed, position):
    """Return the 32 bases from a position on."""
    at = np.uint64(position)  # unsigned: no test for wrapping
    slot, shift = at >> np.uint64(5), np.uint64(2) * (at & np.uint64(31))
    high = packed[slot] << shift
    return high | (packed[slot + np.uint64(1)] >> np.uint64(1)) >> (np.uint64(63) - shift)


@inlined()
def reverse_complement_of_window(bases):
    """Return the reverse complement of 32 bases."""
    x = ~bases
    x = (x >> np.uint64(2)) & np.uint64(0x3333333333333333) | (x & np.uint64(0x3333333333333333)) << np.uint64(2)
    x = (x >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F) | (x & np.uint64(0x0F0F0F0F0F0F0F0F)) << np.uint64(4)
    x = (x >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF) | (x & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8)
    x = (x >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF) | (x & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16)
    return x >> np.uint64(32) | x << np.uint64(32)


@compiled()
def _flip(packed, first, n, flipped):
    """Write the reverse complement of n bases, and zeros after it."""
    slots = n >> 5
    for slot in range(slots):
        flipped[slot] = reverse_complement_of_window(window(packed, first + n - 32 * (slot + 1)))
    rest = np.uint64(2 * (n & 31))
    if rest:
        unused = np.uint64(64) - rest
        flipped[slots] = reverse_complement_of_window(window(packed, first) >> unused) >> unused << unused
    else:
        flipped[slots] = 0
    flipped[slots + 1] = 0


@inlined()
def _differing(bases, others, n):
    """Count the bases that differ among the first n of two windows."""
    x = bases ^ others
    x = (x | x >> np.uint64(1)) & _ODD_BITS
    if n < 32:
        x >>= np.uint64(64 - 2 * n)
    return count_ones(x)


@compiled()
def _agree(packed, at, other, at_other, n):
    """Return whether at most one in eight of n bases differs."""
    found = 0
    for i in range(0, n, 32):
        found += _differing(window(packed, at + i), window(other, at_other + i), n - i)
    return found <= n >> 3


@inlined()
def _letters(length, first, last):
    n = np.int64(0)  # a loop: the sum of numpy would load scipy with it
    for segment in range(first, last):
        n += length[segment]
    return n


@signatures("int64, int64, int64[::1], uint64[::1], int64[::1], int32[::1], int32[::1]")
@compiled()
def _overlap(first, last, first_segment, packed, start, length, insert):
    """Find the longest insert shorter than a mate at which the mates agree; only first segments are compared."""
    flipped = np.zeros(_LONGEST // 32 + 2, dtype=np.uint64)
    for pair in range(first, last):
        a, b, end = first_segment[2 * pair], first_segment[2 * pair + 1], first_segment[2 * pair + 2]
        if b in (a, end) or max(length[a], length[b]) > _LONGEST:
            continue
        start_a, size_a, size_b = start[a], np.int64(length[a]), np.int64(length[b])
        if size_a < _LEAST_OVERLAP:
            continue
        longest = max(_letters(length, a, b), _letters(length, b, end)) - 1
        _flip(packed, start[b], size_b, flipped)
        head = window(packed, start_a)
        for size in range(min(longest, size_a + size_b - _LEAST_OVERLAP), _LEAST_OVERLAP - 1, -1):
            low = max(0, size - size_b)
            n = min(size, size_a) - low
            # Nearly all candidates are rejected here, by their first 32 bases.
            if n < _LEAST_OVERLAP:
                continue
            bases = head if low == 0 else window(packed, start_a + low)
            if _differing(bases, window(flipped, size_b - size + low), n) > n >> 3:
                continue
            if _agree(packed, start_a + low, flipped, size_b - size + low, n):
                insert[pair] = size
                break


@signatures("int64[::1], uint64[::1], int64[::1], int32[::1], int32[::1], int64[:, :, ::1]")
@compiled()
def _vote(first_segment, packed, start, length, insert, votes):
    """Count the bases that follow the inserts, by mate and distance."""
    for pair in range(insert.size):
        if insert[pair] < 0:
            continue
        for mate in range(2):
            segment = first_segment[2 * pair + mate]
            for i in range(min(length[segment] - insert[pair], _ADAPTER_LENGTH)):
                votes[mate, i, base_at(packed, start[segment] + insert[pair] + i)] += 1


@signatures("int64, int64, int64[::1], uint64[::1], int64[::1], int32[::1], uint8[:, ::1], int64[::1], int32[::1]")
@compiled()
def _judge(first, last, first_segment, packed, start, length, adapter, size, insert):
    """Drop inserts not followed by the adapter: of the bases that follow in both mates, two in three must be its."""
    for pair in range(first, last):
        if insert[pair] < 0:
            continue
        n, wrong = 0, 0
        for mate in range(2):
            segment = first_segment[2 * pair + mate]
            for i in range(min(length[segment] - insert[pair], size[mate])):
                n += 1
                wrong += base_at(packed, start[segment] + insert[pair] + i) != np.uint64(adapter[mate, i])
        if n == 0 or 3 * wrong > n:
            insert[pair] = NO_INSERT
