"""Align contigs to contigs: stretches that are nearly alike, and contigs that another one contains.

Shared 31-mers give the diagonals. On each diagonal the alignment is the run of bases with the highest score: 1 for a
match, -19 for a mismatch, so that at most one base in twenty differs. Sequence with gaps has several alignments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.contig import Contig, bounds_of
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.text_kmers import kmers_of, places_of
from gpuasm.primitives.runs import numbers_of_ranges
from gpuasm.sequence.encoding import NOT_A_BASE, reverse_complement

RIGHT, LEFT = 0, 1


@dataclass(frozen=True, slots=True)
class SelfAlignment:
    """An alignment of a part of a stretch to another place of the contigs.

    The part, from ``low`` to ``high``, is counted from the first base of the stretch on; the place, from ``begin`` to
    ``end``, among the bases of all contigs, on ``contig``. Its reverse complement is aligned there if ``is_reversed``.
    """

    contig: int
    low: int
    high: int
    begin: int
    end: int
    is_reversed: bool


def find_self_alignments(
    codes: np.ndarray, bounds: np.ndarray, stretches: Sequence[tuple[int, int]]
) -> list[list[SelfAlignment]]:
    """Return the alignments of stretches of contigs to other places of the contigs, for each stretch, by place.

    They have `contained_end_min_bases` at least. K-mers of more than `self_alignment_max_places` places are ignored,
    and so are alignments that overlap the stretch itself.

    Parameters
    ----------
    codes : (n_places,) uint8
        Bases of all contigs, one after the other; 4 in gaps, which match nothing.
    bounds : (n + 1,) int64
        Where each contig begins, and the end.
    stretches
        Begin and end of each stretch among these bases.
    """
    found: list[list[SelfAlignment]] = [[] for _ in stretches]
    for row, contig, is_reversed, shift in _diagonals(codes, bounds, stretches).tolist():
        low, high = stretches[row]
        first, last = int(bounds[contig]), int(bounds[contig + 1])
        # Base i of the stretch is at shift + i, or at shift - i if reversed.
        least, most = (shift - last + 1, shift - first + 1) if is_reversed else (first - shift, last - shift)
        least, most = max(0, least), min(high - low, most)
        own = codes[low + least : low + most]
        begin, end = (shift - most + 1, shift - least + 1) if is_reversed else (shift + least, shift + most)
        other = reverse_complement(codes[begin:end]) if is_reversed else codes[begin:end]
        differs = (own != other) | (own >= NOT_A_BASE)
        _, one, two = best_run(np.where(differs, 1 - ALIGNMENT.similar_bases_per_difference, 1))
        one, two = one + least, two + least
        begin, end = (shift - two + 1, shift - one + 1) if is_reversed else (shift + one, shift + two)
        if two - one >= ALIGNMENT.contained_end_min_bases and (end <= low or begin >= high):
            found[row].append(SelfAlignment(contig, one, two, begin, end, bool(is_reversed)))
    return [sorted(own, key=lambda alignment: (alignment.begin, alignment.end, alignment.is_reversed)) for own in found]


def _diagonals(codes: np.ndarray, bounds: np.ndarray, stretches: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return the diagonals of shared k-mers, (m, 4) int64, distinct: stretch, contig, reversed or not, and shift."""
    kmers = [kmers_of(codes[low:high] & 3) for low, high in stretches]
    n_kmers = [forward.size for forward, _ in kmers]
    if sum(n_kmers) == 0:
        return np.empty((0, 4), np.int64)
    forward, backward = (np.concatenate(side) for side in zip(*kmers, strict=True))
    place, which, is_reversed = _occurrences(codes, forward, backward)
    row = np.repeat(np.arange(len(stretches)), n_kmers)[which]
    offset = np.concatenate([np.arange(n) for n in n_kmers])[which]
    contig = np.searchsorted(bounds, place, side="right") - 1
    shift = np.where(is_reversed, place + MAX_PLAIN_K - 1 + offset, place - offset)
    low = np.array([low for low, _ in stretches], np.int64)[row]
    kept = (place + MAX_PLAIN_K <= bounds[contig + 1]) & (is_reversed | (shift != low))
    return np.unique(np.stack([row, contig, is_reversed, shift], axis=1)[kept], axis=0)


def _occurrences(
    codes: np.ndarray, forward: np.ndarray, backward: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where k-mers occur in the contigs, by place: the place, the k-mer's row, and whether it is reversed there.

    K-mers of more than `self_alignment_max_places` places are left out.
    """
    key = np.minimum(forward, backward)
    order = np.argsort(key, kind="stable")
    place, found, reads_key = places_of(codes, key)
    first, last = (np.searchsorted(key[order], found, side=side) for side in ("left", "right"))
    is_rare = np.bincount(first, minlength=1)[first] <= ALIGNMENT.self_alignment_max_places
    row, which = numbers_of_ranges(first[is_rare], (last - first)[is_rare])
    row = order[row]
    return place[is_rare][which], row, reads_key[is_rare][which] != (forward[row] < backward[row])


def best_run(score: np.ndarray) -> tuple[float, int, int]:
    """Return the sum, begin and end of the run with the highest sum of scores, the first of several."""
    sums = np.concatenate([[0], np.cumsum(score)])
    least = np.minimum.accumulate(sums)
    end = int(np.argmax(sums - least))
    begin = int(np.argmax(sums == least[end]))
    return float(sums[end] - sums[begin]), begin, end


def find_contained_contigs(contigs: Sequence[Contig]) -> np.ndarray:
    """Return the begin and end, (n, 2) int64, of contigs with a free end that another linear contig contains whole.

    Of identical contigs the first is kept, and so are contigs whose last k-mers occur at more than
    `self_alignment_max_places` places.
    """
    ends = [
        (number, side)
        for number, contig in enumerate(contigs)
        for side in (RIGHT, LEFT)
        if contig.free_ends[side] and contig.length > ALIGNMENT.contained_end_min_bases and not contig.is_circular
    ]
    if not ends:
        return np.empty((0, 2), np.int64)
    bounds, codes = bounds_of(contigs), np.concatenate([contig.codes for contig in contigs])
    owner, side = np.array(ends).T
    first = np.where(side == LEFT, bounds[owner], bounds[owner + 1] - MAX_PLAIN_K)
    last_kmers = kmers_of(codes[(first[:, None] + np.arange(MAX_PLAIN_K)).ravel()] & 3)
    at, row, is_reversed = _occurrences(codes, *(kmers[::MAX_PLAIN_K] for kmers in last_kmers))
    owner, side, contig = owner[row], side[row], np.searchsorted(bounds, at, side="right") - 1
    n, length, is_linear = np.diff(bounds)[owner], np.diff(bounds)[contig], [not own.is_circular for own in contigs]
    begin = np.where(is_reversed == (side == RIGHT), at, at + MAX_PLAIN_K - n)
    fits = (begin >= bounds[contig]) & (begin + n <= bounds[contig + 1]) & np.array(is_linear)[contig]
    rows = np.flatnonzero(fits & ((n < length) | (owner > contig)))
    columns = (owner, begin, is_reversed)
    contained = set()
    for number, first, is_other_strand in zip(*(column[rows].tolist() for column in columns), strict=True):
        own = contigs[number].codes
        other = codes[first : first + own.size]
        if np.array_equal(own, reverse_complement(other) if is_other_strand else other) and (own < NOT_A_BASE).all():
            contained.add(number)
    found = np.array(sorted(contained), np.int64)
    return np.stack([bounds[found], bounds[found + 1]], axis=1)
