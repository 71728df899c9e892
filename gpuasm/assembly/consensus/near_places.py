"""Near places: where contigs say nearly what a stretch of one says, on either strand.

Words of 31 bases that the two share tell by how much they are shifted against each other, and on each such diagonal the
best run of bases counts, of which at most one in twenty differs: a match is one, a difference minus nineteen, the run
with the highest sum. There are no gaps in it; what has some lies in several runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.consensus.ends_inside import LEAST_SHARED, MOST_PLACES
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.words import places_of, words_of
from gpuasm.sequence.encoding import NOT_A_BASE, reverse_complement

_DIFFERENCE = 19
"""What a base that differs takes from a run: as much as nineteen that agree bring."""


@dataclass(frozen=True, slots=True)
class Near:
    """A run of bases that is nearly as one of a stretch is.

    Attributes
    ----------
    low, high : int
        From where to where it is in the stretch, from its first base on.
    begin, end : int
        From where to where it stands, among the bases of all contigs.
    turned : bool
        Whether it is read the other way there.
    """

    low: int
    high: int
    begin: int
    end: int
    turned: bool


def near_places(codes: np.ndarray, bounds: np.ndarray, stretches: Sequence[tuple[int, int]]) -> list[list[Near]]:
    """Return the other places of all contigs that are nearly as stretches of them are.

    Parameters
    ----------
    codes : (n_places,) uint8
        Bases of all contigs, one after the other; 4 in gaps, which are like nothing.
    bounds : (n + 1,) int64
        Where each contig begins, and the end.
    stretches
        From where to where each is among these bases.

    Returns
    -------
    list of lists of Near
        For each stretch, by where they are: of `LEAST_SHARED` bases at least. Words with more than `MOST_PLACES`
        are passed over, and so is what lies over the stretch itself.
    """
    found: list[list[Near]] = [[] for _ in stretches]
    for row, contig, turned, shift in _diagonals(codes, bounds, stretches).tolist():
        low, high = stretches[row]
        first, last = int(bounds[contig]), int(bounds[contig + 1])
        # Base i of the stretch faces shift + i, or shift - i where it is turned.
        least, most = (shift - last + 1, shift - first + 1) if turned else (first - shift, last - shift)
        least, most = max(0, least), min(high - low, most)
        own = codes[low + least : low + most]
        other = (
            reverse_complement(codes[shift - most + 1 : shift - least + 1])
            if turned
            else codes[shift + least : shift + most]
        )
        one, two = _best_run((own != other) | (own >= NOT_A_BASE))
        one, two = one + least, two + least
        begin, end = (shift - two + 1, shift - one + 1) if turned else (shift + one, shift + two)
        if two - one >= LEAST_SHARED and (end <= low or begin >= high):
            found[row].append(Near(one, two, begin, end, bool(turned)))
    return [sorted(own, key=lambda near: (near.begin, near.end, near.turned)) for own in found]


def _diagonals(codes: np.ndarray, bounds: np.ndarray, stretches: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return in which contigs, which way and by how much shifted words of stretches stand: (m, 4) int64, distinct."""
    nothing = np.empty((0, 4), np.int64)
    words = [words_of(codes[low:high] & 3) for low, high in stretches]
    n_words = [forward.size for forward, _ in words]
    if sum(n_words) == 0:
        return nothing
    forward, backward = (np.concatenate(side) for side in zip(*words, strict=True))
    row = np.repeat(np.arange(len(stretches)), n_words)
    offset = np.concatenate([np.arange(n) for n in n_words])
    key = np.minimum(forward, backward)
    order = np.argsort(key, kind="stable")
    place, word, reads_key = places_of(codes & 3, key)
    first, last = (np.searchsorted(key[order], word, side=side) for side in ("left", "right"))
    is_few = np.bincount(first, minlength=1)[first] <= MOST_PLACES
    place, reads_key, first, last = (own[is_few] for own in (place, reads_key, first, last))
    # Each place with each word of a stretch that is the same.
    times = last - first
    which = order[np.repeat(first - (np.cumsum(times) - times), times) + np.arange(int(times.sum()))]
    place, reads_key = np.repeat(place, times), np.repeat(reads_key, times)
    contig = np.searchsorted(bounds, place, side="right") - 1
    turned = reads_key != (forward[which] < backward[which])
    shift = np.where(turned, place + MAX_PLAIN_K - 1 + offset[which], place - offset[which])
    low = np.array([low for low, _ in stretches], np.int64)[row[which]]
    kept = (place + MAX_PLAIN_K <= bounds[contig + 1]) & (turned | (shift != low))
    found = np.stack([row[which], contig, turned, shift])[:, kept]
    found = found[:, np.lexsort(found[::-1])]
    is_first = np.concatenate([np.ones(min(1, found.shape[1]), bool), (found[:, 1:] != found[:, :-1]).any(axis=0)])
    return found[:, is_first].T


def _best_run(differs: np.ndarray) -> tuple[int, int]:
    """Return from where to where the best run of bases is, the first of several."""
    if differs.size == 0:
        return 0, 0
    sums = np.concatenate([[0], np.cumsum(np.where(differs, -_DIFFERENCE, 1))])
    least = np.minimum.accumulate(sums)
    end = int(np.argmax(sums - least))
    return int(np.argmax(sums == least[end])), end
