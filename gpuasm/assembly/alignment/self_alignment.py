"""Align stretches of contigs to all contigs, on either strand, without gaps.

Shared 31-mers give the diagonals. On each diagonal the alignment is the run of bases with the highest score: 1 for a
match, -19 for a mismatch, so that at most one base in twenty differs. Sequence with gaps has several alignments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.text_kmers import kmers_of, places_of
from gpuasm.sequence.encoding import NOT_A_BASE, reverse_complement


@dataclass(frozen=True, slots=True)
class SelfAlignment:
    """An alignment of a part of a stretch to another place of the contigs.

    Attributes
    ----------
    low, high : int
        The part, from the first base of the stretch on.
    begin, end : int
        The place, among the bases of all contigs.
    is_reversed : bool
        Whether the reverse complement is aligned there.
    """

    low: int
    high: int
    begin: int
    end: int
    is_reversed: bool


def find_self_alignments(
    codes: np.ndarray, bounds: np.ndarray, stretches: Sequence[tuple[int, int]]
) -> list[list[SelfAlignment]]:
    """Return the alignments of stretches of contigs to other places of the contigs.

    Parameters
    ----------
    codes : (n_places,) uint8
        Bases of all contigs, one after the other; 4 in gaps, which match nothing.
    bounds : (n + 1,) int64
        Where each contig begins, and the end.
    stretches
        Begin and end of each stretch among these bases.

    Returns
    -------
    list of lists of SelfAlignment
        For each stretch, by place, of `contained_end_min_bases` at least. K-mers of more than
        `self_alignment_max_places` places are ignored, and so are alignments that overlap the stretch itself.
    """
    found: list[list[SelfAlignment]] = [[] for _ in stretches]
    for row, contig, is_reversed, shift in _diagonals(codes, bounds, stretches).tolist():
        low, high = stretches[row]
        first, last = int(bounds[contig]), int(bounds[contig + 1])
        # Base i of the stretch is at shift + i, or at shift - i if reversed.
        least, most = (shift - last + 1, shift - first + 1) if is_reversed else (first - shift, last - shift)
        least, most = max(0, least), min(high - low, most)
        own = codes[low + least : low + most]
        other = (
            reverse_complement(codes[shift - most + 1 : shift - least + 1])
            if is_reversed
            else codes[shift + least : shift + most]
        )
        differs = (own != other) | (own >= NOT_A_BASE)
        _, one, two = best_run(np.where(differs, -ALIGNMENT.self_alignment_mismatch_cost, 1))
        one, two = one + least, two + least
        begin, end = (shift - two + 1, shift - one + 1) if is_reversed else (shift + one, shift + two)
        if two - one >= ALIGNMENT.contained_end_min_bases and (end <= low or begin >= high):
            found[row].append(SelfAlignment(one, two, begin, end, bool(is_reversed)))
    return [sorted(own, key=lambda alignment: (alignment.begin, alignment.end, alignment.is_reversed)) for own in found]


def _diagonals(codes: np.ndarray, bounds: np.ndarray, stretches: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return the diagonals of shared k-mers, (m, 4) int64, distinct: stretch, contig, reversed or not, and shift."""
    nothing = np.empty((0, 4), np.int64)
    kmers = [kmers_of(codes[low:high] & 3) for low, high in stretches]
    n_kmers = [forward.size for forward, _ in kmers]
    if sum(n_kmers) == 0:
        return nothing
    forward, backward = (np.concatenate(side) for side in zip(*kmers, strict=True))
    row = np.repeat(np.arange(len(stretches)), n_kmers)
    offset = np.concatenate([np.arange(n) for n in n_kmers])
    key = np.minimum(forward, backward)
    order = np.argsort(key, kind="stable")
    place, kmer, reads_key = places_of(codes & 3, key)
    first, last = (np.searchsorted(key[order], kmer, side=side) for side in ("left", "right"))
    is_rare = np.bincount(first, minlength=1)[first] <= ALIGNMENT.self_alignment_max_places
    place, reads_key, first, last = (own[is_rare] for own in (place, reads_key, first, last))
    # Each place with each equal k-mer of a stretch.
    times = last - first
    which = order[np.repeat(first - (np.cumsum(times) - times), times) + np.arange(int(times.sum()))]
    place, reads_key = np.repeat(place, times), np.repeat(reads_key, times)
    contig = np.searchsorted(bounds, place, side="right") - 1
    is_reversed = reads_key != (forward[which] < backward[which])
    shift = np.where(is_reversed, place + MAX_PLAIN_K - 1 + offset[which], place - offset[which])
    low = np.array([low for low, _ in stretches], np.int64)[row[which]]
    kept = (place + MAX_PLAIN_K <= bounds[contig + 1]) & (is_reversed | (shift != low))
    found = np.stack([row[which], contig, is_reversed, shift])[:, kept]
    found = found[:, np.lexsort(found[::-1])]
    is_first = np.concatenate([np.ones(min(1, found.shape[1]), bool), (found[:, 1:] != found[:, :-1]).any(axis=0)])
    return found[:, is_first].T


def best_run(score: np.ndarray) -> tuple[float, int, int]:
    """Return the sum, begin and end of the run with the highest sum of scores, the first of several."""
    sums = np.concatenate([[0], np.cumsum(score)])
    least = np.minimum.accumulate(sums)
    end = int(np.argmax(sums - least))
    begin = int(np.argmax(sums == least[end]))
    return float(sums[end] - sums[begin]), begin, end
