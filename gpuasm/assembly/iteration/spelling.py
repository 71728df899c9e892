"""Spelling: the flanks of passed contigs, and the packed bases near ends of contigs and of flanks.

A flank is the edge from a passed contig to a neighbour. A neighbour that is too short for the next k has no window of
its own there, but ends the flank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, copy_oriented
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.encoding import BASES_PER_WORD, pack
from gpuasm.sequence.reads import Reads
from gpuasm.threads import run_chunks


@dataclass(frozen=True)
class Flanks:
    """Edges of passed contigs, all on the host.

    Attributes
    ----------
    source, target : (n,) int64
        The oriented unitig at which each begins, and the one at which it ends.
    added : (n,) int64
        Bases after the source: to the end of the target's first window, or of the target.
    reaches_passed : (n,) bool
        Whether the target is a passed contig, which then contains the last window of the flank.
    count, depth : (n,) int64 and float64
        Count of its arc, in units, and the lesser depth of its two unitigs.
    """

    source: np.ndarray
    target: np.ndarray
    added: np.ndarray
    reaches_passed: np.ndarray
    count: np.ndarray
    depth: np.ndarray


def find_flanks(graph: UnitigGraph, is_passed: np.ndarray, *, k: int) -> Flanks:
    """Find the flanks of the (n,) unitigs that are passed to the next k, in the order of their arcs.

    Of a flank between two passed contigs and its mirror image one is returned.
    """
    arcs = np.flatnonzero(is_passed[graph.arc_from >> 1])
    arcs = arcs[~is_passed[graph.arc_to[arcs] >> 1] | (graph.arc_from[arcs] <= graph.arc_to[arcs] ^ 1)]
    source, target = (own[arcs].astype(np.int64) for own in (graph.arc_from, graph.arc_to))
    reaches_passed = is_passed[target >> 1]
    return Flanks(
        source=source,
        target=target,
        added=np.where(reaches_passed, k - graph.k + 1, graph.n_kmers[target >> 1]),
        reaches_passed=reaches_passed,
        count=graph.arc_count[arcs],
        depth=np.minimum(graph.depth[source >> 1], graph.depth[target >> 1]),
    )


def spell_passed(kmer_graph: KmerGraph, n_next: np.ndarray, flanks: Flanks, *, k: int) -> tuple[Reads, Array]:
    """Spell the first and the last window of passed contigs and, after them, flanks.

    Of a contig of one window there is one segment, of the others two. The last window of a circular contig is followed
    by one base, so that the edge to its first window is present. A flank is the last k bases of its source and the
    bases that its target adds. ``n_next`` are the windows of the next ``k`` in each unitig.

    Returns
    -------
    reads : Reads
        The segments, end to end.
    names : (32 * packed.size,) int32
        Oriented names of the graph's k-mers at every base, -1 where none begins.
    """
    xp, graph = array_namespace(kmer_graph.rows.blocks), kmer_graph.graph
    contig = np.repeat(np.arange(graph.n), np.minimum(n_next, 2))
    is_last = np.diff(contig, prepend=-1) == 0
    first_of_end = np.where(is_last, n_next[contig] - 1, 0)
    first_of_flank = graph.n_kmers[flanks.source >> 1] - (k - graph.k + 1)
    own = np.concatenate([2 * contig, flanks.source]), np.concatenate([first_of_end, first_of_flank])
    added = np.concatenate([is_last & graph.is_circular[contig], flanks.added])
    target = np.concatenate([2 * contig, flanks.target])
    n_of_target = np.concatenate([np.zeros(contig.size, np.int64), flanks.added])
    size = k + added
    start = np.concatenate([[0], np.cumsum(size)])
    bases = np.empty(start[-1], np.uint8)
    names = np.full(BASES_PER_WORD * (bases.size // BASES_PER_WORD + 2), -1, np.int32)
    old = graph.bases, graph.start, graph.window_start, graph.k
    run_chunks(_spell, size.size, start, *own, target, n_of_target, *old, bases, names)
    reads = Reads(pack(bases), start[:-1], size.astype(np.int32), np.full(size.size, -1, np.int64), size.size)
    return reads.moved_to(xp), to_namespace(xp, names)


def n_next_windows(graph: UnitigGraph, k: int) -> np.ndarray:
    """Return how many windows of the next k each unitig has, (n,) int64; 0 for unitigs that are too short."""
    of_circular = np.where(graph.n_kmers >= k, graph.n_kmers, 0)
    return np.where(graph.is_circular, of_circular, np.maximum(graph.length - (k - 1), 0))


@signatures(
    "int64, int64, int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1], "
    "int64, uint8[::1], int32[::1]"
)
@compiled()
def _spell(
    first, last, start, source, first_window, target, n_of_target, old_bases, old_start, old_windows, k, bases, names
):
    """Write windows of each source from its first one on, around circles, and behind them those of the target."""
    for i in range(first, last):
        n = start[i + 1] - start[i] - (k - 1)
        for j in range(n):
            at, behind = start[i] + j, j - (n - n_of_target[i])
            oriented, window = (target[i], behind) if behind >= 0 else (source[i], first_window[i] + j)
            u = oriented >> 1
            n_windows = old_windows[u + 1] - old_windows[u]
            window %= n_windows
            n_bases = k if j == n - 1 else 1  # each window begins with the base that it adds
            begin = old_start[u] + window
            if oriented & 1:
                window = n_windows - 1 - window
                begin = old_start[u] + window + k - n_bases
            names[at] = 2 * (old_windows[u] + window) + (oriented & 1)
            copy_oriented(old_bases, begin, n_bases, oriented & 1 == 1, bases, at)
