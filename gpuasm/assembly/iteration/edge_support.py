"""Edge support: find the flanks that no read supports at the next k, although coverage predicts some.

Two places that share k - 1 bases or little more are joined by a false edge. Reads distinguish them at the next k, but a
flank would pass the false edge on, so that a dead end is extended into the wrong neighbour at each k. A flank is
removed as unsupported if

1. no read contains one of its own windows, those across the junction, although two or more are expected from the
   depth of the lesser of its two unitigs; and
2. reads support another edge of the same junction.

In a community, coverage of minor genomes ends by chance within sequence that another genome shares. The dead end of the
low-coverage genome then joins the other genome's path, and its own continuation is missing. So for an end with one edge
only, into a unitig with more incoming than outgoing edges, 2 and one window without reads are enough.

In an isolate the reads missing at the consecutive empty windows of a right flank follow Poisson's distribution, with
the mean number of reads that flanks of the sample have. The flanks that miss most reads are removed, as long as the
expected share of right ones among them is small enough. A competing branch is not required: a molecule may end there.

Beyond the length of reads only fragments have windows, and many pairs of repeat copies are never joined. There a flank
is removed where one of its unitigs is single-copy, or the window at one of its ends is (`single_copy_kmers`), and
enough fragments support another edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.iteration.passed_contigs import Text
from gpuasm.assembly.iteration.spelling import Flanks
from gpuasm.assembly.parameters import ITERATION, PATHS
from gpuasm.kmers.names import Dictionary, KmerIndex, find_pair
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, signatures

_NO_ZERO = 1e-9
"""Keeps a divisor above 0."""


def unsupported_flanks(
    text: Text, graph: UnitigGraph, support: Support, *, windows_per_base: float, is_community: bool = False
) -> np.ndarray:
    """Find the flanks of a text that its reads do not support, with another edge in reads: (n_flanks,) bool.

    The unitigs and flanks of ``text`` come from ``graph``, and ``support`` is that of its flanks. There are
    ``windows_per_base`` windows of the next k for each base of the reads. In a community genomes are covered in part.
    """
    should_be_read = text.flanks.depth * windows_per_base >= ITERATION.flank_least_reads
    if is_community:
        should_be_read |= _joins_another_path(text.flanks, graph)
    at_source, at_target = _most_at_ends(text.flanks, graph, support.least)
    return (support.least == 0) & ((at_source > 0) | (at_target > 0)) & should_be_read


def improbable_flanks(
    depth: np.ndarray, support: Support, *, windows_per_base: float, reads_per_base: float
) -> np.ndarray:
    """Find the flanks that lack more reads than chance explains in an isolate, (n_flanks,) bool; see the module.

    ``depth``, (n_flanks,) float64, is that of each flank; ``reads_per_base`` are the reads as long as the next k for
    each base of all reads.
    """
    windows = depth * windows_per_base
    are_read = support.total > 0
    rate = float(support.total[are_read].sum()) / max(_NO_ZERO, float((windows * support.places)[are_read].sum()))
    # A read with any of several consecutive windows has more starting positions than a read with one given window.
    missing = rate * depth * (windows_per_base + np.maximum(support.empty - 1, 0) * reads_per_base)
    chances = 1 + rate * depth * reads_per_base * np.maximum(support.places - 1, 0)
    suspects = np.flatnonzero(support.empty > 0)
    suspects = suspects[np.argsort(-missing[suspects], kind="stable")]
    right = expected_right_flanks(missing[suspects], rate * windows, chances)
    few = np.flatnonzero(right <= ITERATION.flank_right_share * np.arange(1, suspects.size + 1))
    is_removed = np.zeros(depth.size, bool)
    is_removed[suspects[: few[-1] + 1 if few.size else 0]] = True
    return is_removed


def expected_right_flanks(missing: np.ndarray, expected: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Return how many right flanks are expected to miss at least so many reads, (n,) float64, by chance.

    Of each flank, ``expected`` are the reads at one window, and ``chances`` the gaps between reads that could leave
    windows empty: (m,) float64.
    """
    order = np.argsort(expected, kind="stable")
    expected, chances = expected[order], chances[order]
    below = np.concatenate([[0.0], np.cumsum(chances)])
    above = np.append(np.cumsum((chances * np.exp(-expected))[::-1])[::-1], 0.0)
    at = np.searchsorted(expected, missing, side="right")
    return below[at] * np.exp(-missing) + above[at]


def unsupported_by_fragments(
    text: Text,
    graph: UnitigGraph,
    support: Support,
    *,
    is_single: np.ndarray,
    single_ends: tuple[np.ndarray, np.ndarray] | None = None,
    windows_per_base: float,
) -> np.ndarray:
    """Find the flanks of a text of fragments that these do not support, (n_flanks,) bool; see the module.

    Parameters
    ----------
    is_single : (n,) bool
        Which unitigs of the graph are certainly single-copy.
    single_ends : (n_flanks,) bool each, or None
        Of which flanks the first and the last window are certainly single-copy, where that is known.
    windows_per_base
        Windows of the next k in fragments for each base of the reads, if all pairs were joined.
    """
    enough = np.maximum(PATHS.join_min_pairs, graph.depth / 2 * windows_per_base)
    unitigs = text.flanks.source >> 1, text.flanks.target >> 1
    other_is_supported = np.zeros(support.least.size, bool)
    for side, most in enumerate(_most_at_ends(text.flanks, graph, support.least)):
        other_is_supported |= is_single[unitigs[side]] & (most >= enough[unitigs[side]])
        if single_ends is not None:
            other_is_supported |= single_ends[side] & (most >= PATHS.join_min_pairs)
    return (support.least == 0) & other_is_supported


@dataclass(frozen=True)
class Support:
    """Reads or fragments with the windows of each flank that span its arc: all (n_flanks,) int64.

    Attributes
    ----------
    least
        Their least number at one of these windows.
    empty
        The greatest number of consecutive windows with none.
    total, places
        Their sum over all these windows, and the number of windows.
    """

    least: np.ndarray
    empty: np.ndarray
    total: np.ndarray
    places: np.ndarray


def flank_support(text: Text, tally: Tally, dictionary: Dictionary) -> Support:
    """Count the reads or fragments that support each flank of a text."""
    xp, flanks = array_namespace(text.names), text.flank_reads
    found = [xp.zeros(flanks.n_segments, np.int64) for _ in range(4)]
    reaches, step = to_namespace(xp, text.flanks.reaches_passed), dictionary.k - dictionary.k0
    where = (flanks.start, flanks.length, reaches, text.names, step, dictionary.k)
    _count_support(flanks.n_segments, *where, dictionary.index, tally.count, *found)
    return Support(*(to_host(array) for array in found))


def _joins_another_path(flanks: Flanks, graph: UnitigGraph) -> np.ndarray:
    """Return which flanks are an end's only edge, into a unitig with fewer outgoing than incoming edges."""
    n_arcs, source, target = graph.n_arcs, flanks.source, flanks.target
    forward = (n_arcs[source] == 1) & (n_arcs[target ^ 1] > n_arcs[target])
    return forward | ((n_arcs[target ^ 1] == 1) & (n_arcs[source] > n_arcs[source ^ 1]))


def _most_at_ends(flanks: Flanks, graph: UnitigGraph, support: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the support of the best supported flank at the source of each, and at its target: (n_flanks,) int64."""
    most, ends = np.zeros(2 * graph.n, np.int64), (flanks.source, flanks.target ^ 1)
    for end in ends:
        np.maximum.at(most, end, support)
    return most[ends[0]], most[ends[1]]


@signatures(
    "int64[::1], int32[::1], boolean[::1], int32[::1], int64, int64, uint64[::1], int32[::1], uint64, uint32[::1], "
    "int64[::1], int64[::1], int64[::1], int64[::1]"
)
@for_each
def _count_support(
    f, start, length, reaches_passed, names, shift, next_k, index: KmerIndex, count, support, empty, total, places
):
    least, run = np.int64(-1), np.int64(0)
    for offset in range(1, np.int64(length[f]) - next_k + 1 - reaches_passed[f]):
        p = start[f] + offset
        own = (
            np.int64(count[find_pair(names[p], names[p + shift], index) >> 1]) - 1
        )  # one occurrence is the flank itself
        if least < 0 or own < least:
            least = own
        run = np.int64(0) if own > 0 else run + np.int64(1)
        empty[f] = max(empty[f], run)
        total[f] += own
        places[f] += 1
    support[f] = max(least, np.int64(0))
