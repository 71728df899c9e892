"""Mercy k-mers: what single reads know of thinly covered places.

Where depth falls so low that k-mers occur once, solid k-mers leave gaps, and the graph two dead ends. A read that ends
one gap's side and begins the other bridges it: the rare k-mers between its last k-mer at one dead end and its next at
another are taken back. Errors in well-covered places never qualify, since their flanks go on. After Li et al. (2015),
doi:10.1093/bioinformatics/btv033. Bridges are found twice: in the graph as it is, since a short piece two reads deep
beside a repeat would go as a tip, and in the cleaned graph, in which the tips at a dead end are gone. What is
left of a tip may be the only way on and hide the dead end: between two unitigs a read may leave up to k windows before
the end of the one and come in up to k windows behind that of the other. The tip then has a rival, and goes. A read that
comes back by the end that it left by bridges nothing: its molecule folded back on itself, as ends of cDNA do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.levels import Level
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally, tally_kmers
from gpuasm.parallel import for_each
from gpuasm.primitives.hashing import find
from gpuasm.sequence.reads import Reads


def bridging_pieces(crossing: Reads, names: Array, level: Level) -> Reads:
    """Cut out of the crossing reads what leads from one dead end of the graph to another.

    Parameters
    ----------
    crossing, names
        Reads that cross junctions, and the names of their windows at the level's k.
    level
        The cleaned graph.

    Returns
    -------
    Reads over the same words: each piece from the last window before a gap to the first one after it.
    """
    xp, k = array_namespace(crossing.words), level.graph.k
    on_bridge = xp.zeros(names.size, dtype=np.uint8)
    ends = (level.strand, level.unitig_of, _windows_left(level))
    _mark_bridges(crossing.n_pieces, crossing.start, crossing.length, k, names, *ends, on_bridge)
    marked = to_host(xp.flatnonzero(on_bridge))
    is_first = np.diff(marked, prepend=-2) > 1
    start, last = marked[is_first], marked[np.roll(is_first, -1)]
    return replace(
        crossing,
        start=to_namespace(xp, start),
        length=to_namespace(xp, (last - start + k).astype(np.int32)),
        read=to_namespace(xp, np.full(start.size, -1, np.int64)),
    )


def _windows_left(level: Level) -> Array:
    """Return how many windows each oriented one (2 * window + strand) has to its unitig's end: (2 * n_windows,) int32.

    Where that is more than k, or where the unitig leads on, k + 1 stands.
    """
    xp, graph = array_namespace(level.unitig_of), level.graph
    leads_on = (np.diff(graph.arc_start) > 0) | np.repeat(graph.is_circular, 2)
    rows = to_namespace(xp, np.concatenate([[0], np.cumsum(graph.n_kmers)])), to_namespace(xp, leads_on)
    left = xp.empty(2 * level.unitig_of.size, np.int32)
    _tell_left(level.unitig_of.size, level.unitig_of, *rows, graph.k + 1, left)
    return left


@for_each
def _tell_left(j, unitig_of, window_start, leads_on, most, left):
    u = np.int64(unitig_of[j])
    ahead, behind = window_start[u + 1] - 1 - j, j - window_start[u]
    left[2 * j] = most if leads_on[2 * u] else min(ahead, most)
    left[2 * j + 1] = most if leads_on[2 * u + 1] else min(behind, most)


@for_each
def _mark_bridges(r, start, length, k, names, strand, unitig_of, left, on_bridge):
    before = np.int64(-1)
    for p in range(start[r], start[r] + length[r] - k + 1):
        name = np.int64(names[p])
        if name < 0:
            continue
        if before >= 0:
            last = np.int64(names[before])
            out, back = last ^ np.int64(strand[last >> 1]), name ^ np.int64(strand[name >> 1])
            ahead, behind = left[out], left[back ^ 1]
            is_other = unitig_of[last >> 1] != unitig_of[name >> 1]
            is_folded = not is_other and (out & 1) != (back & 1)
            if (ahead == 0 and behind == 0 and not is_folded) or (is_other and ahead <= k and behind <= k):
                for q in range(before, p + 1):
                    on_bridge[q] = 1
        before = p


def with_mercy(reads: Reads, kept: Tally, pieces: Reads, *, min_follow: int) -> tuple[Reads, Tally]:
    """Add the k-mers and edges of bridging pieces to a tally.

    Parameters
    ----------
    reads
        What ``kept`` was counted in.
    kept
        The k-mers of the cleaned graph, with followers.
    pieces
        As `bridging_pieces` gives them.
    min_follow
        How often an edge must have been seen to count: the edges of bridges get that much.

    Returns
    -------
    The reads with the words of the pieces behind their own, and the tally with the added k-mers.
    """
    xp = array_namespace(reads.words)
    found = tally_kmers(pieces, kept.k)
    dictionary = Dictionary.of(kept.keys, k=kept.k, k0=0)
    is_new = xp.zeros(found.n, dtype=bool)
    index = (dictionary.keys, dictionary.slots, dictionary.mask)
    _add_followers(found.n, found.keys, found.followers, *index, np.int64(min_follow), kept.followers, is_new)
    new = found.where(is_new)
    offset = np.int64(2 * 32 * reads.words.size)
    joined = Tally(
        k=kept.k,
        keys=xp.concatenate([kept.keys, new.keys]),
        count=xp.concatenate([kept.count, new.count]),
        place=xp.concatenate([kept.place, new.place + offset]),
        followers=xp.concatenate([kept.followers, new.followers * np.uint32(min_follow)]),
        histogram=kept.histogram,
    )
    return replace(reads, words=xp.concatenate([reads.words, pieces.words])), joined


@for_each
def _add_followers(i, own_keys, own_followers, keys, slots, mask, min_follow, followers, is_new):
    number = find(own_keys[i], keys, slots, mask)
    is_new[i] = number < 0
    if number >= 0:
        for j in range(8):
            if own_followers[8 * i + j] > 0 and followers[8 * number + j] < min_follow:
                followers[8 * number + j] = min_follow
