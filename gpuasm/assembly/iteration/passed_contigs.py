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
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.names import Dictionary, KmerIndex, find_pair
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, signatures
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import ReadArrays, Reads


@dataclass(frozen=True)
class Text:
    """The sequences in which the k-mers of the next k are counted.

    Attributes
    ----------
    reads : Reads
        Runs of windows of junction-spanning reads, then first and last windows of passed contigs, then flanks.
    names : (32 * packed.size,) int32
        Oriented names of the previous graph's k-mers at every position.
    n_reads : int
        Number of the segments that are of reads; the ends of passed contigs are after them, and then the flanks.
    depth : (n_ends + n_flanks,) int64
        Depth of each k-mer of a passed contig or flank, in units.
    flanks : Flanks
        Which unitigs of the graph each flank joins, on the host.
    n_next : (n,) int64
        Windows of the next k in each unitig, on the host; 0 in those that are not passed.
    """

    reads: Reads
    names: Array
    n_reads: int
    depth: Array
    flanks: Flanks
    n_next: np.ndarray

    @property
    def n_ends(self) -> int:
        """Number of the ends of passed contigs: two, or one where a contig has one window."""
        return int(np.minimum(self.n_next, 2).sum())

    @property
    def flank_reads(self) -> Reads:
        """The segments that are flanks."""
        return self.reads.select(slice(self.n_reads + self.n_ends, None))

    @property
    def n_inner(self) -> int:
        """Number of windows of passed contigs that are not counted."""
        return int(np.maximum(self.n_next - 2, 0).sum())


def next_text(reads: Reads, names: Array, kmer_graph: KmerGraph, *, k: int) -> Text:
    """Concatenate junction-spanning reads, passed contigs and flanks into the text of the next k.

    ``names`` are those of the reads' windows at the k of the graph. Its unitigs of at least ``k`` bases are passed.
    """
    xp, graph = array_namespace(reads.packed), kmer_graph.graph
    n_next = n_next_windows(graph, k)
    flanks = find_flanks(graph, n_next > 0, k=k)
    spelled, names_of_spelled = spell_passed(kmer_graph, n_next, flanks, k=k)
    reads = cut_at_inner_windows(reads, names, kmer_graph, to_namespace(xp, n_next), k=k)
    depth = np.concatenate([np.repeat(graph.count // graph.n_kmers, np.minimum(n_next, 2)), flanks.count])
    return Text(
        reads=reads.followed_by(spelled),
        names=xp.concatenate([names, names_of_spelled]),
        n_reads=reads.n_segments,
        depth=to_namespace(xp, np.maximum(1, depth)),
        flanks=flanks,
        n_next=n_next,
    )


def link_chains(
    neighbour: Array, text: Text, graph: UnitigGraph, tally: Tally, dictionary: Dictionary
) -> tuple[Chains, Array]:
    """Make the first and the last window of each passed contig of a graph neighbours, in place.

    Returns
    -------
    chains : Chains
        The inner windows between them.
    head : (n_passed,) int64
        The first window of each passed contig, as a vertex of the counted k-mers.
    """
    xp, n_next = array_namespace(neighbour), text.n_next
    vertex, start = xp.empty(text.n_ends, np.int64), text.reads.start[text.n_reads :]
    _find_vertices(text.n_ends, start, text.names, tally.k - graph.k, dictionary.index, vertex)
    before = np.cumsum(np.minimum(n_next, 2)) - np.minimum(n_next, 2)  # ends before those of each contig
    head, contig = vertex[to_namespace(xp, before[n_next > 0])], np.flatnonzero(n_next > 1)
    source, target = (vertex[to_namespace(xp, before[contig] + end)] for end in (0, 1))
    ahead = graph.bases[graph.start[contig] + tally.k].astype(np.int64)
    behind = 3 - graph.bases[graph.start[contig] + n_next[contig] - 2].astype(np.int64)
    neighbour[4 * source + to_namespace(xp, ahead)] = target
    neighbour[4 * (target ^ 1) + to_namespace(xp, behind)] = source ^ 1
    after, contig = xp.full(2 * tally.n, -1, np.int32), to_namespace(xp, contig)
    after[source], after[target ^ 1] = 2 * contig, 2 * contig + 1
    count = np.maximum(1, graph.count // graph.n_kmers)
    return Chains(after, *(to_namespace(xp, row) for row in (n_next, count, graph.bases, graph.start))), head


def contig_names(text: Text, head: Array, name_of: Array) -> Array:
    """Return the name in the next graph of the first window of each unitig, -1 where it has none: (n,) int32.

    ``head`` are these windows of passed contigs (see `link_chains`), and ``name_of`` the names of counted k-mers in the
    next graph.
    """
    xp, name = array_namespace(name_of), name_of[head >> 1]
    names = xp.full(text.n_next.size, -1, np.int32)
    names[to_namespace(xp, np.flatnonzero(text.n_next))] = xp.where(name >= 0, name ^ (head & 1).astype(np.int32), -1)
    return names


@signatures("int64[::1], int32[::1], int64, uint64[::1], int32[::1], uint64, int64[::1]")
@for_each
def _find_vertices(i, start, names, step, index: KmerIndex, vertex):
    vertex[i] = find_pair(names[start[i]], names[start[i] + step], index)


def isolated_contigs(graph: UnitigGraph, k: int, *, window: float) -> UnitigGraph:
    """Return the isolated unitigs too short to be passed to ``k``: no larger k can change them.

    Unitigs of single reads with errors are removed: they have the depth of one window of a read, but not of two. A
    lower depth than one window occurs only where the unitig was passed from a smaller k, with the depth found there.
    ``window`` is the depth of one window at the k of the graph.
    """
    n_arcs = graph.arc_start[2::2] - graph.arc_start[:-1:2]
    was_passed = (graph.depth < window) & (graph.k > MAX_PLAIN_K)
    kept = (n_next_windows(graph, k) == 0) & (n_arcs == 0) & (was_passed | (graph.depth >= COVERAGE.two_reads * window))
    return compact(graph, SourceUnitigs.identity(graph.n), is_removed=~kept)[0]


def copy_at_ends(graph: UnitigGraph, flanks: Flanks, *, model: DepthModel) -> np.ndarray:
    """Return the depth of one copy at flanks, in units; without one depth, at most that of the unitigs themselves."""
    copy = local_depth(graph, model)
    copy = ((copy if model is DepthModel.ONE else np.minimum(copy, graph.depth)) * graph.unit).astype(np.int64)
    return np.minimum(copy[flanks.source >> 1], copy[flanks.target >> 1])


def set_passed_depth(
    text: Text,
    tally: Tally,
    dictionary: Dictionary,
    *,
    is_kept: Array,
    is_removed: np.ndarray,
    weight: int,
    one: int,
    copy: np.ndarray | None,
) -> None:
    """Set the depth of the k-mers and edges of passed contigs, and the least depth of those of flanks.

    Reads that span no junction are not in the text, so counts within a passed contig are replaced by its depth. All
    reads across a junction are in the text, so a flank only fills in what chance may have left out.

    Parameters
    ----------
    tally, dictionary
        The k-mers of the text; counts and followers are changed in place.
    is_kept : (n,) uint8
        Set to 1 for each k-mer of passed contigs and of flanks, and to 0 for those that only a removed flank has, or
        one that lacks expected reads.
    is_removed : (n_flanks,) bool
        Which flanks are removed: they fill in nothing.
    weight, one
        Depth of one occurrence, in units, and the units that the tally has of it; see `bounded_weight` of
        `gpuasm.assembly.coverage.graph_depth`.
    copy : (n_flanks,) int64, or None
        Depth of one copy at each flank, in units. None if flanks that lack expected reads are not cut: in a text of
        fragments, which lack those of tangles, and where such flanks are removed already.
    """
    xp, segments = array_namespace(text.names), text.reads.select(slice(text.n_reads, None))
    rare = np.where(is_removed, one, 0)
    if copy is not None:
        n_flanks = int(np.count_nonzero(~is_removed))
        enough = int(weight * np.log(max(1, n_flanks) / ITERATION.flanks_lost_by_chance))
        rare[~is_removed & (copy >= enough)] = weight
    of_flanks = [to_namespace(xp, column) for column in (text.flanks.reaches_passed, is_removed, rare)]
    where = (segments.arrays, text.names, tally.k, tally.k - dictionary.k0, dictionary.index, text.depth)
    for first, n in ((0, text.n_ends), (text.n_ends, is_removed.size)):
        _set_depth(n, first, *where, *of_flanks, tally.count, tally.followers, is_kept)


@signatures(
    "int64, int64[::1], int32[::1], uint64[::1], int32[::1], int64, int64, uint64[::1], int32[::1], uint64, "
    "int64[::1], boolean[::1], boolean[::1], int64[::1], uint32[::1], uint32[::1], uint8[::1]"
)
@for_each
def _set_depth(
    i, first, reads: ReadArrays, names, k, shift, index: KmerIndex, depth, reaches_passed, is_removed, rare, count,
    followers, is_kept,
):  # fmt: skip
    c, packed, is_flank = first + i, reads.packed, first > 0  # flanks come behind the ends of contigs
    n_windows = np.int64(reads.length[c]) - k + 1
    for offset in range(n_windows):
        p = reads.start[c] + offset
        vertex = find_pair(names[p], names[p + shift], index)
        number = vertex >> 1
        has_next = offset < n_windows - 1
        # The first window of a flank belongs to its source, and the last one may belong to its target.
        is_between = is_flank and offset > 0 and (has_next or not reaches_passed[i])
        is_rare = is_between and count[number] <= rare[i]  # a k-mer that occurs once occurs only in the flank itself
        if is_flank and is_removed[i]:
            if is_rare:
                is_kept[number] = 0
            continue
        is_kept[number] = 0 if is_rare else 1
        if not is_flank or (is_between and count[number] < depth[c]):
            count[number] = depth[c]
        if has_next:
            after = 4 * vertex + np.int64(base_at(packed, p + k))
            if not is_flank or followers[after] < depth[c]:
                followers[after] = depth[c]
        if offset > 0:
            before = 4 * (vertex ^ 1) + 3 - np.int64(base_at(packed, p - 1))
            if not is_flank or followers[before] < depth[c]:
                followers[before] = depth[c]
