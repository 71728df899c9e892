"""Single-copy k-mers: pass the k-mers of certainly single-copy unitigs on to each larger k.

The last graph of reads shows which unitigs are single-copy. At larger k depth no longer shows it, as it depends on
which pairs were joined; but a k-mer that contains a single-copy k-mer is single-copy itself. So a window of the next k
is single-copy if a k-mer within it is.

A single-copy k-mer has exactly one successor in the genome. Where the window before a junction is single-copy and
fragments support one edge from it, any other edge is false (`edge_support`). Such edges arise at unitigs shorter than
the step of k between two repeat copies: only fragments span them, and where few pairs are joined, one of two incoming
edges is lost. The flank of the other edge would then be passed on to each larger k without one supporting fragment.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.kmer_graph import KmerGraph, WindowRows, unitig_of
from gpuasm.assembly.iteration.junction_reads import name_along
from gpuasm.assembly.iteration.passed_contigs import Text
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, signatures


def name_single_copy(
    text: Text,
    tally: Tally,
    name_of: Array,
    is_single: Array,
    graphs: tuple[KmerGraph, KmerGraph],
    contig_name: Array,
) -> Array:
    """Return which k-mers of the next graph contain a single-copy k-mer of the graph before: (n_kmers,) bool.

    ``name_of``, (tally.n,) int32, are the names of the text's k-mers in the next graph, -1 for those that were removed.
    ``graphs`` are that before, to whose k-mers ``is_single`` belongs, and the next one; ``contig_name`` is as
    `gpuasm.assembly.iteration.passed_contigs.contig_names` returns it.
    """
    xp, (before, after) = array_namespace(is_single), graphs
    step, n_next = after.graph.k - before.graph.k, to_namespace(xp, text.n_next)
    found, rows = xp.empty(int(after.graph.n_kmers.sum()), bool), (before.rows, n_next, contig_name, after.rows)
    n_before = xp.concatenate([xp.zeros(1, np.int32), xp.cumsum(is_single, dtype=np.int32)])
    _name_inner(is_single.size, *rows, step, n_before, found)
    contains_single, kept = xp.empty(tally.n, bool), xp.flatnonzero(name_of >= 0)
    _contains_single(tally.n, tally.place, text.names, step, is_single, contains_single)
    found[name_of[kept] >> 1] = contains_single[kept]
    return found


@signatures("int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64, int32[::1], boolean[::1]")
@for_each
def _name_inner(j, before: WindowRows, n_next, contig_name, after: WindowRows, step, n_before, found):
    u = unitig_of(np.int64(j), before)
    first, last = before.first_window[u], before.first_window[u + 1]
    if j - first < n_next[u] and contig_name[u] >= 0:
        end = j + step + 1
        n = n_before[min(end, last)] - n_before[j]
        if end > last:  # a circular unitig continues with its first window
            n += n_before[first + end - last] - n_before[first]
        found[name_along(np.int64(contig_name[u]), j - first, after) >> 1] = n > 0


def single_copy_ends(text: Text, is_single: Array, *, k: int, next_k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return of which flanks the first window, in the source, and the last one, in the target, are single-copy.

    ``is_single``, (n_kmers,) bool, are the k-mers of length ``k``, as named in ``text.names``, and ``next_k`` is the k
    of the text. Both arrays are (n_flanks,) bool, on the host; the second is False where the target is too short for a
    window.
    """
    xp, flanks = array_namespace(is_single), text.flank_reads
    found = []
    for place in (flanks.start, flanks.start + flanks.length - next_k):
        found.append(xp.empty(flanks.n_segments, bool))
        _contains_single(flanks.n_segments, 2 * place, text.names, next_k - k, is_single, found[-1])
    return to_host(found[0]), to_host(found[1]) & text.flanks.reaches_passed


@signatures("int64[::1], int32[::1], int64, boolean[::1], boolean[::1]")
@for_each
def _contains_single(i, place, names, step, is_single, contains_single):
    first = place[i] >> 1
    contains_single[i] = False
    for p in range(first, first + step + 1):
        if names[p] >= 0 and is_single[names[p] >> 1]:
            contains_single[i] = True
            break
