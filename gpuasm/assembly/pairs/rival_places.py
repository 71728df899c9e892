"""Rival places: anchors that another copy of the text explains as well.

A word that one unitig alone has is there in a read of another copy as well, if an error makes it. But the copies run
into each other: what follows the anchor's unitig has other unitigs before it, and back along these the read's own bases
may agree as well as, or better than, along the anchor's. Then nothing tells which copy the read is from, and it is not
anchored. Of 77 walks that one to three pairs chose wrongly in O157:H7 (2 x 250) and S. cerevisiae (2 x 150) 59 had a
read from elsewhere at one end; 27 of the 77 are no longer chosen, and hardly one of 2,774 right ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.pairs.anchors import Anchored
from gpuasm.assembly.pairs.threading import GraphArrays, oriented_base
from gpuasm.parallel import for_each
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_BATCH = 1 << 20
"""Reads at a time, so that memory does not grow with them."""
_MOST_ROUNDS = 32
"""Unitigs that a way back goes through at most."""
_MOST_WAYS = 64
"""Ways of one read at a time: with more its place is a tangle, and it keeps its anchor."""
_BEHIND = 2
"""Bases by which a way may agree less than the anchor's unitig does, and still be gone back: it may catch up."""


def without_rivals(anchored: Anchored, reads: Reads, graph: GraphArrays) -> Anchored:
    """Take the anchors off reads that agree as well with another way into what follows their unitig.

    Parameters
    ----------
    anchored
        Where each piece is anchored.
    reads
        The pieces.
    graph
        The graph that they are anchored in.

    Returns
    -------
    The anchors, without those that have a rival from the first base that lies on their unitig on.
    """
    xp = array_namespace(reads.words)
    has_rival = xp.zeros(reads.n_pieces, np.uint8)
    for first in range(0, reads.n_pieces, _BATCH):
        ways = _beginnings(anchored, reads, graph, range(first, min(first + _BATCH, reads.n_pieces)))
        for i in range(_MOST_ROUNDS):
            if ways.read.size == 0:
                break
            ways = _gone_back(ways, anchored, reads, graph, has_rival, is_first=i == 0)
    return replace(anchored, oriented=xp.where(has_rival == 1, -1, anchored.oriented).astype(np.int32))


@dataclass(frozen=True)
class _Ways:
    """Ways back: the read, the oriented unitig come to, where that begins in the read, and bases behind the anchor."""

    read: Array
    unitig: Array
    begin: Array
    behind: Array


def _beginnings(anchored: Anchored, reads: Reads, graph: GraphArrays, some: range) -> _Ways:
    """Return what follows the unitig of each read, and where in the read that begins, or how far beyond its end."""
    xp = array_namespace(reads.words)
    read = xp.arange(some.start, some.stop, dtype=np.int64)
    read = read[anchored.oriented[read] >= 0]
    o = anchored.oriented[read]
    shared = (graph.start[1:] - graph.start[:-1])[o >> 1] - anchored.base[read] - (graph.k - 1)
    arc, own = _spread(graph.arc_start[o], graph.arc_start[o + 1])
    return _Ways(read[own], graph.arc_to[arc], shared[own], xp.zeros(own.size, np.int32))


def _spread(first: Array, last: Array) -> tuple[Array, Array]:
    """Return all numbers of some ranges, and the range of each."""
    xp = array_namespace(first)
    after = xp.cumsum(last - first)
    each = xp.arange(int(after[-1]) if after.size else 0, dtype=np.int64)
    own = xp.searchsorted(after, each, side="right")
    return last[own] - after[own] + each, own


def _gone_back(
    ways: _Ways, anchored: Anchored, reads: Reads, graph: GraphArrays, has_rival: Array, *, is_first: bool
) -> _Ways:
    """Go back along every unitig before those come to, and mark the reads that agree all the way."""
    xp, n = array_namespace(ways.read), int(ways.read.size)
    unitig, begin, behind = (xp.full(4 * n, -1, dtype) for dtype in (np.int32, np.int64, np.int32))
    _go_back(
        n, ways.read, ways.unitig, ways.begin, ways.behind, is_first, anchored.oriented, anchored.base, reads.start,
        reads.length, reads.words, graph.k, graph.words, graph.start, graph.arc_start, graph.arc_to, _BEHIND,
        unitig, begin, behind, has_rival,
    )  # fmt: skip
    on = xp.flatnonzero(unitig >= 0)
    read = ways.read[on >> 2]
    _, own, count = xp.unique(read, return_inverse=True, return_counts=True)
    few = xp.flatnonzero((count[own] <= _MOST_WAYS) & (has_rival[read] == 0))
    return _Ways(read[few], unitig[on[few]], begin[on[few]], behind[on[few]])


@for_each
def _go_back(
    i, read, unitig, come_to, less, is_first, oriented, base, read_start, read_length, read_words, k, words, start,
    arc_start, arc_to, most, next_unitig, next_begin, next_behind, has_rival,
):  # fmt: skip
    r, w = read[i], np.int64(unitig[i]) ^ 1
    own = np.int64(oriented[r])
    first = max(np.int64(0), -base[r])
    for arc in range(arc_start[w], arc_start[w + 1]):
        x = np.int64(arc_to[arc]) ^ 1
        if is_first and x == own:
            continue
        begin = come_to[i] + (k - 1) - (start[(x >> 1) + 1] - start[x >> 1])
        behind = np.int64(less[i])
        q = min(come_to[i], np.int64(read_length[r])) - 1
        while q >= max(begin, first) and behind <= most:
            code = np.int64(base_at(read_words, read_start[r] + q))
            behind += 0 if oriented_base(words, start, x, q - begin) == code else 1
            behind -= 0 if oriented_base(words, start, own, base[r] + q) == code else 1
            q -= 1
        if behind <= most:
            if begin <= first:
                if behind <= 0:
                    has_rival[r] = 1  # not written back as it was: another way of this read may just have found one
            elif begin < read_length[r]:
                slot = 4 * i + arc - arc_start[w]
                next_unitig[slot], next_begin[slot], next_behind[slot] = x, begin, behind
