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

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.local_depth import SINGLE
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.link_evidence import SIXTEENTHS, Evidence
from gpuasm.assembly.pairs.links import Links

_MANY_PAIRS = 8
"""Where so many pairs are expected of each copy, the other neighbour is linked too, and shows that two are there."""


@dataclass(frozen=True)
class Copies:
    """What of the last graph's unitigs is a copy of a repeat, and nothing else.

    Attributes
    ----------
    end : (2n,) int64
        Of each oriented unitig the bases behind the beginning of its last window that holds a word that is there rather
        once than twice; 0 where that is its last window, or no window does.
    is_whole : (n,) bool, on the host
        Whether no window of a unitig does: it is a repeat from end to end.
    """

    end: Array
    is_whole: np.ndarray

    @classmethod
    def of(cls, graph: UnitigGraph, may_be_single: Array) -> Copies:
        """Measure the unitigs; ``may_be_single``: of their windows, counted through all of them, (n_kmers,) bool."""
        xp = array_namespace(may_be_single)
        start = to_namespace(xp, np.concatenate([[0], np.cumsum(graph.n_kmers)]))
        single = xp.flatnonzero(may_be_single)
        low, high = xp.searchsorted(single, start[:-1]), xp.searchsorted(single, start[1:])
        end = xp.zeros(2 * graph.n, np.int64)
        some = xp.flatnonzero(high > low)
        after, before = start[some + 1] - single[high[some] - 1] - 1, single[low[some]] - start[some]
        end[2 * some] = xp.where(after > 0, after + graph.k, 0)
        end[2 * some + 1] = xp.where(before > 0, before + graph.k, 0)
        return cls(end, to_host(high == low))


def come_from_copies(links: Links, evidence: Evidence, copies: Copies) -> np.ndarray:
    """Tell which links of single copies another copy's pairs may have made: (n_links,) bool, on the host."""
    xp, link = array_namespace(links.source), links.of_pairs
    is_sure = (links.left >= copies.end[links.source[link]]) & (links.right >= copies.end[links.target[link] ^ 1])
    n_sure = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(is_sure.astype(np.int64))])
    has_none = to_host(n_sure[links.first[1:]] == n_sure[links.first[:-1]])
    return has_none & (evidence.expected < SIXTEENTHS * _MANY_PAIRS)


def leave_repeats(links: Links, graph: UnitigGraph, copies: Copies) -> np.ndarray:
    """Tell which links lead from a repeat, from end to end, to what is there once: (n_links,) bool, on the host."""
    source, target = to_host(links.source) >> 1, to_host(links.target) >> 1
    from_repeat = copies.is_whole[source]
    repeat, once = np.where(from_repeat, source, target), np.where(from_repeat, target, source)
    return (from_repeat != copies.is_whole[target]) & (graph.depth[repeat] >= SINGLE * graph.depth[once])
