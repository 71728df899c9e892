"""Contradicted arcs: turns that no read takes at the next k, though some should, while reads take another there.

Where two places share little more than k - 1 bases, an arc leads from the one into the other. At the next k reads tell
them apart, but a flank would bring the arc on: an end that runs into the wrong neighbour, longer by every k. In thin
coverage many ends are such, since the true way on is a read or none. So a flank is given up if

1. one of its own windows, those across the junction, is in no read, although at the depth of the lesser of its two
   unitigs two or more should be: what thinner reads miss by chance is what flanks are for; and
2. another arc of the same junction is in reads.

Where an isolate is deep, ends are rare that only a wrong neighbour continues, and chance is what leaves a window
without reads at values of k that reads hardly reach. There twelve must be expected: S. pneumoniae in 2 x 100, 100-fold,
lost 31 right arcs at k = 91, each with reads at other windows, for one wrong one.

Beyond the reads nothing but fragments has windows, and that an arc is in none says little: of some copies of a repeat
no pair could be joined. There a flank is given up where one of its unitigs is a single copy, and so goes on in one way
only, while fragments show another way, as many of them as half a copy should have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.carrying.carrying import Text
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, inlined
from gpuasm.primitives.hashing import find

LEAST_EXPECTED, LEAST_OF_DEEP = 2.0, 12.0
"""Reads that should go through: of so many, none do by chance at one junction of seven; of more in a deep isolate, at
hardly any, though reads are not spread as evenly as by chance alone."""
_FEWEST_FRAGMENTS = 3
"""Fragments that show the other way at least,"""
_SHARE = 0.5
"""and so many of those that a copy should have: fewer are joined falsely now and then."""
_ONE = np.uint64(1)


def contradicted_flanks(
    text: Text,
    tally: Tally,
    dictionary: Dictionary,
    graph: UnitigGraph,
    *,
    windows_per_base: float,
    least_expected: float = LEAST_EXPECTED,
) -> np.ndarray:
    """Tell which flanks of a text its reads contradict; see the module.

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
    windows_per_base
        Windows of the next k that a read has for each of its bases.
    least_expected
        Reads that should go through a flank.

    Returns
    -------
    (n_flanks,) bool, on the host.
    """
    source, target = graph.arc_from[text.arcs], graph.arc_to[text.arcs]
    support = _flank_support(text, tally, dictionary, graph.k)
    most = _most_at_ends(graph, (source, target), support)
    expected = np.minimum(graph.depth[source >> 1], graph.depth[target >> 1]) * windows_per_base
    has_rival = (most[source] > 0) | (most[target ^ 1] > 0)
    return (support == 0) & has_rival & (expected >= least_expected)


def contradicted_by_fragments(
    text: Text,
    tally: Tally,
    dictionary: Dictionary,
    graph: UnitigGraph,
    *,
    is_single: np.ndarray,
    windows_per_base: float,
) -> np.ndarray:
    """Tell which flanks of a text of fragments these contradict; see the module.

    Parameters
    ----------
    text, tally, dictionary, graph
        As for `contradicted_flanks`.
    is_single : (n,) bool
        Which unitigs of the graph are there once for certain.
    windows_per_base
        Windows of the next k that there are in fragments for each base of the reads, if all pairs were joined.

    Returns
    -------
    (n_flanks,) bool, on the host.
    """
    source, target = graph.arc_from[text.arcs], graph.arc_to[text.arcs]
    support = _flank_support(text, tally, dictionary, graph.k)
    most = _most_at_ends(graph, (source, target), support)
    enough = np.maximum(_FEWEST_FRAGMENTS, _SHARE * graph.depth * windows_per_base)
    goes_elsewhere = np.repeat(is_single, 2) & (most >= np.repeat(enough, 2))
    return (support == 0) & (goes_elsewhere[source] | goes_elsewhere[target ^ 1])


def _flank_support(text: Text, tally: Tally, dictionary: Dictionary, k: int) -> np.ndarray:
    """Return how many reads or fragments, the fewest at any of them, have each flank's own windows: (n_flanks,)."""
    xp, first = array_namespace(text.names), text.n_reads + text.n_unitigs
    flanks = text.reads.select(xp.arange(first, text.reads.n_pieces))
    support = xp.zeros(flanks.n_pieces, np.int64)
    index = (dictionary.keys, dictionary.slots, dictionary.mask)
    _support(flanks.n_pieces, flanks.start, flanks.length, text.names, k, tally.k, *index, tally.count, support)
    return to_host(support)


def _most_at_ends(graph: UnitigGraph, arcs: tuple[np.ndarray, np.ndarray], support: np.ndarray) -> np.ndarray:
    """Return the support of the best supported arc that leaves each oriented unitig: (2n,) int64."""
    most = np.zeros(2 * graph.n, np.int64)
    for end in (arcs[0], arcs[1] ^ 1):
        np.maximum.at(most, end, support)
    return most


def without_flanks(text: Text, given_up: np.ndarray, tally: Tally, dictionary: Dictionary) -> tuple[Text, Array]:
    """Return a text without the flanks that are given up, and which k-mers of its tally these alone had: (n,) bool."""
    xp, first = array_namespace(text.names), text.n_reads + text.n_unitigs
    flanks = text.reads.select(to_namespace(xp, first + np.flatnonzero(given_up)))
    gone = xp.zeros(tally.n, dtype=bool)
    index = (dictionary.keys, dictionary.slots, dictionary.mask)
    _mark_own(
        flanks.n_pieces, flanks.start, flanks.length, text.names, dictionary.k0, tally.k, *index, tally.count, gone
    )
    kept = np.concatenate([np.ones(first, bool), ~given_up])
    rows = to_namespace(xp, np.flatnonzero(kept))
    left = replace(text, reads=text.reads.select(rows), depth=text.depth[rows[text.n_reads :] - text.n_reads])
    return replace(left, copy=text.copy[to_namespace(xp, ~given_up)], arcs=text.arcs[~given_up]), gone


@for_each
def _support(f, start, length, names, k, next_k, keys, slots, mask, count, support):
    least = np.int64(-1)
    for offset in range(1, min(length[f] - next_k, next_k - k) + 1):
        number = _number_at(start[f] + offset, names, next_k - k, keys, slots, mask)
        own = np.int64(count[number]) - 1  # one occurrence is the flank itself
        if least < 0 or own < least:
            least = own
    support[f] = max(least, np.int64(0))


@for_each
def _mark_own(f, start, length, names, k, next_k, keys, slots, mask, count, gone):
    for offset in range(1, min(length[f] - next_k, next_k - k) + 1):
        number = _number_at(start[f] + offset, names, next_k - k, keys, slots, mask)
        if count[number] == 1:
            gone[number] = True


@inlined()
def _number_at(p, names, shift, keys, slots, mask):
    a, b = np.uint64(names[p]), np.uint64(names[p + shift])
    forward = (a << np.uint64(31)) | b
    backward = ((b ^ _ONE) << np.uint64(31)) | (a ^ _ONE)
    return find(min(forward, backward), keys, slots, mask)
