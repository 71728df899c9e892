"""Copied ends: links that another copy's pairs may have made.

Where so few fragments reach beyond a repeat that one of its ways out, or in, is lost, the bases of two copies stand at
the end of one unitig, which the deeper rest of it makes look like a single copy. Its words are there once in the graph,
so mates of either copy are anchored there, and pairs of the other one link it with what follows that. Nothing else may
be linked: the right neighbour lies as far off as the longest fragments reach, and of few expected none is found.

What is there once for certain in the reads' last graph is known (`single_words`). A link none of whose pairs begins and
ends there tells of one copy or of two. It is none where so few pairs are expected that the other neighbour's may be
missing, and two copies explain better how many there are. Of 30 links of N. gonorrhoeae (2 x 125, 15-fold) and of
O157:H7 (2 x 150, 30-fold) two joined strangers, by 6 pairs of 2.6 expected and by 8 of 3.7.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.link_evidence import SIXTEENTHS, Evidence
from gpuasm.assembly.pairs.links import Links

_MANY_PAIRS = 8
"""Where so many pairs are expected of each copy, the other neighbour is linked too, and shows that two are there."""
_ONE_OF_TWO = 693
"""Thousandths, the logarithm of 2: n pairs are as likely of two copies as of one where that times n are expected."""


def unsure_ends(graph: UnitigGraph, is_single: Array) -> Array:
    """Measure how far from each end of a unitig the last word begins that is there once for certain.

    Parameters
    ----------
    graph
        The last graph.
    is_single : (n_kmers,) bool
        Which windows of its unitigs, counted through all of them, hold such a word.

    Returns
    -------
    (2n,) int64: bases to the end of each oriented unitig; 0 where its last window holds one, more than it has where no
    window does.
    """
    xp = array_namespace(is_single)
    start = to_namespace(xp, np.concatenate([[0], np.cumsum(graph.n_kmers)]))
    single = xp.flatnonzero(is_single)
    low, high = xp.searchsorted(single, start[:-1]), xp.searchsorted(single, start[1:])
    length = to_namespace(xp, graph.length)
    unsure = xp.repeat(length + 1, 2)
    some = xp.flatnonzero(high > low)
    after, before = start[some + 1] - single[high[some] - 1] - 1, single[low[some]] - start[some]
    unsure[2 * some] = xp.where(after > 0, after + graph.k, 0)
    unsure[2 * some + 1] = xp.where(before > 0, before + graph.k, 0)
    return unsure


def come_from_copies(links: Links, evidence: Evidence, unsure: Array) -> np.ndarray:
    """Tell which links another copy's pairs may have made: (n_links,) bool, on the host.

    Parameters
    ----------
    links, evidence
        Of single copies.
    unsure : (2n,) int64
        As `unsure_ends` returns it.
    """
    xp = array_namespace(links.source)
    link = xp.searchsorted(links.first[1:], xp.arange(links.left.size, dtype=np.int64), side="right")
    is_sure = (links.left >= unsure[links.source[link]]) & (links.right >= unsure[links.target[link] ^ 1])
    n_sure = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(is_sure.astype(np.int64))])
    has_none = to_host(n_sure[links.first[1:]] == n_sure[links.first[:-1]])
    is_likelier = SIXTEENTHS * _ONE_OF_TWO * evidence.n_pairs > 1000 * evidence.expected
    return has_none & is_likelier & (evidence.expected < SIXTEENTHS * _MANY_PAIRS)
