"""Where circles are cut: where reads leave them, if more do at one place than chance brings together.

A circle has no beginning, and is cut before its least k-mer: before the same base in every sample. But some stand in
another form as well: a plasmid of which some molecules lack a part, a phage or an element that is also in a chromosome.
There reads run along the circle and leave it, always at the same place; so they do at the ends of what the circle
shares with other replicons. Its two sides are neighbours in some molecules only, or by the word of pairs alone: that is
where its one sequence may end, and what all molecules have in common stays in one piece.

Reads are laid on the circles alone, so that what other contigs say as well is seen. A fragment counts once at a place,
whichever of its reads show it. Molecules that are joined wrongly before they are read leave a circle anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.consensus.departures import REST
from gpuasm.assembly.consensus.laying import Laid, lay_reads
from gpuasm.assembly.consensus.targets import Targets, index_seeds
from gpuasm.assembly.contigs import Contig
from gpuasm.sequence.encoding import NOT_A_BASE
from gpuasm.sequence.reads import Reads

_TOGETHER = 31
"""Bases within which reads leave at one place: what both forms share there, read to the right and to the left."""
_SHORTEST = 200
"""Bases of a circle: places are told apart in it."""
_CHANCE = 1e-3
"""So likely may it be, at most, that as many leave at any one place of a circle by chance."""


def find_circle_cuts(
    contigs: Sequence[Contig], batches: Iterable[Reads], *, typical: int, reach: int, xp: Any
) -> dict[int, int]:
    """Find before which base to cut circles.

    Parameters
    ----------
    contigs
        All contigs.
    batches
        The reads, mates together.
    typical, reach
        Mean length of a read, and that of the longest.
    xp
        Where the reads are.

    Returns
    -------
    dict: for the number of each contig to be cut anew its base that is to be the first.
    """
    circles = [i for i, contig in enumerate(contigs) if contig.is_circular and contig.length >= _SHORTEST]
    circles = [i for i in circles if (contigs[i].codes < NOT_A_BASE).all()]
    if not circles:
        return {}
    targets = Targets.of([contigs[i].codes for i in circles], [True] * len(circles), reach=reach, xp=xp)
    index, found = index_seeds(targets, typical), dict[int, int]()
    seen = [_departures(reads, lay_reads(reads, targets, index), targets) for reads in batches]
    place = np.unique(np.concatenate([np.empty((0, 2), np.int64), *seen]), axis=0)[:, 0]
    begin = np.cumsum([0, *(contigs[i].length for i in circles)])
    for i, first, end in zip(circles, begin[:-1], begin[1:], strict=True):
        low, high = np.searchsorted(place, (first, end))
        at = best_cut(place[low:high] - first, int(end - first))
        if at is not None:
            found[i] = at
    return found


def _departures(reads: Reads, laid: tuple[Laid, Laid], targets: Targets) -> np.ndarray:
    """Return where reads leave circles, and which fragments they are of: (n, 2) int64, on the host.

    A place is the first base beyond what a read agrees with, or what it agrees with begins at it. Where a read lacks a
    base it leaves as well: that some molecules lack it is another form.
    """
    xp, found = array_namespace(reads.words), []
    for own in laid:
        leaves = own.at + reads.length[own.piece] - own.end >= REST, own.begin - own.at >= REST
        for text, own_leaves in zip((own.end, own.begin), leaves, strict=True):
            rows = xp.flatnonzero(own.is_unique & own_leaves)
            fragment = reads.read[own.piece[rows]] // (2 if reads.paired else 1)
            found.append(to_host(xp.stack([_place(text[rows], own.target[rows], targets), fragment], axis=1)))
    return np.concatenate(found)


def _place(text: Array, target: Array, targets: Targets) -> Array:
    xp = array_namespace(text)
    start, size, offset = (to_namespace(xp, a) for a in (targets.start, targets.size, targets.offset))
    return offset[target] + (text - start[target]) % size[target]


def best_cut(place: np.ndarray, n: int) -> int | None:
    """Return the base of a circle before which most leave, or None where chance may bring as many together.

    Parameters
    ----------
    place : (m,) int64
        Where fragments leave the circle, ascending.
    n
        Its bases: many more than lie `_TOGETHER`.

    Notes
    -----
    Of all stretches of so many bases as both forms may share, the one with the most, and in it the base with the most;
    of equals the first. Those elsewhere tell how many chance brings there, as in a Poisson distribution, whose tail is
    at most twice its first term beyond twice the mean.
    """
    if place.size == 0:
        return None
    round_twice = np.concatenate([place, place + n])
    many = np.searchsorted(round_twice, place + _TOGETHER) - np.arange(place.size)
    best = int(np.argmax(many))
    m = int(many[best])
    mean = max(1, place.size - m) * _TOGETHER / (n - _TOGETHER)
    log_chance = math.log(2 * n) + m * math.log(mean) - mean - math.lgamma(m + 1)
    if m <= 2 * mean or log_chance >= math.log(_CHANCE):
        return None
    at, times = np.unique(round_twice[best : best + m], return_counts=True)
    return int(at[np.argmax(times)]) % n
