"""Local depth: what one copy of the sequence around a unitig is covered by.

Relative depth alone would take true variants of repeats for errors: a single-copy branch beside a seven-copy repeat
has a seventh of its depth. So each rule that asks "is this rare?" compares with one copy's depth. Where most of the
graph has one depth, as in an isolate, that depth bounds it; a metagenome has none, and the longest unitig near by
stands for it, since long unitigs are mostly unique sequence. In the midst of a tangle the longest near by may be
sixteen copies of a repeat: there the next long unitig beyond bounds it.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.kmers.spectrum import chance_of_one
from gpuasm.parallel import compiled, run_chunks

EVEN_SHARE = 0.7
"""A graph has one depth where so much of it lies within a factor of two of the typical depth."""
LONG = 200
"""k-mers of a long unitig: what strains that differ in one base of a hundred have in common is seldom longer."""
SINGLE = 1.5
"""What is deeper than so many times one copy is there more than once."""
_RADIUS = 3
"""Arcs to look along: from one branch of a bubble inside a repeat to the flank of the repeat."""
_BEYOND = 12
"""Arcs to look along at most where all within three are short: out of a tangle."""


def local_depth(graph: UnitigGraph, *, is_isolate: bool = True, is_population: bool = False) -> np.ndarray:
    """Return for each unitig the depth of one copy of what lies around it.

    Parameters
    ----------
    graph
        The graph.
    is_isolate
        Whether the graph has one depth.
    is_population
        Whether the sample is the variants of one organism: a long unitig beyond a tangle may then be what little there
        is of its host, and bounds nothing.

    Returns
    -------
    (n,) float64: the depth of the longest unitig at most three arcs away, itself included (of equally long ones the
    one with the lesser number), but no more than the typical depth where the graph has one, or else, but in a
    population, where all so near have at most 200 k-mers, than that of the nearest longer one, the longest of several,
    within twelve arcs.
    """
    best = _longest_near_by(graph)
    near_by = graph.depth[best]
    if is_isolate:
        return np.minimum(near_by, typical_depth(graph))
    if is_population:
        return near_by
    for _ in range(_RADIUS, _BEYOND):
        short = np.flatnonzero(graph.n_kmers[best] <= LONG)
        if short.size == 0:
            break
        best = _spread(best, graph, rows=short)
    return np.where(graph.n_kmers[best] > LONG, np.minimum(near_by, graph.depth[best]), near_by)


def bits_for_one(graph: UnitigGraph, copy: np.ndarray, *, bases_per_read: float) -> np.ndarray:
    """Return how much likelier one copy makes the reads on each unitig than two do, as powers of 2, by Poisson.

    Parameters
    ----------
    graph
        Of reads.
    copy : (n,) float64
        Depth of one copy of what lies around each unitig.
    bases_per_read
        What a read has on average.

    Returns
    -------
    (n,) float64: below 0 where two copies are likelier.
    """
    reads_per_depth = (graph.n_kmers + max(0.0, bases_per_read - graph.k)) / bases_per_read
    return reads_per_depth * (copy / np.log(2) - graph.depth)


def depth_near_by(graph: UnitigGraph) -> np.ndarray:
    """Return for each unitig the depth of the longest unitig at most three arcs away: (n,) float64."""
    return graph.depth[_longest_near_by(graph)]


def _longest_near_by(graph: UnitigGraph) -> np.ndarray:
    best = np.arange(graph.n, dtype=np.int64)
    for _ in range(_RADIUS):
        best = _spread(best, graph, rows=np.arange(graph.n))
    return best


def typical_depth(graph: UnitigGraph) -> float:
    """Return the length-weighted median depth of the unitigs of more than k k-mers, or of all if there are none.

    Half of these unitigs' k-mers lie in unitigs at most so deep. Shorter ones may be nothing but errors.
    """
    return _least_depth(graph, of=2)


def thin_depth(graph: UnitigGraph) -> float:
    """Return the depth that nine tenths of these unitigs' k-mers have at least: that of the thin members of many."""
    return _least_depth(graph, of=10)


def deep_depth(graph: UnitigGraph) -> float:
    """Return the depth that nine tenths of these unitigs' k-mers have at most: that of the deep members of many."""
    return _least_depth(graph, of=10, parts=9)


def missed_share(graph: UnitigGraph, *, windows: float) -> float:
    """Return the share of these unitigs' k-mers that must be expected to have been seen at most once.

    In a spectrum one depth stands for all (`Spectrum.rare_share`); of many organisms the thin ones miss nearly all that
    is missed, and their unitigs show them.

    Parameters
    ----------
    graph
        The graph.
    windows
        Windows of k bases that begin at a base over which one base of reads lies.
    """
    if graph.n == 0:
        return 0.0
    telling = _telling(graph)
    depth, n_kmers = graph.depth[telling] * windows, graph.n_kmers[telling]
    return float((n_kmers * chance_of_one(depth)).sum() / n_kmers.sum())


def _least_depth(graph: UnitigGraph, *, of: int, parts: int = 1) -> float:
    """Return the depth up to which one k-mer in so many lies, or so many parts of them."""
    if graph.n == 0:
        return 0.0
    telling = _telling(graph)
    depth, n_kmers = graph.depth[telling], graph.n_kmers[telling]
    order = np.lexsort((telling, depth))
    weight = np.cumsum(n_kmers[order])
    return float(depth[order][np.searchsorted(weight, -(-weight[-1] * parts // of))])


def even_share(graph: UnitigGraph, typical: float) -> float:
    """Return the share of a graph's k-mers that lie within a factor of two of its typical depth: most of an isolate's.

    As for the typical depth, unitigs of more than k k-mers count, or all if there are none.
    """
    telling = _telling(graph)
    depth, n_kmers = graph.depth[telling], graph.n_kmers[telling]
    near = (depth >= typical / 2) & (depth <= typical * 2)
    return float(n_kmers[near].sum() / max(1, n_kmers.sum()))


def read_share(graph: UnitigGraph, typical: float) -> float:
    """Return the share of what was read that lies in unitigs within a factor of two of the typical depth.

    What is shallower, errors mostly, is left out of account.
    """
    counts = graph.depth >= typical / 2
    near = counts & (graph.depth <= typical * 2)
    return float(graph.count[near].sum() / max(1, graph.count[counts].sum()))


def long_share(graph: UnitigGraph) -> float:
    """Return the share of what was read that lies in unitigs of more than `LONG` k-mers."""
    return float(graph.count[graph.n_kmers > LONG].sum() / max(1, graph.count.sum()))


def _telling(graph: UnitigGraph) -> np.ndarray:
    long = np.flatnonzero(graph.n_kmers > graph.k)
    return long if long.size else np.arange(graph.n)


def _spread(best: np.ndarray, graph: UnitigGraph, *, rows: np.ndarray) -> np.ndarray:
    """Return the longest that is known of the given unitigs and those one arc away, and what is known of the others."""
    wider = best.copy()
    run_chunks(_take_longest, rows.size, rows, best, graph.length, graph.arc_start, graph.arc_to, wider)
    return wider


@compiled()
def _take_longest(first, last, rows, best, length, arc_start, arc_to, wider):
    for row in range(first, last):
        u = rows[row]
        own = best[u]
        for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
            other = best[arc_to[arc] >> 1]
            if length[other] > length[own] or (length[other] == length[own] and other < own):
                own = other
        wider[u] = own
