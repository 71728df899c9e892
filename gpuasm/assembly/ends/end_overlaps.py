"""Overlap the consensus sequences of two dead ends, and return the bases between their unitigs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.ends.clipped_ends import AlignedEnds
from gpuasm.assembly.ends.end_sequences import EndSequences
from gpuasm.assembly.parameters import ENDS
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.encoding import reverse_complement

_MISMATCH_COST = ENDS.overlap_mismatch_cost


@dataclass(frozen=True)
class EndOverlap:
    """Two ends whose sequences overlap.

    Attributes
    ----------
    size : int
        Bases between their unitigs; negative where the unitigs overlap.
    between : (max(size, 0),) uint8
        These bases, from the first to the second.
    """

    size: int
    between: np.ndarray


def overlap_ends(ends: AlignedEnds, one: int, other: int, *, least: int) -> EndOverlap | None:
    """Return the overlap of two ends, or None unless exactly one overlap length scores enough.

    Parameters
    ----------
    ends
        The ends with aligned reads.
    one, other
        Ends of unitigs, as in `EndSequences`.
    least
        The least score: matches, less the cost of each mismatch.
    """
    texts = ends.texts
    a, b = np.searchsorted(texts.end, [one, other]).tolist()
    own, towards = texts.text(a), reverse_complement(texts.text(b))
    overlaps = np.flatnonzero(_scores(own, towards) >= least) + 1
    if overlaps.size != 1:
        return None
    n, beyond = int(overlaps[0]), (int(texts.beyond[a]), int(texts.beyond[b]))
    differs = np.flatnonzero(own[own.size - n :] != towards[:n])
    if ENDS.overlap_matches_per_mismatch * differs.size > n:
        return None
    of_both = differs[(differs >= beyond[1]) & (differs < n - beyond[0])]
    (depth, support), (its_depth, its_support) = ends.of(a), (values[::-1] for values in ends.of(b))
    here, (most_wrong, least_right) = own.size - n + of_both, ENDS.overlap_base_reads
    is_wrong = (depth[here] > 0) & (support[here] <= most_wrong) & (its_support[of_both] >= least_right)
    is_wrong |= (its_depth[of_both] > 0) & (its_support[of_both] <= most_wrong) & (support[here] >= least_right)
    if not is_wrong.all():
        return None
    size = sum(beyond) - n
    return EndOverlap(size, _between(own, towards, beyond, size))


def has_read_across(ends: AlignedEnds, one: int, other: int, *, shared: int, flank: int) -> bool:
    """Return whether a read contains the overlap of two unitigs, and ``flank`` bases of either next to it."""
    tails = ends.tails
    first = np.cumsum(tails.length) - tails.length
    for end, into in ((one, other), (other, one)):
        follows = _inwards(ends.texts, into)[shared : shared + flank]
        rows = np.flatnonzero((tails.end == end) & (tails.inside >= shared + flank) & (tails.length >= flank))
        bases = tails.codes[first[rows][:, None] + np.arange(flank)]
        if follows.size == flank and (bases == follows).all(axis=1).any():
            return True
    return False


def _inwards(texts: EndSequences, end: int) -> np.ndarray:
    """Return the bases of a unitig from an end inwards, up to the read length."""
    i = int(np.searchsorted(texts.end, end))
    text = texts.text(i)
    return reverse_complement(text[: text.size - int(texts.beyond[i])])


@signatures("uint8[::1], uint8[::1]")
@compiled()
def _scores(own, towards):
    """Return the score of each overlap length of the end of one sequence with the beginning of the other."""
    scores = np.empty(min(own.size, towards.size), np.int64)
    for n in range(1, scores.size + 1):
        score = n
        for i in range(n):
            if own[own.size - n + i] != towards[i]:
                score -= _MISMATCH_COST
        scores[n - 1] = score
    return scores


def _between(own: np.ndarray, towards: np.ndarray, beyond: tuple[int, int], size: int) -> np.ndarray:
    """Return the bases of a gap: each from the nearer end, as far as its reads extend."""
    if size <= 0:
        return own[:0]
    first, second = own[own.size - beyond[0] :][:size], towards[: beyond[1]][-size:]
    n = min(first.size, max(size - second.size, (size + 1) // 2))
    return np.concatenate([first[:n], second[second.size - (size - n) :]])
