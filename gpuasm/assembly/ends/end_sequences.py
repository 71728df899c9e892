"""Consensus sequences at the dead ends of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.reads_on_unitigs import UnitigAlignments
from gpuasm.assembly.ends.clipped_tails import ClippedTails, codes_at
from gpuasm.assembly.ends.end_extension import vote
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, copy_oriented
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.encoding import reverse_complement
from gpuasm.sequence.reads import Reads

_BATCH = 1 << 16


@dataclass(frozen=True)
class EndSequences:
    """The sequence at each dead end: last bases of its unitig, and the consensus beyond it.

    Attributes
    ----------
    end : (n,) int64
        Oriented unitigs, ascending.
    codes : (total,) uint8
        The concatenated sequences, each outwards.
    start : (n + 1,) int64
        Where each begins.
    beyond : (n,) int64
        Bases of the consensus beyond the unitig.
    k : int
        The graph's k.
    """

    end: np.ndarray
    codes: np.ndarray
    start: np.ndarray
    beyond: np.ndarray
    k: int

    @classmethod
    def of(cls, reads: Reads, on_unitigs: UnitigAlignments, graph: UnitigGraph) -> EndSequences:
        """Compute the consensus beyond every dead end; take as many bases of the unitig as the longest read has."""
        is_dead = (np.diff(graph.arc_start) == 0) & ~np.repeat(graph.is_circular, 2)
        tails = ClippedTails.joined([_clipped_tails(reads, on_unitigs, graph, is_dead, side=side) for side in (0, 1)])
        reach = int(reads.length.max()) if reads.n_segments else 0
        return cls.voted(graph, np.flatnonzero(is_dead), tails, reach=reach)

    @classmethod
    def voted(cls, graph: UnitigGraph, end: np.ndarray, tails: ClippedTails, *, reach: int) -> EndSequences:
        """Compute the consensus of tails beyond the given ends; take ``reach`` bases of the unitig."""
        found = vote(tails, n_single=reach)
        beyond = np.zeros(end.size, np.int64)
        beyond[np.searchsorted(end, found.end)] = [own.size for own in found.codes]
        size = np.minimum(graph.length[end >> 1], reach) + beyond
        start = np.concatenate([[0], np.cumsum(size)])
        codes = np.empty(int(start[-1]), np.uint8)
        copy_unitig_ends(end, (graph.bases, graph.start), start, beyond, codes)
        last = np.repeat(np.cumsum(beyond) - start[1:], beyond)
        codes[np.arange(last.size) - last] = np.concatenate([np.empty(0, np.uint8), *found.codes])
        return cls(end, codes, start, beyond, graph.k)

    def text(self, i: int) -> np.ndarray:
        return self.codes[self.start[i] : self.start[i + 1]]

    def between(self, end: int, other: int, overlap: int) -> np.ndarray:
        """Return the sequence from the last k bases of one unitig to the first k of the other."""
        a, b = np.searchsorted(self.end, [end, other]).tolist()
        own, towards = self.text(a), reverse_complement(self.text(b))
        begin = own.size - int(self.beyond[a]) - self.k
        middle = (overlap + 1) // 2
        return np.concatenate(
            [own[begin : own.size - overlap + middle], towards[middle : int(self.beyond[b]) + self.k]]
        )


@signatures("int64[::1], Tuple((uint8[::1], int64[::1], )), int64[::1], int64[::1], uint8[::1]")
@compiled()
def copy_unitig_ends(end, bases_of, text_start, beyond, codes):
    """Copy the last bases of each end's unitig to the front of its sequence, outwards."""
    bases, start = bases_of
    for i in range(end.size):
        unitig, is_left_end = end[i] >> 1, end[i] & 1 == 1
        n = text_start[i + 1] - text_start[i] - beyond[i]
        first = start[unitig] if is_left_end else start[unitig + 1] - n
        copy_oriented(bases, first, n, is_left_end, codes, text_start[i])


def _clipped_tails(
    reads: Reads, on_unitigs: UnitigAlignments, graph: UnitigGraph, is_dead: np.ndarray, *, side: int
) -> ClippedTails:
    """Return clipped tails at dead ends: at the end of reads (side 0) or at their beginning (side 1)."""
    xp, k = array_namespace(reads.packed), graph.k
    length = to_namespace(xp, graph.length)
    oriented = xp.maximum(on_unitigs.oriented if side else on_unitigs.last_oriented, 0)
    beyond = -on_unitigs.base if side else on_unitigs.last_base + reads.length - length[oriented >> 1]
    dead = to_namespace(xp, is_dead)[oriented ^ side]
    rows = xp.flatnonzero((on_unitigs.oriented >= 0) & (beyond > 0) & (beyond <= reads.length - k) & dead)
    some = (rows[i : i + _BATCH] for i in range(0, int(rows.size), _BATCH))
    return ClippedTails.joined(
        [_tails_of_segments(reads, graph, (own, oriented[own] ^ side, beyond[own]), side=side) for own in some]
    )


def _tails_of_segments(
    reads: Reads, graph: UnitigGraph, found: tuple[Array, Array, Array], *, side: int
) -> ClippedTails:
    """Return the tails of those read segments that match the last k bases of the unitig."""
    segment, end, beyond = found
    xp, k = array_namespace(reads.packed), graph.k
    n = beyond + k
    last = xp.cumsum(n)
    row = xp.searchsorted(last, xp.arange(int(last[-1]), dtype=np.int64), side="right")
    j = xp.arange(row.size) - (last - n)[row]
    position = reads.start[segment][row] + (n[row] - 1 - j if side else reads.length[segment][row] - n[row] + j)
    codes = codes_at(reads, position)
    codes = to_host(3 - codes if side else codes)
    ends, n, first = to_host(end).astype(np.int64), to_host(n), to_host(last - n)
    agrees = (codes[first[:, None] + np.arange(k)] == _last_bases(graph, ends, k)).all(axis=1)
    is_beyond = np.arange(codes.size) - np.repeat(first, n) >= k
    inside = to_host(reads.length[segment] - beyond).astype(np.int64)
    return ClippedTails(ends, n - k, inside, codes[is_beyond]).where(agrees)


def _last_bases(graph: UnitigGraph, end: np.ndarray, n: int) -> np.ndarray:
    """Return the last n bases of oriented unitigs: (ends, n) uint8."""
    is_reversed = (end & 1)[:, None] == 1
    i = np.arange(n)
    own = np.where(
        is_reversed, graph.start[end >> 1][:, None] + n - 1 - i, graph.start[(end >> 1) + 1][:, None] - n + i
    )
    return np.where(is_reversed, 3 - graph.bases[own], graph.bases[own])
