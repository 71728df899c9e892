"""Arcs that fragments contradict: an end goes on otherwise, and has no copy left to go on this way too.

Beyond the reads nothing but fragments has windows, and that an arc is in none says little: of some copies of a repeat
no pair could be joined. But the arc may be false. Where the short unitig between two copies of a repeat is lost at some
k with one of the two ways into it, what follows it on that way is left with the other way in alone, and goes on there
at every larger k: the contig then begins with another copy's bases, with no read against them.

So a flank is given up that no fragment takes where, at one of its two ends, fragments take another arc, and

1. the unitig is a single copy, longer than any fragment, so that it goes on in one way only, and fragments that show
   this way are as many as half a copy should have; or, in an isolate,
2. what they lead to is as deep as the unitig itself, to a quarter of a copy, where a copy should have 32 fragments.
   What is deeper by more than a copy has other ways in, and tells nothing; nor does a unitig of three copies or more,
   as chance makes their depth vary by one.

Of O157:H7 (2 x 75, 30-fold) the second takes 50 of 366 false flanks that no fragment takes, all values of k together,
and 38 of 3,732 true ones; of the same genome (2 x 150, 60-fold) 21 of 69, and 7 of 586. A false one that is taken does
not come again at the next k.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.carrying.carrying import Text
from gpuasm.assembly.carrying.contradicted import flank_support, most_at_ends
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally

_FEWEST_FRAGMENTS = 3
"""Fragments that show the other way at least,"""
_SHARE, _SHARE_OF_ALL = 0.5, 0.1
"""and so many of those that a copy should have: fewer are joined falsely now and then. Where depth says that all copies
go the other way, it need not be as many: of a tangle few pairs are joined."""
_ALL_HAVE = 32
"""Fragments of one copy that should be at each place, for none to tell anything: at a large k, where few fragments are
long enough, both copies of a repeat may lose a way each, and what is left would join the one's side to the other's."""
_MISSING, _OTHERS = 0.25, 1.0
"""Copies that the other ways may have less than the unitig, and more."""
_MOST_COPIES = 3.0
"""Copies whose depth tells their number: fewer than so many."""


def contradicted_by_fragments(
    text: Text,
    tally: Tally,
    dictionary: Dictionary,
    graph: UnitigGraph,
    *,
    is_single: np.ndarray,
    copy: np.ndarray | None,
    windows_per_base: float,
) -> np.ndarray:
    """Tell which flanks of a text of fragments these contradict; see the module.

    Parameters
    ----------
    text
        The text of the next k.
    tally
        Its k-mers as they were counted.
    dictionary
        Of the tally.
    graph
        The graph that unitigs and flanks come from.
    is_single : (n,) bool
        Which unitigs of the graph are there once for certain.
    copy : (n,) float64, or None
        Depth of one copy of what lies around each unitig; None where there is no telling.
    windows_per_base
        Windows of the next k that there are in fragments for each base of the reads, if all pairs were joined.

    Returns
    -------
    (n_flanks,) bool, on the host.
    """
    arcs = text.flanks.source, text.flanks.target
    support = flank_support(text, tally, dictionary, graph.k).least
    most = most_at_ends(graph, arcs, support)
    enough = np.maximum(_FEWEST_FRAGMENTS, _SHARE * graph.depth * windows_per_base)
    goes_elsewhere = np.repeat(is_single, 2) & (most >= np.repeat(enough, 2))
    if copy is not None:
        each = copy * windows_per_base
        is_told = np.repeat(each >= _ALL_HAVE, 2) & (most >= np.repeat(_SHARE_OF_ALL * each, 2))
        goes_elsewhere |= is_told & _all_go_elsewhere(graph, arcs, support > 0, copy=copy)
    return (support == 0) & (goes_elsewhere[arcs[0]] | goes_elsewhere[arcs[1] ^ 1])


def _all_go_elsewhere(
    graph: UnitigGraph, arcs: tuple[np.ndarray, np.ndarray], is_taken: np.ndarray, *, copy: np.ndarray
) -> np.ndarray:
    """Tell out of which oriented unitigs the arcs that are taken lead to as many copies as the unitig has: (2n,) bool.

    Parameters
    ----------
    graph
        The graph.
    arcs : (n_arcs,) int64 each
        Source and target of each, oriented.
    is_taken : (n_arcs,) bool
        By fragments.
    copy : (n,) float64
        Depth of one copy.
    """
    source, target = (oriented[is_taken] for oriented in arcs)
    there = np.zeros(2 * graph.n)
    np.add.at(there, source, graph.depth[target >> 1])
    np.add.at(there, target ^ 1, graph.depth[source >> 1])
    here, one = np.repeat(graph.depth, 2), np.repeat(copy, 2)
    holds_all = (there >= here - _MISSING * one) & (there < here + _OTHERS * one)
    return holds_all & (here < _MOST_COPIES * one)
