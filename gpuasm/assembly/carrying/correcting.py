"""Errors in crossing reads: substitutions after which a read goes on along the graph as if nothing had been.

A substitution takes from a read every window that holds it: k of them at the first k, and more at every k after, until
few reads of thin or poor libraries have a window across a junction at all. In a cleaned graph of the first k it is
easily told. No window that holds it is in the graph, though the one just before is; and from there one other base, and
no second one, leads along the graph in step with the read. What is a turn that the graph lacks is left alone: the
windows that hold its bases alone are in the graph. (Pevzner, Tang and Waterman 2001, doi:10.1073/pnas.171285098,
correct reads by solid k-mers before there is a graph; here junctions alone matter, so few reads have to be looked at.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.graph.levels import Level
from gpuasm.kmers.names import name_windows
from gpuasm.parallel import for_each, inlined
from gpuasm.primitives.counting import count_true
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_THREE = np.uint64(3)
_AGREEING = 16
"""Bases of the read after a corrected one that the graph must have: others agree with so many by no chance."""


@dataclass(frozen=True)
class Corrected:
    """Reads without the errors that a graph tells.

    Attributes
    ----------
    reads : Reads
    names : (32 * n_words,) int32
        Oriented names of the level's k-mers at every position.
    n_corrected, n_named, n_added : int
        Bases corrected, windows that had a name before, and windows that have one since.
    """

    reads: Reads
    names: Array
    n_corrected: int
    n_named: int
    n_added: int


def correct_reads(reads: Reads, names: Array, level: Level) -> Corrected:
    """Correct substitutions in reads whose windows are named.

    Parameters
    ----------
    reads
        Each piece in words of its own, as `gpuasm.assembly.carrying.crossing.repack` leaves them.
    names : (32 * n_words,) int32
        Oriented names of the level's k-mers at every position, -1 where there is none.
    level
        A level of plain k.
    """
    xp, n = array_namespace(reads.words), reads.n_pieces
    n_named = count_true(names >= 0)
    words, names, corrected = reads.words.copy(), names.copy(), xp.zeros(n, np.int32)
    k, neighbour = level.graph.k, level.neighbour
    for is_back in (False, True):
        _correct(n, reads.start, reads.length, k, is_back, neighbour, words, names, corrected)
    reads = replace(reads, words=words)
    # Not as they were walked: beyond an edge that the graph lacks a corrected base stands in windows that it has, and
    # what follows a k-mer and what precedes the next one must be counted in the same places.
    names = name_windows(reads, level.dictionary)
    return Corrected(reads, names, int(corrected.sum()), n_named, count_true(names >= 0) - n_named)


@for_each
def _correct(r, start, length, k, is_back, neighbour, words, names, corrected):
    begin, n = start[r], np.int64(length[r]) - k + 1
    vertex = np.int64(-1)
    for i in range(n):
        here = _window(begin, n, i, is_back)
        if names[here] >= 0:
            vertex = np.int64(names[here])
            continue
        if vertex < 0:
            continue
        at = _added(begin, n, k, i, is_back)
        following = _follow(vertex, np.int64(base_at(words, at)), neighbour, is_back)
        if following < 0 and _n_unnamed(begin, n, i, k, names, is_back) >= min(k, n - i):
            base = np.int64(-1)
            for other in range(4):
                first = _follow(vertex, np.int64(other), neighbour, is_back)
                if first >= 0 and _agrees(first, begin, n, k, i, words, neighbour, is_back):
                    base, following = (np.int64(-2), np.int64(-1)) if base != -1 else (np.int64(other), first)
            if base >= 0:
                shift = np.uint64(62 - 2 * (at & 31))
                words[at >> 5] = (words[at >> 5] & ~(_THREE << shift)) | (np.uint64(base) << shift)
                corrected[r] += 1
        if following >= 0:
            names[here] = following
        vertex = following


@inlined()
def _window(begin, n, i, is_back):
    """Return where the i-th window begins, from the first one on or from the last one back."""
    return begin + n - 1 - i if is_back else begin + i


@inlined()
def _added(begin, n, k, i, is_back):
    """Return where the base stands that the i-th window has and the one before has not."""
    return begin + n - 1 - i if is_back else begin + i + k - 1


@inlined()
def _follow(vertex, base, neighbour, is_back):
    """Return the vertex that one more base leads to, or back from, -1 where there is none."""
    if is_back:
        twin = np.int64(neighbour[4 * (vertex ^ 1) + 3 - base])
        return twin ^ 1 if twin >= 0 else np.int64(-1)
    return np.int64(neighbour[4 * vertex + base])


@inlined()
def _n_unnamed(begin, n, i, most, names, is_back):
    """Return how many windows from the i-th on, up to ``most``, have no name."""
    found = np.int64(0)
    while found < most and i + found < n and names[_window(begin, n, i + found, is_back)] < 0:
        found += 1
    return found


@inlined()
def _agrees(vertex, begin, n, k, i, words, neighbour, is_back):
    """Tell whether the read goes on from the vertex of its i-th window for `_AGREEING` bases."""
    found = np.int64(0)
    while found < _AGREEING and vertex >= 0 and i + found + 1 < n:
        base = np.int64(base_at(words, _added(begin, n, k, i + found + 1, is_back)))
        vertex = _follow(vertex, base, neighbour, is_back)
        found += 1 if vertex >= 0 else 0
    return found == _AGREEING
