"""Mercy k-mers: recover k-mers of single reads between dead ends.

Where depth is so low that k-mers occur once, solid k-mers leave gaps with two dead ends. If a read connects two dead
ends, its rare k-mers between them are added back. Errors in well-covered regions never qualify: the unitigs there
continue. After Li et al. (2015), doi:10.1093/bioinformatics/btv033.

Gaps are bridged twice: in the graph as counted, because a short unitig of depth two next to a repeat would be removed
as a tip, and in the simplified graph, whose dead ends have lost their tips. The remainder of a tip may hide a dead end:
so a read between two unitigs may leave up to k windows before the end of one, and enter up to k windows behind the
beginning of the other. A read that returns over the end that it left bridges nothing: its molecule is folded back.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.kmer_graph import KmerGraph, WindowRows, unitig_of
from gpuasm.assembly.graph.unitig_graph import JoinedGraph
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.sequence.reads import Reads


def bridging_segments(crossing: Reads, names: Array, kmer_graph: KmerGraph) -> Reads:
    """Extract the segments of junction-spanning reads that connect two dead ends.

    ``names`` are those of the reads' windows in the simplified graph. The segments lie over the same packed bases: each
    from the last window before a gap to the first one after it.
    """
    xp, graph = array_namespace(crossing.packed), kmer_graph.graph
    on_bridge, leads_on = xp.zeros(names.size, dtype=np.uint8), to_namespace(xp, ~graph.is_dead_end)
    where = (crossing.start, crossing.length, graph.k, names, kmer_graph.rows, leads_on)
    _mark_bridges(crossing.n_segments, *where, on_bridge)
    marked = to_host(xp.flatnonzero(on_bridge))
    is_first = np.diff(marked, prepend=-2) > 1
    start, last = marked[is_first], marked[np.roll(is_first, -1)]
    columns = start, (last - start + graph.k).astype(np.int32), np.full(start.size, -1, np.int64)
    start, length, read = (to_namespace(xp, column) for column in columns)
    return replace(crossing, start=start, length=length, read=read)


@inlined()
def _windows_to_end(name, rows, leads_on, most):
    """Return the windows from an oriented window to the end of its unitig.

    At most ``most``, and this also where the unitig has an outgoing edge.
    """
    j = name >> 1
    u = unitig_of(j, rows)
    left = j - rows.first_window[u] if name & 1 else rows.first_window[u + 1] - 1 - j
    return most if leads_on[2 * u + (name & 1)] else min(left, most)


@signatures("int64[::1], int32[::1], int64, int32[::1], int64[::1], int32[::1], boolean[::1], uint8[::1]")
@for_each
def _mark_bridges(r, start, length, k, names, rows: WindowRows, leads_on, on_bridge):
    before = np.int64(-1)
    for p in range(start[r], start[r] + length[r] - k + 1):
        name = np.int64(names[p])
        if name < 0:
            continue
        if before >= 0:
            last = np.int64(names[before])
            ahead = _windows_to_end(last, rows, leads_on, k + 1)
            behind = _windows_to_end(name ^ 1, rows, leads_on, k + 1)
            is_other = unitig_of(last >> 1, rows) != unitig_of(name >> 1, rows)
            is_folded = not is_other and (last & 1) != (name & 1)
            if (ahead == 0 and behind == 0 and not is_folded) or (is_other and ahead <= k and behind <= k):
                for q in range(before, p + 1):
                    on_bridge[q] = 1
        before = np.int64(p)


def add_mercy_kmers(joined: JoinedGraph, kmer_graph: KmerGraph, segments: Reads) -> Tally:
    """Add the edges of bridging segments to those of a graph, in place, and return the k-mers that it lacks.

    ``joined`` is the simplified graph, ``kmer_graph`` the same with its index. The k-mers are where the segments are.
    """
    found = tally_kmers(segments, joined.graph.k, min_follow=1)
    names = kmer_graph.text_index.find_windows(found.keys)
    known = names >= 0
    names, edges = to_host(names[known]), to_host(found.edges[known])
    # Of a k-mer that its unitig has as the reverse complement, the four edges of either strand change places.
    joined.edges[names >> 1] |= np.where(names & 1, (edges << 4) | (edges >> 4), edges)
    new = found.where(~known)
    return replace(new, place=new.place[:0].copy())
