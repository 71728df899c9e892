"""Copied ends: links that pairs of another copy of a repeat may have made.

Where so few fragments reach beyond a repeat that one of its ways out, or in, is lost, the bases of two copies stand at
the end of one unitig, and with what lies before them they look like a single copy. Their words are there once in the
graph, so mates of either copy are anchored there, and pairs of the other one link the unitig with what follows that.
Nothing else may be linked: the right neighbour lies as far off as the longest fragments reach, and of few expected none
is found.

In the reads' last graph the words of such an end were twice as deep. What is there rather once than twice is known at
every larger k (`single_words`): a window of the last graph that holds no such word is a repeat from end to end, and if
its bases are nowhere else, a copy is missing. A link none of whose pairs begins and ends elsewhere is none where so few
are expected that those of the other neighbour may be missing. Of 30 links of N. gonorrhoeae (2 x 125, 15-fold) and of
O157:H7 (2 x 150, 30-fold) two joined strangers, by 6 and by 8 pairs, and are none.

A unitig without such a word may be a plasmid's, of which there are several in a cell. But where what it is linked with
is there once, and less deep by far, it is a repeat that goes on in two ways: one of yeast, 6,550 bases, was joined to
another chromosome by 28 pairs.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.local_depth import SINGLE
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.link_evidence import SIXTEENTHS, Evidence
from gpuasm.assembly.pairs.links import Links

_MANY_PAIRS = 8
"""Where so many pairs are expected of each copy, the other neighbour is linked too, and shows that two are there."""


def copied_ends(graph: UnitigGraph, may_be_single: Array) -> Array:
    """Measure how long the ends of unitigs are that are copies of a repeat, and nothing else.

    Parameters
    ----------
    graph
        The last graph.
    may_be_single : (n_kmers,) bool
        Which windows of its unitigs, counted through all of them, hold a word that is there rather once than twice.

    Returns
    -------
    (2n,) int64: of each oriented unitig the bases behind the beginning of its last window that holds one; 0 where that
    is its last window, or no window does.
    """
    xp = array_namespace(may_be_single)
    start = to_namespace(xp, np.concatenate([[0], np.cumsum(graph.n_kmers)]))
    single = xp.flatnonzero(may_be_single)
    low, high = xp.searchsorted(single, start[:-1]), xp.searchsorted(single, start[1:])
    copied = xp.zeros(2 * graph.n, np.int64)
    some = xp.flatnonzero(high > low)
    after, before = start[some + 1] - single[high[some] - 1] - 1, single[low[some]] - start[some]
    copied[2 * some] = xp.where(after > 0, after + graph.k, 0)
    copied[2 * some + 1] = xp.where(before > 0, before + graph.k, 0)
    return copied


def come_from_copies(links: Links, evidence: Evidence, copied: Array) -> np.ndarray:
    """Tell which links another copy's pairs may have made: (n_links,) bool, on the host.

    Parameters
    ----------
    links, evidence
        Of single copies.
    copied : (2n,) int64
        As `copied_ends` returns it.
    """
    xp = array_namespace(links.source)
    link = xp.searchsorted(links.first[1:], xp.arange(links.left.size, dtype=np.int64), side="right")
    is_sure = (links.left >= copied[links.source[link]]) & (links.right >= copied[links.target[link] ^ 1])
    n_sure = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(is_sure.astype(np.int64))])
    has_none = to_host(n_sure[links.first[1:]] == n_sure[links.first[:-1]])
    return has_none & (evidence.expected < SIXTEENTHS * _MANY_PAIRS)


def leave_repeats(links: Links, graph: UnitigGraph, may_be_single: Array) -> np.ndarray:
    """Tell which links lead from a repeat, from end to end, to what is there once: (n_links,) bool, on the host.

    Parameters
    ----------
    links
        Of single copies.
    graph, may_be_single
        As for `copied_ends`.
    """
    before = np.concatenate([[0], np.cumsum(to_host(may_be_single))])
    last = np.cumsum(graph.n_kmers)
    is_repeat = before[last] == before[last - graph.n_kmers]
    source, target = to_host(links.source) >> 1, to_host(links.target) >> 1
    repeat, once = np.where(is_repeat[source], source, target), np.where(is_repeat[source], target, source)
    return (is_repeat[source] != is_repeat[target]) & (graph.depth[repeat] >= SINGLE * graph.depth[once])
