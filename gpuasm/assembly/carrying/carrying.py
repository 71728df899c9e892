"""From one k to the next: what is known goes on as text with depths of its own.

Three kinds of text make the next graph. *Crossing reads* are counted as they are. *Carried unitigs*, those long enough
for the next k, bring every k-mer they hold with their own depth, so that nothing inside a unitig can be lost. *Flanks*
bring the arcs between carried unitigs: without them a junction that no read happens to cover at the next k would look
like an end, and what is left of it like the only way; they go on through unitigs too short to be carried (`flanks`).
But a flank goes no further than reads do where so many should go that chance cannot leave none: there a molecule ends
within a repeat, and its last reads have led into another copy. (For isolates `contradicted` tells which these are.)
To make all three comparable, multiplicities are turned into the depth of bases in reads: a window counts as many units
as reads have bases for each of their windows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.carrying.flanks import Flanks, find_flanks
from gpuasm.assembly.carrying.spelling import spell
from gpuasm.assembly.graph.compaction import Pieces, compact
from gpuasm.assembly.graph.depth_units import TWO_READS
from gpuasm.assembly.graph.levels import Level
from gpuasm.assembly.graph.local_depth import local_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each
from gpuasm.primitives.hashing import find
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_LOST_BY_CHANCE = 0.4
"""Flanks of a graph that may be cut although true, in the mean: each place of one is without a read by chance as often
as Poisson's distribution has none of those expected."""
_ONE = np.uint64(1)


@dataclass(frozen=True)
class Text:
    """What the next k is counted in.

    Attributes
    ----------
    reads : Reads
        Crossing reads, then carried unitigs, then flanks.
    names : (32 * n_words,) int32
        Oriented names of the previous level's k-mers at every position.
    n_reads, n_unitigs : int
        How many pieces are reads, and how many after them unitigs; the others are flanks.
    depth : (n_unitigs + n_flanks,) int64
        What each k-mer of a carried unitig or flank counts as, in units.
    copy : (n_flanks,) int64
        Depth of one copy at the ends of each flank, in units.
    is_met : (n_flanks,) bool
        Whether the last window of each flank belongs to another piece.
    flanks : Flanks
        Which unitigs of the level's graph each flank joins, on the host.
    """

    reads: Reads
    names: Array
    n_reads: int
    n_unitigs: int
    depth: Array
    copy: Array
    is_met: Array
    flanks: Flanks


def next_text(
    reads: Reads,
    names: Array,
    level: Level,
    *,
    k: int,
    is_isolate: bool = True,
    is_population: bool = False,
    goes_through: bool = True,
) -> Text:
    """Put crossing reads, carried unitigs and flanks into one text for the next k.

    Parameters
    ----------
    reads, names
        Crossing reads and the names of their windows at the level's k.
    level
        The level they come from; its unitigs of at least ``k`` bases are carried.
    k
        The next k.
    is_isolate, is_population
        Whether the graph has one depth, or is of the variants of one organism.
    goes_through
        Whether flanks go on through unitigs that are too short.
    """
    xp, graph = array_namespace(reads.words), level.graph
    is_carried = np.where(graph.is_circular, graph.n_kmers, graph.length) >= k
    carried, flanks = np.flatnonzero(is_carried), find_flanks(graph, is_carried, k=k, goes_through=goes_through)
    own = spell(level, carried, flanks, k=k)
    joined = Reads(
        words=xp.concatenate([reads.words, own.words]),
        start=xp.concatenate([reads.start, to_namespace(xp, own.start[:-1] + 32 * reads.words.size)]),
        length=xp.concatenate([reads.length, to_namespace(xp, np.diff(own.start).astype(np.int32))]),
        read=xp.concatenate([reads.read, xp.full(own.start.size - 1, -1, np.int64)]),
        n_reads=reads.n_pieces + own.start.size - 1,
    )
    depth = np.concatenate([graph.count[carried] // graph.n_kmers[carried], flanks.count])
    return Text(
        reads=joined,
        names=xp.concatenate([names, own.names]),
        n_reads=reads.n_pieces,
        n_unitigs=carried.size,
        depth=to_namespace(xp, np.maximum(1, depth)),
        copy=to_namespace(xp, _copy_at_ends(graph, flanks, is_isolate=is_isolate, is_population=is_population)),
        is_met=to_namespace(xp, flanks.is_met),
        flanks=flanks,
    )


def too_short_to_carry(graph: UnitigGraph, k: int, *, window: float) -> UnitigGraph:
    """Return the unconnected unitigs that are too short to be carried to ``k``: no larger k can change them.

    What single reads with errors leave is dropped: what is as deep as one window of a read, and not as two. Less deep
    than one window is only what was carried itself, with the depth that a smaller k told.

    Parameters
    ----------
    graph
        The graph of the k before.
    k
        The next k.
    window
        Depth that a window of that graph's k counts as.
    """
    n_arcs = graph.arc_start[2::2] - graph.arc_start[:-1:2]
    short = np.where(graph.is_circular, graph.n_kmers, graph.length) < k
    was_carried = (graph.depth < window) & (graph.k > MAX_PLAIN_K)
    kept = short & (n_arcs == 0) & (was_carried | (graph.depth >= TWO_READS * window))
    return compact(graph, Pieces.identity(graph.n), is_removed=~kept)[0]


def _copy_at_ends(graph: UnitigGraph, flanks: Flanks, *, is_isolate: bool, is_population: bool) -> np.ndarray:
    """Return the depth of one copy at flanks, in units; what a sample of many has less of is shallower itself."""
    copy = local_depth(graph, is_isolate=is_isolate, is_population=is_population)
    copy = ((copy if is_isolate else np.minimum(copy, graph.depth)) * graph.unit).astype(np.int64)
    return np.minimum(copy[flanks.source >> 1], copy[flanks.target >> 1])


def set_carried(
    text: Text, tally: Tally, dictionary: Dictionary, *, is_kept: Array, worth: int, cuts_flanks: bool
) -> None:
    """Give k-mers and edges of carried unitigs their depth, and those of flanks at least the depth of their arc.

    What reads counted inside a unitig is a part of its depth only, as most of its reads do not cross a junction: it is
    replaced. Across a junction all reads are there, and a flank only fills in what chance may have left out.

    Parameters
    ----------
    text
        The text of the next k.
    tally, dictionary
        Its k-mers; counts and followers change in place.
    is_kept : (n,) uint8
        Becomes 1 for every k-mer that is carried, 0 for those of flanks that reads should show and do not.
    worth
        What one occurrence counts as, in units.
    cuts_flanks
        Whether flanks that reads should show, and do not, end: not where the text is of fragments, for those of tangles
        are missing, nor where such flanks are given up already.
    """
    xp = array_namespace(text.names)
    first = text.n_reads
    enough = int(worth * np.log(max(1, text.copy.size) / _LOST_BY_CHANCE))
    may_fill = ((text.copy < enough) | (not cuts_flanks)).astype(np.uint8)
    is_met = text.is_met.astype(np.uint8)
    for is_flank, last in ((False, first + text.n_unitigs), (True, text.reads.n_pieces)):
        pieces = text.reads.select(xp.arange(first, last))
        windows = xp.maximum(pieces.length.astype(np.int64) - (tally.k - 1), 0)
        end = xp.cumsum(windows)
        total = int(end[-1]) if last > first else 0
        piece = xp.searchsorted(end, xp.arange(total, dtype=np.int64), side="right")
        where = (piece, end - windows, pieces.start, pieces.length, text.reads.words, text.names)
        index = (dictionary.keys, dictionary.slots, dictionary.mask)
        depth = text.depth[first - text.n_reads : last - text.n_reads]
        shift = tally.k - dictionary.k0
        out = (tally.count, tally.followers, is_kept)
        _set(total, *where, tally.k, shift, *index, depth, is_flank, is_met, may_fill, worth, *out)
        first = last


@for_each
def _set(
    w,
    piece,
    first,
    start,
    length,
    words,
    names,
    k,
    shift,
    keys,
    slots,
    mask,
    depth,
    is_flank,
    is_met,
    may_fill,
    worth,
    count,
    followers,
    is_kept,
):
    c = piece[w]
    offset = w - first[c]
    p = start[c] + offset
    a = np.uint64(names[p])
    b = np.uint64(names[p + shift])
    forward = (a << np.uint64(31)) | b
    backward = ((b ^ _ONE) << np.uint64(31)) | (a ^ _ONE)
    strand = 1 if backward < forward else 0
    number = find(min(forward, backward), keys, slots, mask)
    has_next = offset < length[c] - k
    # The first window of a flank belongs to its source, and the last one may belong to what it meets.
    is_between = is_flank and offset > 0 and (has_next or is_met[c] == 0)
    is_kept[number] = 1
    # What occurs once occurs in the flank itself only.
    if is_flank and is_between and may_fill[c] == 0 and count[number] <= worth:
        is_kept[number] = 0
    if not is_flank or (is_between and count[number] < depth[c]):
        count[number] = depth[c]
    if has_next:
        after = 8 * number + 4 * strand + np.int64(base_at(words, p + k))
        if not is_flank or followers[after] < depth[c]:
            followers[after] = depth[c]
    if offset > 0:
        before = 8 * number + 4 * (1 - strand) + 3 - np.int64(base_at(words, p - 1))
        if not is_flank or followers[before] < depth[c]:
            followers[before] = depth[c]
