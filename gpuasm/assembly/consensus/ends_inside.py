"""Ends inside: where the last bases of free ends of contigs stand within contigs, on either strand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.contigs import Contig, bounds_of
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.words import places_of, words_of
from gpuasm.sequence.encoding import reverse_complement

LEAST_SHARED = 50
"""Bases that an end shares with a contig: fewer agree by chance, or as motifs do."""
LONGEST = 1 << 14
"""Bases that are compared at most: no repeat of a graph is as long."""
MOST_PLACES = 100
"""Places of the last word of an end at most. Ends of a family of more copies tell nothing of any one, and each of them
would be compared with each place: 4 million times for a tandem repeat of two thousand short contigs. Of O157:H7, with
its prophages and insertion sequences, 17 is the most."""
RIGHT, LEFT = 0, 1


@dataclass(frozen=True, slots=True)
class Inside:
    """Bases that the end of one contig shares with a stretch of a contig, which may be the same.

    Attributes
    ----------
    owner, side : int
        The contig whose end it is, and which: `RIGHT` or `LEFT`.
    contig : int
        The contig that has the stretch.
    begin, end : int
        From where to where the stretch is, among the bases of all contigs.
    goes_out : bool
        Whether the end's contig leaves the stretch to the right; else it comes in from the left.
    """

    owner: int
    side: int
    contig: int
    begin: int
    end: int
    goes_out: bool

    @property
    def length(self) -> int:
        return self.end - self.begin


def ends_inside(contigs: Sequence[Contig]) -> list[Inside]:
    """Return all stretches of linear contigs that are as the last bases of free ends are, the ends themselves left out.

    Parameters
    ----------
    contigs
        Contigs, gaps as code 4, which are like nothing.

    Returns
    -------
    list of Inside
        By place. At least `LEAST_SHARED` bases each, at most `LONGEST`; none of ends whose last word stands at more
        than `MOST_PLACES`.
    """
    bounds = bounds_of(contigs)
    ends = [
        (number, side, reverse_complement(contig.codes) if side == LEFT else contig.codes)
        for number, contig in enumerate(contigs)
        for side in (RIGHT, LEFT)
        if contig.free_ends[side] and contig.length > LEAST_SHARED and not contig.is_circular
    ]
    if not ends:
        return []
    codes = np.concatenate([contig.codes for contig in contigs])
    found = []
    for at, row, goes_out in _words_of_ends(codes, [own for _, _, own in ends]):
        contig, (owner, side, own) = int(np.searchsorted(bounds, at, side="right")) - 1, ends[row]
        low, high, last = int(bounds[contig]), int(bounds[contig + 1]), at + MAX_PLAIN_K
        if last > high or contigs[contig].is_circular:
            continue
        ahead, behind = codes[at : min(high, at + LONGEST)], codes[max(low, last - LONGEST) : last]
        n = _common(own, reverse_complement(ahead) if goes_out else behind)
        begin = at if goes_out else last - n
        is_at_end = begin == low if side == LEFT else begin + n == high
        is_itself = owner == contig and is_at_end and goes_out == (side == LEFT)
        if n >= LEAST_SHARED and not is_itself:
            found.append(Inside(owner, side, contig, begin, begin + n, goes_out))
    return found


def _words_of_ends(codes: np.ndarray, ends: list[np.ndarray]) -> Iterator[tuple[int, int, bool]]:
    """Find the last word of each end, which runs outwards: its places, whose it is, and whether it is turned there."""
    forward, backward = words_of(np.concatenate([own[-MAX_PLAIN_K:] for own in ends]) & 3)
    forward, backward = forward[::MAX_PLAIN_K], backward[::MAX_PLAIN_K]
    key = np.minimum(forward, backward)
    order = np.argsort(key, kind="stable")
    place, word, reads_key = places_of(codes & 3, key[order])
    first, last = (np.searchsorted(key[order], word, side=side) for side in ("left", "right"))
    few = np.bincount(first, minlength=1)[first] <= MOST_PLACES
    for at, is_key, one, other in zip(*(own[few].tolist() for own in (place, reads_key, first, last)), strict=True):
        for row in order[one:other].tolist():
            yield at, row, is_key != bool(forward[row] < backward[row])


def _common(one: np.ndarray, other: np.ndarray) -> int:
    """Return how many bases at the end of two texts are the same; a gap is like nothing."""
    n = min(one.size, other.size, LONGEST)
    one, other = one[one.size - n :], other[other.size - n :]
    differs = np.flatnonzero((one != other) | (one > 3))
    return n - 1 - int(differs[-1]) if differs.size else n
