"""Rival ends: joins over a repeat that other ends lead into and out of, and that no fragment spans.

What comes before a repeat is joined with what is behind it where nothing else is left to join. But the other way in, or
out, may only have been lost: where fragments are shorter than a repeat, a larger k has the windows of some of its
copies and not of others. Then contigs end in the repeat: one runs into it and stops there, another begins in it and
runs out, and of the four sides any two could belong together. So a contig is broken where, on one stretch of it,

1. a free end of a contig comes in: its last bases are those of the stretch, and what is before them differs;
2. a free end of a contig goes out, likewise, and the two overlap: the repeat is all that they share;
3. both are at least half as deep as the contig: no few reads with errors; and
4. not even two fragments go across, from before the one place to behind the other, though both sides of the contig are
   longer than any fragment.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuasm.assembly.contigs import Contig
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.words import places_of, words_of
from gpuasm.sequence.encoding import reverse_complement

LEAST_SHARED = 50
"""Bases that an end shares with a contig: fewer agree by chance, or as motifs do."""
_DEPTH = 0.5
"""Depth of an end for that of the contig, at least."""
_LONGEST = 1 << 14
"""Bases that are compared at most: no repeat of a graph is as long."""
_IN, _OUT = 0, 1
Stretch = tuple[int, int, int]
"""A contig, and where among the bases of all contigs a stretch of it begins and ends."""


def find_rivals(contigs: Sequence[Contig]) -> np.ndarray:
    """Return the stretches of contigs that free ends lead into and out of.

    Parameters
    ----------
    contigs
        Contigs, gaps as code 4.

    Returns
    -------
    (n, 2) int64
        Where each begins and ends among the bases of all contigs, one contig after the other, the shortest first.
    """
    bounds = np.concatenate([[0], np.cumsum([contig.length for contig in contigs])]).astype(np.int64)
    ends = [
        (number, reverse_complement(contig.codes) if side else contig.codes)
        for number, contig in enumerate(contigs)
        for side in (0, 1)
        if contig.free_ends[side] and contig.length > LEAST_SHARED and not contig.is_circular
    ]
    if not ends:
        return np.empty((0, 2), np.int64)
    leading_in, leading_out = (_by_contig(some) for some in _shared(contigs, bounds, ends))
    found = {
        (into[1], out[2])
        for contig in leading_in.keys() & leading_out.keys()
        for into in leading_in[contig]
        for out in leading_out[contig]
        if into[1] < out[1] < into[2] < out[2]
    }
    return np.array(sorted(found, key=lambda row: (row[1] - row[0], row)), np.int64).reshape(-1, 2)


def _by_contig(shared: list[Stretch]) -> dict[int, set[Stretch]]:
    found: dict[int, set[Stretch]] = {}
    for stretch in shared:
        found.setdefault(stretch[0], set()).add(stretch)
    return found


def _shared(
    contigs: Sequence[Contig], bounds: np.ndarray, ends: list[tuple[int, np.ndarray]]
) -> tuple[list[Stretch], list[Stretch]]:
    """Return the stretches inside contigs that ends lead into, and out of: the contig, where it begins and ends."""
    forward, backward = words_of(np.concatenate([own[-MAX_PLAIN_K:] for _, own in ends]) & 3)
    forward, backward = forward[::MAX_PLAIN_K], backward[::MAX_PLAIN_K]
    key = np.minimum(forward, backward)
    order = np.argsort(key, kind="stable")
    key = key[order]
    codes = np.concatenate([contig.codes for contig in contigs])
    shared: tuple[list[Stretch], list[Stretch]] = ([], [])
    place, word, reads_key = places_of(codes & 3, key)
    rows = (np.searchsorted(key, word, side=side) for side in ("left", "right"))
    for at, is_key, one, other in zip(*(own.tolist() for own in (place, reads_key, *rows)), strict=True):
        contig = int(np.searchsorted(bounds, at, side="right")) - 1
        low, high = int(bounds[contig]), int(bounds[contig + 1])
        if at + MAX_PLAIN_K > high or contigs[contig].is_circular:
            continue
        for row in order[one:other].tolist():
            number, own = ends[row]
            goes_out = is_key != bool(forward[row] < backward[row])
            last = at + MAX_PLAIN_K
            ahead, behind = codes[at : min(high, at + _LONGEST)], codes[max(low, last - _LONGEST) : last]
            text = reverse_complement(ahead) if goes_out else behind
            n = _common(own, text)
            is_inside = at > low if goes_out else last < high
            is_inside &= LEAST_SHARED <= n < min(own.size, text.size, _LONGEST)
            if is_inside and contigs[number].depth >= _DEPTH * contigs[contig].depth:
                first = at if goes_out else last - n
                shared[_OUT if goes_out else _IN].append((contig, first, first + n))
    return shared


def _common(one: np.ndarray, other: np.ndarray) -> int:
    """Return how many bases at the end of two texts are the same; a gap is like nothing."""
    n = min(one.size, other.size, _LONGEST)
    one, other = one[one.size - n :], other[other.size - n :]
    differs = np.flatnonzero((one != other) | (one > 3))
    return n - 1 - int(differs[-1]) if differs.size else n
