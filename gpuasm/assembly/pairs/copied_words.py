"""Copied words: what a copy of a repeat leaves behind where another is lost.

Of two copies the graph of a large k may hold one only, where so few fragments reach beyond the repeat that one of its
ways out, or in, is lost. The words of both then stand once in the graph, on the other's unitig, and the mates of either
would be anchored there. Pairs of the lost copy link strangers, and nothing else may be linked: in E. coli O157:H7
(2 x 75, 30-fold) 30 pairs, 46 expected, led from one prophage to another; in N. gonorrhoeae (2 x 125, 15-fold) and in
O157:H7 (2 x 150, 30-fold) 6 and 8 pairs joined strangers.

Reads tell: in their last graph such words were twice as deep. So what is there twice in that graph anchors no mate in
the last one.

A unitig all of whose words are copied may be a plasmid's, of which there are several in a cell; its words stay anchors.
But where what it is linked with is no such unitig, and less deep by far, it is a repeat that goes on in two ways: one
of yeast, 6,550 bases, was joined to another chromosome by 28 pairs.

Nor are all words known that are copied: some of a repeat's are as deep as one copy's, by chance. Then few pairs link
strangers. But with those that stand on copied words far more do than one copy can have: 30 beside 5 in N. gonorrhoeae
(2 x 100, 20-fold), of which 10 were expected. What belongs together has as many as it should, of all words as well.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.graph.local_depth import SINGLE, bits_for_one
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.anchors import ANCHOR_K, AnchorIndex
from gpuasm.assembly.pairs.choosing import LEAD
from gpuasm.assembly.pairs.link_evidence import SIXTEENTHS, Evidence
from gpuasm.assembly.pairs.links import Links
from gpuasm.kmers.words import words_of

_LEAST_BITS = 4
"""Two copies must be 2^4 times as likely as one. Many unitigs of a tangle are short, and by chance some are half as
deep again: with all that are rather twice there, two of 107 samples lost 13 and 23 % of their auNGA."""
_LEAST_COPIES = 2
"""So many times as many pairs as are expected: depth alone makes half as many again, which is certain of many pairs."""


def copied_words(graph: UnitigGraph, copy: np.ndarray, *, bases_per_read: float) -> np.ndarray:
    """Return the words of unitigs that are there twice, or more often, by Poisson's distribution.

    Parameters
    ----------
    graph, copy, bases_per_read
        The last graph of reads, and what `gpuasm.assembly.graph.local_depth.bits_for_one` takes.

    Returns
    -------
    (n,) uint64: keys of 31-mers, ascending.
    """
    is_copied = bits_for_one(graph, copy, bases_per_read=bases_per_read) <= -_LEAST_BITS
    length = graph.length[is_copied]
    forward, backward = words_of(graph.bases[np.repeat(is_copied, graph.length)])
    # What begins in the last bases of a unitig would be half another's.
    end = np.repeat(np.cumsum(length), length)[: forward.size]
    return np.unique(np.minimum(forward, backward)[np.arange(forward.size) + ANCHOR_K <= end])


def without_copied(index: AnchorIndex, copied: Array) -> tuple[AnchorIndex, np.ndarray]:
    """Return an index without copied words, and which unitigs are repeats from end to end.

    Parameters
    ----------
    index
        Of the last graph.
    copied : (n,) uint64
        As `copied_words` returns them.

    Returns
    -------
    AnchorIndex, and (n_unitigs,) bool, on the host: of which all words that occur once are copied; these stay.
    """
    xp, place = array_namespace(copied), index.words.place
    found = index.words.at(copied)
    found = found[found >= 0] >> 1
    n_words, n_copied = _per_unitig(index, place[place >= 0] >> 1), _per_unitig(index, found)
    is_whole = n_copied == n_words
    unitig = xp.searchsorted(index.start, found, side="right") - 1
    is_left_out = _marked(index, found[~is_whole[unitig]])
    is_kept = (place >= 0) & ~is_left_out[xp.maximum(place, 0) >> 1]
    return replace(index, words=replace(index.words, place=xp.where(is_kept, place, -1))), to_host(is_whole)


def _per_unitig(index: AnchorIndex, position: Array) -> Array:
    """Return how many of some text positions, each told once, are in each unitig: (n_unitigs,) int64."""
    xp = array_namespace(position)
    before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(_marked(index, position).astype(np.int64))])
    return xp.diff(before[index.start])


def _marked(index: AnchorIndex, position: Array) -> Array:
    """Return text positions as what tells them from all others: (n_bases,) bool."""
    is_one = array_namespace(position).zeros(int(index.start[-1]), bool)
    is_one[position] = True
    return is_one


def leave_repeats(links: Links, graph: UnitigGraph, is_whole: np.ndarray) -> np.ndarray:
    """Tell which links lead from a repeat, from end to end, to what is none: (n_links,) bool, on the host.

    Parameters
    ----------
    links
        Of single copies.
    graph, is_whole
        The last graph, and which of its unitigs are repeats, as `without_copied` tells them.
    """
    source, target = to_host(links.source) >> 1, to_host(links.target) >> 1
    from_repeat = is_whole[source]
    repeat, once = np.where(from_repeat, source, target), np.where(from_repeat, target, source)
    return (from_repeat != is_whole[target]) & (graph.depth[repeat] >= SINGLE * graph.depth[once])


def of_several_copies(links: Links, every: Links, evidence: Evidence) -> np.ndarray:
    """Tell which links have, with pairs on copied words, far more pairs than one copy: (n_links,) bool, on the host.

    Parameters
    ----------
    links
        Of words that are not copied.
    every, evidence
        The links of all words, and what their pairs say.

    Returns
    -------
    Those that have pairs on copied words, twice as many in all as are expected, and so many that two copies are 2^10
    times as likely as one, by Poisson's distribution.
    """
    number = {ends: i for i, ends in enumerate(_ends(every))}
    row = np.array([number.get(ends, -1) for ends in _ends(links)], np.int64)
    if row.size == 0 or evidence.n_pairs.size == 0:
        return np.zeros(row.size, bool)
    n, expected = evidence.n_pairs[row], evidence.expected[row] / SIXTEENTHS
    has_more = n > to_host(links.first[1:] - links.first[:-1])
    return (row >= 0) & has_more & (n >= _LEAST_COPIES * expected) & (n - expected / np.log(2) >= LEAD / 256)


def _ends(links: Links) -> list[tuple[int, int]]:
    return list(zip(to_host(links.source).tolist(), to_host(links.target).tolist(), strict=True))
