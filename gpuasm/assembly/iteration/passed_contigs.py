"""The text of the next k: junction-spanning reads, passed contigs and flanks, with depths of their own.

*Junction-spanning reads* are counted as they are. *Passed contigs*, the unitigs long enough for the next k, contribute
each of their k-mers with the depth of the unitig, so that nothing within a unitig is lost. Only the first and the last
of these are counted: those between have one successor and one predecessor, which are known. *Flanks* contribute the
edges between passed contigs: a junction that no read covers at the next k would otherwise become a dead end, and its
other edges would appear to be the only ones. Flanks continue through unitigs too short to be passed (`flanks`). A flank
is cut where so many reads are expected that chance cannot remove all: there a molecule ends within a repeat. (For
isolates `edge_support` finds such flanks.) Counts are converted to the depth of bases in reads: a window counts as many
units as reads have bases for each of their windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.coverage.copy_number import local_depth
from gpuasm.assembly.graph.compaction import SourceUnitigs, compact
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.graph.unitigs import Chains
from gpuasm.assembly.iteration.junction_reads import cut_at_inner_windows
from gpuasm.assembly.iteration.spelling import Flanks, find_flanks, n_next_windows, spell_passed
from gpuasm.assembly.parameters import COVERAGE, ITERATION, DepthModel
from gpuasm.kmers.keys import MAX_PLAIN_K, pair_key
from gpuasm.kmers.names import Dictionary, KmerIndex
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, signatures
from gpuasm.primitives.hashing import find
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import ReadArrays, Reads

_ONE = np.uint64(1)


@dataclass(frozen=True)
class Text:
    """The sequences in which the k-mers of the next k are counted.

    Attributes
    ----------
    reads : Reads
        Runs of windows of junction-spanning reads, then first and last windows of passed contigs, then flanks.
    names : (32 * packed.size,) int32
        Oriented names of the previous graph's k-mers at every position.
    n_reads, n_ends : int
        Numbers of the segments that are of reads, and of the ends of passed contigs after them; the others are flanks.
    depth : (n_ends + n_flanks,) int64
        Depth of each k-mer of a passed contig or flank, in units.
    copy : (n_flanks,) int64
        Depth of one copy at the ends of each flank, in units.
    reaches_passed : (n_flanks,) bool
        Whether the last window of each flank belongs to another segment.
    flanks : Flanks
        Which unitigs of the graph each flank joins, on the host.
    contig : (n_ends,) int64
        The unitig of each end, on the host; that of two ends twice, its first end first.
    n_next : (n,) int64
        Windows of the next k in each unitig, on the host; 0 in those that are not passed.
    """

    reads: Reads
    names: Array
    n_reads: int
    n_ends: int
    depth: Array
    copy: Array
    reaches_passed: Array
    flanks: Flanks
    contig: np.ndarray
    n_next: np.ndarray

    @property
    def flank_reads(self) -> Reads:
        """The segments that are flanks."""
        return self.reads.select(slice(self.n_reads + self.n_ends, None))

    @property
    def n_inner(self) -> int:
        """Number of windows of passed contigs that are not counted."""
        return int(np.maximum(self.n_next - 2, 0).sum())


def next_text(reads: Reads, names: Array, kmer_graph: KmerGraph, *, k: int, model: DepthModel = DepthModel.ONE) -> Text:
    """Concatenate junction-spanning reads, passed contigs and flanks into the text of the next k.

    Parameters
    ----------
    reads, names
        Junction-spanning reads and the names of their windows at the k of the graph.
    kmer_graph
        The graph that they come from; its unitigs of at least ``k`` bases are passed.
    k
        The next k.
    model
        Whether the graph has one depth, or is of the variants of one organism.
    """
    xp, graph = array_namespace(reads.packed), kmer_graph.graph
    n_next = n_next_windows(graph, k)
    passed, flanks = np.flatnonzero(n_next), find_flanks(graph, n_next > 0, k=k)
    own = spell_passed(kmer_graph, passed, flanks, k=k)
    reads = cut_at_inner_windows(reads, names, kmer_graph, to_namespace(xp, n_next), k=k)
    joined = Reads(
        packed=xp.concatenate([reads.packed, own.packed]),
        start=xp.concatenate([reads.start, to_namespace(xp, own.start[:-1] + 32 * reads.packed.size)]),
        length=xp.concatenate([reads.length, to_namespace(xp, np.diff(own.start).astype(np.int32))]),
        read=xp.concatenate([reads.read, xp.full(own.start.size - 1, -1, np.int64)]),
        n_reads=reads.n_segments + own.start.size - 1,
    )
    contig = passed[own.contig]
    depth = np.concatenate([graph.count[contig] // graph.n_kmers[contig], flanks.count])
    return Text(
        reads=joined,
        names=xp.concatenate([names, own.names]),
        n_reads=reads.n_segments,
        n_ends=contig.size,
        depth=to_namespace(xp, np.maximum(1, depth)),
        copy=to_namespace(xp, _copy_at_ends(graph, flanks, model=model)),
        reaches_passed=to_namespace(xp, flanks.reaches_passed),
        flanks=flanks,
        contig=contig,
        n_next=n_next,
    )


def find_chains(text: Text, graph: UnitigGraph, tally: Tally, dictionary: Dictionary) -> tuple[Chains, Array]:
    """Find the inner windows of passed contigs between counted k-mers.

    Parameters
    ----------
    text
        The text of the next k.
    graph
        The graph that it comes from.
    tally, dictionary
        The k-mers of the text that are kept.

    Returns
    -------
    chains : Chains
    vertex : (n_ends,) int64
        The first window of each end of a contig, as a vertex.
    """
    xp, n_next = array_namespace(text.names), text.n_next
    vertex = xp.empty(text.n_ends, np.int64)
    start = text.reads.start[text.n_reads :]
    _find_vertices(text.n_ends, start, text.names, tally.k - graph.k, dictionary.index, vertex)
    first = np.flatnonzero((np.diff(text.contig, prepend=-1) != 0) & (n_next[text.contig] > 2))
    contig, after = to_namespace(xp, text.contig[first]), xp.full(2 * tally.n, -1, np.int32)
    after[vertex[to_namespace(xp, first)]] = 2 * contig
    after[vertex[to_namespace(xp, first + 1)] ^ 1] = 2 * contig + 1
    count = np.maximum(1, graph.count // graph.n_kmers)
    return Chains(after, *(to_namespace(xp, row) for row in (n_next, count, graph.bases, graph.start))), vertex


def link_chains(neighbour: Array, text: Text, graph: UnitigGraph, vertex: Array, *, k: int) -> None:
    """Make the first and the last window of each passed contig neighbours, in place; see `find_chains`."""
    xp = array_namespace(neighbour)
    first = np.flatnonzero((np.diff(text.contig, prepend=-1) != 0) & (text.n_next[text.contig] > 1))
    contig = text.contig[first]
    head, tail = vertex[to_namespace(xp, first)], vertex[to_namespace(xp, first + 1)]
    ahead = graph.bases[graph.start[contig] + k].astype(np.int64)
    behind = 3 - graph.bases[graph.start[contig] + text.n_next[contig] - 2].astype(np.int64)
    neighbour[4 * head + to_namespace(xp, ahead)] = tail
    neighbour[4 * (tail ^ 1) + to_namespace(xp, behind)] = head ^ 1


def contig_names(text: Text, vertex: Array, name_of: Array) -> Array:
    """Return the name in the next graph of the first window of each unitig, -1 where it has none: (n,) int32.

    ``vertex`` are the ends of passed contigs, and ``name_of`` the names of counted k-mers in the next graph.
    """
    xp = array_namespace(name_of)
    first = np.flatnonzero(np.diff(text.contig, prepend=-1))
    at = vertex[to_namespace(xp, first)]
    name = name_of[at >> 1]
    names = xp.full(text.n_next.size, -1, np.int32)
    names[to_namespace(xp, text.contig[first])] = xp.where(name >= 0, name ^ (at & 1).astype(np.int32), -1)
    return names


@signatures("int64[::1], int32[::1], int64, uint64[::1], int32[::1], uint64, int64[::1]")
@for_each
def _find_vertices(i, start, names, step, index: KmerIndex, vertex):
    keyed = pair_key(names[start[i]], names[start[i] + step])
    vertex[i] = 2 * find(keyed >> _ONE, index.keys, index.slots, index.n_slots) + np.int64(keyed & _ONE)


def isolated_contigs(graph: UnitigGraph, k: int, *, window: float) -> UnitigGraph:
    """Return the isolated unitigs too short to be passed to ``k``: no larger k can change them.

    Unitigs of single reads with errors are removed: they have the depth of one window of a read, but not of two. A
    lower depth than one window occurs only where the unitig was passed from a smaller k, with the depth found there.

    Parameters
    ----------
    graph
        The graph of the previous k.
    k
        The next k.
    window
        Depth of one window at the k of that graph.
    """
    n_arcs = graph.arc_start[2::2] - graph.arc_start[:-1:2]
    short = np.where(graph.is_circular, graph.n_kmers, graph.length) < k
    was_passed = (graph.depth < window) & (graph.k > MAX_PLAIN_K)
    kept = short & (n_arcs == 0) & (was_passed | (graph.depth >= COVERAGE.two_reads * window))
    return compact(graph, SourceUnitigs.identity(graph.n), is_removed=~kept)[0]


def _copy_at_ends(graph: UnitigGraph, flanks: Flanks, *, model: DepthModel) -> np.ndarray:
    """Return the depth of one copy at flanks, in units; without one depth, at most that of the unitigs themselves."""
    copy = local_depth(graph, model)
    copy = ((copy if model is DepthModel.ONE else np.minimum(copy, graph.depth)) * graph.unit).astype(np.int64)
    return np.minimum(copy[flanks.source >> 1], copy[flanks.target >> 1])


def set_passed_depth(
    text: Text, tally: Tally, dictionary: Dictionary, *, is_kept: Array, weight: int, cuts_flanks: bool
) -> None:
    """Set the depth of the k-mers and edges of passed contigs, and the least depth of those of flanks.

    Reads that span no junction are not in the text, so counts within a passed contig are replaced by its depth. All
    reads across a junction are in the text, so a flank only fills in what chance may have left out.

    Parameters
    ----------
    text
        The text of the next k.
    tally, dictionary
        Its k-mers; counts and followers are changed in place.
    is_kept : (n,) uint8
        Set to 1 for each k-mer of passed contigs, and to 0 for those of flanks that lack expected reads.
    worth
        Depth of one occurrence, in units.
    cuts_flanks
        Whether flanks that lack expected reads are cut: not in a text of fragments, which lack those of tangles, nor
        where such flanks are removed already.
    """
    xp = array_namespace(text.names)
    first = text.n_reads
    enough = int(weight * np.log(max(1, text.copy.size) / ITERATION.flanks_lost_by_chance))
    may_fill = ((text.copy < enough) | (not cuts_flanks)).astype(np.uint8)
    reaches_passed = text.reaches_passed.astype(np.uint8)
    for is_flank, last in ((False, first + text.n_ends), (True, text.reads.n_segments)):
        segments = text.reads.select(xp.arange(first, last))
        windows = xp.maximum(segments.length.astype(np.int64) - (tally.k - 1), 0)
        end = xp.cumsum(windows)
        total = int(end[-1]) if last > first else 0
        segment = xp.searchsorted(end, xp.arange(total, dtype=np.int64), side="right")
        depth = text.depth[first - text.n_reads : last - text.n_reads]
        flanks = _Flanks(is_flank, reaches_passed, may_fill, weight)
        _set_depth(
            total, segment, end - windows, segments.arrays, text.names, tally.k, tally.k - dictionary.k0,
            dictionary.index, depth, flanks, tally.count, tally.followers, is_kept,
        )  # fmt: skip
        first = last


class _Flanks(NamedTuple):
    """Whether segments are flanks, which of these end in a passed contig and may fill gaps, and a window's depth."""

    is_flank: bool
    reaches_passed: Array
    may_fill: Array
    weight: int


@signatures(
    "int64[::1], int64[::1], int64[::1], int32[::1], uint64[::1], int32[::1], int64, int64, uint64[::1], int32[::1], "
    "uint64, int64[::1], boolean, uint8[::1], uint8[::1], int64, uint32[::1], uint32[::1], uint8[::1]"
)
@for_each
def _set_depth(
    w, segment, first, reads: ReadArrays, names, k, shift, index: KmerIndex, depth, flanks: _Flanks, count, followers,
    is_kept,
):  # fmt: skip
    c, packed, is_flank = segment[w], reads.packed, flanks.is_flank
    offset = w - first[c]
    p = reads.start[c] + offset
    keyed = pair_key(names[p], names[p + shift])
    strand = np.int64(keyed & _ONE)
    number = find(keyed >> _ONE, index.keys, index.slots, index.n_slots)
    has_next = offset < reads.length[c] - k
    # The first window of a flank belongs to its source, and the last one may belong to its target.
    is_between = is_flank and offset > 0 and (has_next or flanks.reaches_passed[c] == 0)
    is_kept[number] = 1
    # A k-mer that occurs once occurs only in the flank itself.
    if is_flank and is_between and flanks.may_fill[c] == 0 and count[number] <= flanks.weight:
        is_kept[number] = 0
    if not is_flank or (is_between and count[number] < depth[c]):
        count[number] = depth[c]
    if has_next:
        after = 8 * number + 4 * strand + np.int64(base_at(packed, p + k))
        if not is_flank or followers[after] < depth[c]:
            followers[after] = depth[c]
    if offset > 0:
        before = 8 * number + 4 * (1 - strand) + 3 - np.int64(base_at(packed, p - 1))
        if not is_flank or followers[before] < depth[c]:
            followers[before] = depth[c]
