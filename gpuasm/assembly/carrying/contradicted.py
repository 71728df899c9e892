"""Contradicted arcs: turns that no read takes at the next k, though some should, while reads take another there.

Where two places share little more than k - 1 bases, an arc leads from the one into the other. At the next k reads tell
them apart, but a flank would bring the arc on: an end that runs into the wrong neighbour, longer by every k. In thin
coverage many ends are such, since the true way on is a read or none. So a flank is given up if

1. one of its own windows, those across the junction, is in no read, although at the depth of the lesser of its two
   unitigs two or more should be: what thinner reads miss by chance is what flanks are for; and
2. another arc of the same junction is in reads.

In a community chance does not excuse all of that. Coverage of its thin members ends everywhere, and by chance within a
stretch that another has too: then an end runs into that one's way on, and nobody's way leaves it. Its last reads are
few, so few should go through. So where more ways lead into a unitig than leave it, an end that has no other way on is
given up by 1, whatever its depth, and 2. Of two copies of a repeat, both with their ways in and out, none is.

In an isolate, as long as reads are all that is counted, chance can be told: a right flank lacks reads at some of its
own windows, side by side, as Poisson's distribution says, with as many reads as flanks of the sample have on average.
By it 37 of 858 flanks of S. pneumoniae (2 x 100, 100-fold) should have a window in no read at k = 91, though right; 31
had, and one wrong one. Of 5,285 of O157:H7 (80-fold) at k = 83 one right one should lack ten reads or more; one did,
and seven wrong ones. So those that lack the most are given up, as far as one in five of them may be right, whether or
not there is a rival: a molecule may end there. A number of expected reads, twelve or two, had taken right flanks and
left wrong ones, since it knew neither errors nor how many windows side by side are empty.

Beyond the reads nothing but fragments has windows, and that an arc is in none says little: of some copies of a repeat
no pair could be joined. There a flank is given up where one of its unitigs is a single copy, and so goes on in one way
only, while fragments show another way, as many of them as half a copy should have; or where the window at one of its
ends is there once for certain (`single_words`), and fragments show another way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.carrying.carrying import Text
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, inlined
from gpuasm.primitives.hashing import find

_LEAST_EXPECTED = 2.0
"""Reads that should go through where nothing tells chance: of so many, none do at one junction of seven."""
_RIGHT = 0.2
"""Share of flanks given up that may be right."""
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
    is_community: bool = False,
) -> np.ndarray:
    """Tell which flanks of a text its reads contradict, where nothing tells chance; see the module.

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
    is_community
        Whether there are members that are covered in part.

    Returns
    -------
    (n_flanks,) bool, on the host.
    """
    support = _flank_support(text, tally, dictionary, graph.k)
    should_be_read = text.flanks.depth * windows_per_base >= _LEAST_EXPECTED
    if is_community:
        should_be_read |= _runs_into_another(text, graph)
    return (support.least == 0) & _has_rival(text, graph, support) & should_be_read


def improbable_flanks(
    text: Text,
    tally: Tally,
    dictionary: Dictionary,
    graph: UnitigGraph,
    *,
    windows_per_base: float,
    reads_per_base: float,
) -> np.ndarray:
    """Tell which flanks of a text its reads contradict, where chance would hardly leave them so few; see the module.

    Parameters
    ----------
    text, tally, dictionary, graph, windows_per_base
        As for `contradicted_flanks`.
    reads_per_base
        Reads as long as the next k, for each base of all reads.

    Returns
    -------
    (n_flanks,) bool, on the host.
    """
    support = _flank_support(text, tally, dictionary, graph.k)
    depth = text.flanks.depth
    windows = depth * windows_per_base
    are_read = support.total > 0
    rate = float(support.total[are_read].sum()) / max(1e-9, float((windows * support.places)[are_read].sum()))
    # A read that has one of several windows side by side may begin at more places than one that has a certain window.
    missing = rate * depth * (windows_per_base + np.maximum(support.empty - 1, 0) * reads_per_base)
    chances = 1 + rate * depth * reads_per_base * np.maximum(support.places - 1, 0)
    suspects = np.flatnonzero(support.empty > 0)
    suspects = suspects[np.argsort(-missing[suspects], kind="stable")]
    right = _expected_right(missing[suspects], rate * windows, chances)
    few = np.flatnonzero(right <= _RIGHT * np.arange(1, suspects.size + 1))
    given_up = np.zeros(support.least.size, bool)
    given_up[suspects[: few[-1] + 1 if few.size else 0]] = True
    return given_up


def _expected_right(missing: np.ndarray, expected: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Return how many right flanks chance would leave without so many reads as are missing, or more.

    Parameters
    ----------
    missing : (n,) float64
        Reads.
    expected, chances : (m,) float64
        Of each flank: reads at one window, and gaps between these that could leave windows without.
    """
    order = np.argsort(expected, kind="stable")
    expected, chances = expected[order], chances[order]
    below = np.concatenate([[0.0], np.cumsum(chances)])
    above = np.append(np.cumsum((chances * np.exp(-expected))[::-1])[::-1], 0.0)
    at = np.searchsorted(expected, missing, side="right")
    return below[at] * np.exp(-missing) + above[at]


def contradicted_by_fragments(
    text: Text,
    tally: Tally,
    dictionary: Dictionary,
    graph: UnitigGraph,
    *,
    is_single: np.ndarray,
    single_ends: tuple[np.ndarray, np.ndarray] | None = None,
    windows_per_base: float,
) -> np.ndarray:
    """Tell which flanks of a text of fragments these contradict; see the module.

    Parameters
    ----------
    text, tally, dictionary, graph
        As for `contradicted_flanks`.
    is_single : (n,) bool
        Which unitigs of the graph are there once for certain.
    single_ends : (n_flanks,) bool each, or None
        Of which flanks the first and the last window are there once for certain, where that is known.
    windows_per_base
        Windows of the next k that there are in fragments for each base of the reads, if all pairs were joined.

    Returns
    -------
    (n_flanks,) bool, on the host.
    """
    source, target = text.flanks.source, text.flanks.target
    support = _flank_support(text, tally, dictionary, graph.k).least
    most = _most_at_ends(graph, (source, target), support)
    enough = np.maximum(_FEWEST_FRAGMENTS, _SHARE * graph.depth * windows_per_base)
    goes_elsewhere = np.repeat(is_single, 2) & (most >= np.repeat(enough, 2))
    elsewhere = goes_elsewhere[source] | goes_elsewhere[target ^ 1]
    if single_ends is not None:
        is_taken = most >= _FEWEST_FRAGMENTS
        elsewhere |= (single_ends[0] & is_taken[source]) | (single_ends[1] & is_taken[target ^ 1])
    return (support == 0) & elsewhere


@dataclass(frozen=True)
class Support:
    """How many reads or fragments have the windows of each flank that go across its arc: all (n_flanks,) int64.

    Attributes
    ----------
    least
        The fewest that have one of them.
    empty
        The most of these windows, side by side, that none has.
    total, places
        Of all these windows together, and how many windows that are.
    """

    least: np.ndarray
    empty: np.ndarray
    total: np.ndarray
    places: np.ndarray


def _flank_support(text: Text, tally: Tally, dictionary: Dictionary, k: int) -> Support:
    xp, first = array_namespace(text.names), text.n_reads + text.n_unitigs
    flanks = text.reads.select(xp.arange(first, text.reads.n_pieces))
    found = [xp.zeros(flanks.n_pieces, np.int64) for _ in range(4)]
    where = (flanks.start, flanks.length, text.is_met.astype(np.uint8), text.names)
    index = (dictionary.keys, dictionary.slots, dictionary.mask)
    _support(flanks.n_pieces, *where, tally.k - k, tally.k, *index, tally.count, *found)
    return Support(*(to_host(array) for array in found))


def _has_rival(text: Text, graph: UnitigGraph, support: Support) -> np.ndarray:
    """Tell of which flanks another arc of the same junction is in reads: (n_flanks,) bool."""
    source, target = text.flanks.source, text.flanks.target
    most = _most_at_ends(graph, (source, target), support.least)
    return (most[source] > 0) | (most[target ^ 1] > 0)


def _runs_into_another(text: Text, graph: UnitigGraph) -> np.ndarray:
    """Tell which flanks are an end's only way on, and lead where more ways lead to than on: (n_flanks,) bool."""
    ways = np.diff(graph.arc_start)
    source, target = text.flanks.source, text.flanks.target
    forward = (ways[source] == 1) & (ways[target ^ 1] > ways[target])
    return forward | ((ways[target ^ 1] == 1) & (ways[source] > ways[source ^ 1]))


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
    is_met = text.is_met[to_namespace(xp, given_up)].astype(np.uint8)
    where = (flanks.start, flanks.length, is_met, text.names)
    index = (dictionary.keys, dictionary.slots, dictionary.mask)
    _mark_own(flanks.n_pieces, *where, dictionary.k0, tally.k, *index, tally.count, gone)
    kept = np.concatenate([np.ones(first, bool), ~given_up])
    rows, own = to_namespace(xp, np.flatnonzero(kept)), to_namespace(xp, ~given_up)
    left = replace(text, reads=text.reads.select(rows), depth=text.depth[rows[text.n_reads :] - text.n_reads])
    others = text.flanks.without(given_up)
    return replace(left, copy=text.copy[own], is_met=text.is_met[own], flanks=others), gone


@for_each
def _support(f, start, length, is_met, names, shift, next_k, keys, slots, mask, count, support, empty, total, places):
    least, run = np.int64(-1), np.int64(0)
    for offset in range(1, np.int64(length[f]) - next_k + 1 - is_met[f]):
        number = _number_at(start[f] + offset, names, shift, keys, slots, mask)
        own = np.int64(count[number]) - 1  # one occurrence is the flank itself
        if least < 0 or own < least:
            least = own
        run = 0 if own > 0 else run + 1
        empty[f] = max(empty[f], run)
        total[f] += own
        places[f] += 1
    support[f] = max(least, np.int64(0))


@for_each
def _mark_own(f, start, length, is_met, names, k, next_k, keys, slots, mask, count, gone):
    for offset in range(1, np.int64(length[f]) - next_k + 1 - is_met[f]):
        number = _number_at(start[f] + offset, names, next_k - k, keys, slots, mask)
        if count[number] == 1:
            gone[number] = True


@inlined()
def _number_at(p, names, shift, keys, slots, mask):
    a, b = np.uint64(names[p]), np.uint64(names[p + shift])
    forward = (a << np.uint64(31)) | b
    backward = ((b ^ _ONE) << np.uint64(31)) | (a ^ _ONE)
    return find(min(forward, backward), keys, slots, mask)
