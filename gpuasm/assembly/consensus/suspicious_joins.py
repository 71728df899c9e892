"""Joins that reads contradict: reads reach them from both sides at full depth, and none goes through.

A join at a place p is judged with a half-window h: a read or a fragment goes through where it covers p - h to p + h.
It is broken where none does, although so many should that none at all would be less likely than one in a thousand over
all places of the assembly, and although every base of the window is covered at no less than half the depth of both its
sides: a hole in the depth is no contradiction. Fragments are expected only where, within the reach of one, most reads
have a place of their own: inside a repeat no pair can be told to belong there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace

LEAST_HALF_WINDOW = 20
"""A read that goes through reaches so far at least on both sides."""
_CHANCE = 1e-3
"""Wrong breaks in an assembly that reads which fall at random may lead to."""
_MARGIN = 2.0
"""The wide window is chosen so that so many times the number needed should go through it at the typical depth."""
_LEAST_SHARE = 0.5
"""Least depth within the window, in terms of that beside it."""


@dataclass(frozen=True)
class Library:
    """What reads and pairs are like.

    Attributes
    ----------
    read_length : float
        Mean bases a read.
    depth : float
        Reads over each base of the contigs, on average.
    insert, longest_insert : float, int
        Mean insert size, and one that hardly any exceeds; 0 without pairs.
    """

    read_length: float
    depth: float
    insert: float = 0.0
    longest_insert: int = 0


@dataclass(frozen=True)
class Evidence:
    """What lies over each place of the contigs, gaps included.

    Attributes
    ----------
    depth, own_depth : (n_places,) int32
        Reads over each base; those of them that can lie nowhere else.
    fragments : (n_places,) int32
        Fragments over each base.
    through : dict
        For each half-window, (n_places,) int32: the reads and fragments that reach so far on both sides.
    """

    depth: Array
    own_depth: Array
    fragments: Array
    through: dict[int, Array]


def half_windows(library: Library, n_places: int) -> tuple[int, ...]:
    """Choose the half-windows that joins are judged with: a narrow one, and as wide ones as the depth allows.

    Wide ones see false joins through repeats almost as long, the narrow one works where depth is low. How wide is
    told by the reads alone, and by reads and fragments together.
    """
    density, length = library.depth / max(1.0, library.read_length), library.read_length
    needed = _MARGIN * _needed(n_places)
    h = np.arange(LEAST_HALF_WINDOW, max(LEAST_HALF_WINDOW, int(max(length, library.insert) / 2)) + 1)
    reads = density * np.maximum(0.0, length - 2 * h)
    fragments = density / 2 * np.maximum(0.0, library.insert - 2 * h)
    widest = [h[expected >= needed].max(initial=LEAST_HALF_WINDOW) for expected in (reads, reads + fragments)]
    return tuple(sorted({LEAST_HALF_WINDOW, *map(int, widest)}))


def _needed(n_places: int) -> float:
    return float(np.log(max(1, n_places) / _CHANCE))


def find_breaks(
    evidence: Evidence, stretches: np.ndarray, library: Library, *, others: np.ndarray | None = None
) -> np.ndarray:
    """Find the places before which a stretch shall be broken.

    Parameters
    ----------
    evidence
        What lies over each place.
    stretches : (n, 2) int64
        The places where each stretch without gaps begins and ends, ascending; round the origin of circles nothing is
        judged.
    library
        What reads and pairs are like.
    others : (m,) int64
        Places to break at for other reasons, unless one of those found here is near.

    Returns
    -------
    (b,) int64, ascending: the middle of each run of places that no read goes through, and the others.
    """
    needed, found, sums = _needed(int(evidence.depth.size)), [np.empty(0, np.int64)], None
    for h, through in sorted(evidence.through.items()):
        empty = to_host(array_namespace(through).flatnonzero(through == 0)).astype(np.int64)
        side = h + round(library.read_length)
        owner = np.maximum(np.searchsorted(stretches[:, 0], empty, side="right") - 1, 0)
        low, high = stretches[owner].T if empty.size else (empty, empty)
        inside = (empty - side >= low) & (empty + side <= high)
        empty, low, high = empty[inside], low[inside], high[inside]
        if empty.size == 0:
            continue
        sums = sums or _Sums.of(evidence)
        expected = _expected(sums, (empty, low, high), library, h=h)
        found.append(_middles(empty[expected >= needed], evidence.depth, sums.depth, side=side, h=h))
    if others is not None:
        found.append(others)
    return _merged(np.concatenate(found), LEAST_HALF_WINDOW + round(library.read_length))


@dataclass(frozen=True)
class _Sums:
    """Sums over all places before each: of depth, of fragments, and of places where few reads have one of their own.

    They stay where the evidence is: few of them are asked for.
    """

    depth: Array
    fragments: Array
    shared: Array

    @classmethod
    def of(cls, evidence: Evidence) -> _Sums:
        xp = array_namespace(evidence.depth)
        shared = 2 * evidence.own_depth < evidence.depth
        nothing = xp.zeros(1, np.int64)
        summed = (xp.cumsum(a, dtype=np.int64) for a in (evidence.depth, evidence.fragments, shared))
        return cls(*(xp.concatenate([nothing, own]) for own in summed))


def _expected(sums: _Sums, where: tuple[np.ndarray, np.ndarray, np.ndarray], library: Library, *, h: int) -> np.ndarray:
    """Return how many reads and fragments should go through, by the lesser density of both sides."""
    place, low, high = where
    length = library.read_length
    width = round(length)
    expected = _lesser_mean(sums.depth, place, (h, width)) * max(0.0, length - 2 * h) / length
    if library.insert:
        # Fragments that could be hindered by the join lie within their own length of it: look beyond.
        far = h + library.longest_insert
        first, last = place - far - width, place + far + width
        counted = (first >= low) & (last <= high)
        counted[counted] = _at(sums.shared, first[counted]) == _at(sums.shared, last[counted])
        fragments = _lesser_mean(sums.fragments, place, (far, width))
        expected = expected + np.where(counted, fragments * max(0.0, library.insert - 2 * h) / library.insert, 0.0)
    return expected


def _lesser_mean(sums: Array, place: np.ndarray, beside: tuple[int, int]) -> np.ndarray:
    far, width = beside
    last = int(sums.size) - 1
    ends = [_at(sums, np.clip(place + d, 0, last)) for d in (-far - width, -far, far, far + width)]
    return np.minimum(ends[1] - ends[0], ends[3] - ends[2]) / width


def _at(sums: Array, place: np.ndarray) -> np.ndarray:
    """Return the sums before some places, on the host."""
    return to_host(sums[to_namespace(array_namespace(sums), place)])


def _middles(place: np.ndarray, depth: Array, sums: Array, *, side: int, h: int) -> np.ndarray:
    """Return the middles of the runs of places whose whole window is covered well enough."""
    if place.size == 0:
        return place
    edges = np.flatnonzero(np.diff(place) > 1)
    first, last = place[np.concatenate([[0], edges + 1])], place[np.concatenate([edges, [place.size - 1]])]
    middles = (first + last + 1) // 2
    beside = _lesser_mean(sums, middles, (h, side - h))
    least = np.array([int(depth[m - h : m + h].min()) for m in middles.tolist()])
    return middles[least >= _LEAST_SHARE * beside]


def _merged(place: np.ndarray, distance: int) -> np.ndarray:
    """Keep one of places that lie close to each other: what the narrow window finds, the wide one finds too."""
    kept: list[int] = []
    for own in place.tolist():
        if all(abs(own - other) >= distance for other in kept):
            kept.append(own)
    return np.array(sorted(kept), np.int64)
