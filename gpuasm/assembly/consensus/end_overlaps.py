"""End overlaps: whether the texts of two ends overlap, and what lies between their unitigs then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.consensus.end_texts import MISMATCH, EndTexts
from gpuasm.assembly.consensus.laid_ends import LaidEnds
from gpuasm.parallel import compiled
from gpuasm.sequence.encoding import reverse_complement

_FEWEST_MATCHES = 12
"""Bases of an overlap for each that differs, at least: reads err, most of all near their ends."""
_MOST_WRONG, _LEAST_RIGHT = 1, 2
"""Of two bases of unitigs that differ one is an error where reads lie on it of which one at most says so, and two at
least say the other. Else these are two copies of a repeat: of 16 gaps with such bases the 7 right ones are so told."""


@dataclass(frozen=True)
class Meeting:
    """Two ends that meet.

    Attributes
    ----------
    size : int
        Bases between their unitigs; before 0 where these overlap.
    between : (max(size, 0),) uint8
        These bases, from the first to the second.
    """

    size: int
    between: np.ndarray


def meet(ends: LaidEnds, one: int, other: int, *, least: int) -> Meeting | None:
    """Return how two ends meet, if their texts overlap by one number of bases only.

    Parameters
    ----------
    ends
        What reads say.
    one, other
        Ends of unitigs, as in `EndTexts`.
    least
        Bases that must agree, less `MISMATCH` for each that differs.
    """
    texts = ends.texts
    a, b = np.searchsorted(texts.end, [one, other]).tolist()
    own, towards = texts.text(a), reverse_complement(texts.text(b))
    overlaps = np.flatnonzero(_scores(own, towards) >= least) + 1
    if overlaps.size != 1:
        return None
    n, beyond = int(overlaps[0]), (int(texts.beyond[a]), int(texts.beyond[b]))
    differs = np.flatnonzero(own[own.size - n :] != towards[:n])
    if _FEWEST_MATCHES * differs.size > n:
        return None
    of_both = differs[(differs >= beyond[1]) & (differs < n - beyond[0])]
    (depth, told), (its_depth, its_told) = ends.of(a), (values[::-1] for values in ends.of(b))
    here = own.size - n + of_both
    is_wrong = (depth[here] > 0) & (told[here] <= _MOST_WRONG) & (its_told[of_both] >= _LEAST_RIGHT)
    is_wrong |= (its_depth[of_both] > 0) & (its_told[of_both] <= _MOST_WRONG) & (told[here] >= _LEAST_RIGHT)
    if not is_wrong.all():
        return None
    size = sum(beyond) - n
    return Meeting(size, _between(own, towards, beyond, size))


def goes_across(ends: LaidEnds, one: int, other: int, *, shared: int, beside: int) -> bool:
    """Tell whether a read holds what the unitigs of two ends share, and ``beside`` bases of either on its sides."""
    hanging = ends.overhangs
    first = np.cumsum(hanging.length) - hanging.length
    for end, into in ((one, other), (other, one)):
        follows = _inwards(ends.texts, into)[shared : shared + beside]
        rows = np.flatnonzero((hanging.end == end) & (hanging.inside >= shared + beside) & (hanging.length >= beside))
        said = hanging.codes[first[rows][:, None] + np.arange(beside)]
        if follows.size == beside and (said == follows).all(axis=1).any():
            return True
    return False


def _inwards(texts: EndTexts, end: int) -> np.ndarray:
    """Return the bases of a unitig from an end inwards, as many as reads are long."""
    i = int(np.searchsorted(texts.end, end))
    text = texts.text(i)
    return reverse_complement(text[: text.size - int(texts.beyond[i])])


@compiled()
def _scores(own, towards):
    """Return for each number of bases how much of it agrees: the end of one text with the beginning of the other."""
    scores = np.empty(min(own.size, towards.size), np.int64)
    for n in range(1, scores.size + 1):
        score = n
        for i in range(n):
            if own[own.size - n + i] != towards[i]:
                score -= MISMATCH
        scores[n - 1] = score
    return scores


def _between(own: np.ndarray, towards: np.ndarray, beyond: tuple[int, int], size: int) -> np.ndarray:
    """Return the bases of a gap: each as the end says that is nearer, as far as its reads reach."""
    if size <= 0:
        return own[:0]
    first, second = own[own.size - beyond[0] :][:size], towards[: beyond[1]][-size:]
    n = min(first.size, max(size - second.size, (size + 1) // 2))
    return np.concatenate([first[:n], second[second.size - (size - n) :]])
