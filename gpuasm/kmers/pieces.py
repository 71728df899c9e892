"""Pieces of unitigs: the unbranching paths of k-mers that one table contains, cut wherever it does not show that.

The k-mers of a sample lie in several tables, each k-mer in one. A path is cut at a k-mer one of whose edges leads to a
k-mer that the table lacks: that one is in another table, or not solid. So each edge between pieces leads from the end
of one to the beginning of another, and unitigs follow from the ends of all pieces
(`gpuasm.assembly.graph.piece_joining`). Chikhi, Limasset and Medvedev (2016), doi:10.1093/bioinformatics/btw279, mark
such k-mers and write them into both tables; here no k-mer is written twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.device_group import ONE_DEVICE, DeviceGroup
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.kmers.tally import Tally, handed_over
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import build_index, find
from gpuasm.primitives.strand_walks import strand_walks

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)

Followers = Callable[[Array], Array]
"""Counts the followers of (n,) keys: (8n,) uint32, as `gpuasm.kmers.counting.count_followers` returns them."""


@dataclass(frozen=True)
class Pieces:
    """Pieces of unitigs, on the host.

    Attributes
    ----------
    k : int
        Odd, at most 31.
    first : (n,) uint64
        The bases of the first k-mer of each piece.
    start : (n + 1,) int64
        Where the windows of each piece begin.
    base : (n_windows,) uint8
        The last base of each window.
    count : (n_windows,) uint32
        Occurrences of its k-mer.
    edges : (n_windows,) uint8
        Bit b is 1 where base b follows the window often enough, bit 4 + b where it follows its reverse complement.
    seen : (8n,) uint32, or (0,) if not counted
        At 8p + b how often base b follows the last window of piece p, at 8p + 4 + b the reverse complement of its
        first one.
    """

    k: int
    first: np.ndarray
    start: np.ndarray
    base: np.ndarray
    count: np.ndarray
    edges: np.ndarray
    seen: np.ndarray

    @property
    def n(self) -> int:
        return int(self.first.size)

    @classmethod
    def empty(cls, k: int) -> Pieces:
        """Return the pieces of no k-mers."""
        no_bytes, no_counts = np.empty(0, np.uint8), np.empty(0, np.uint32)
        return cls(k, np.empty(0, np.uint64), np.zeros(1, np.int64), no_bytes, no_counts, no_bytes, no_counts)


def compact_kmers(tally: Tally, *, followers: Followers | None = None, is_two_sided: bool = False) -> Pieces:
    """Compact the k-mers of a table into pieces of unitigs.

    Parameters
    ----------
    tally
        The k-mers of plain k, with edges, on the host or on a device; its counts may be on the host.
    followers
        Counts the followers of k-mers at the ends of pieces.
    is_two_sided
        Whether an edge must be observed at both of its ends. Counted followers agree on both strands; where k-mers are
        added without all their counts, an edge may be present at one of its ends only.
    """
    xp, k = array_namespace(tally.keys), tally.k
    if tally.n == 0:
        return Pieces.empty(k)
    successor = xp.empty(2 * tally.n, np.int32)
    slots, n_slots = build_index(tally.keys)
    _find_inner(2 * tally.n, k, tally.keys, slots, n_slots, tally.edges, is_two_sided, successor)
    del slots
    keep_mutual(successor.size, successor)
    walks = strand_walks(successor)
    del successor
    path, start, n = walks.path, walks.start, walks.path.size
    base, count, edges = xp.empty(n, np.uint8), xp.empty(n, np.uint32), xp.empty(n, np.uint8)
    _write_columns(n, path, k, tally.keys, to_namespace(xp, tally.count), tally.edges, base, count, edges)
    first = xp.empty(start.size - 1, np.uint64)
    _write_first(first.size, path, start, k, tally.keys, first)
    seen = _seen_at_ends(tally, path, start, followers) if followers else xp.empty(0, np.uint32)
    return Pieces(k, *(to_host(column) for column in (first, start, base, count, edges, seen)))


def compact_tables(tallies: list[Tally], xp: Any, *, devices: DeviceGroup = ONE_DEVICE) -> list[Pieces]:
    """Compact each table of a list on the devices of a group; the list is emptied.

    Tables are as `gpuasm.kmers.buckets.tally_buckets` returns them, and moved into the memory of namespace ``xp``.
    """

    def compact(held: list[Tally]) -> Pieces:
        return compact_kmers(held.pop().keyed_in(xp))

    return devices.map(lambda: compact, handed_over(tallies))


def _seen_at_ends(tally: Tally, path: Array, start: Array, followers: Followers) -> Array:
    """Return `Pieces.seen` of walks, which are given as in `gpuasm.primitives.strand_walks.StrandWalks`."""
    xp = array_namespace(path)
    leaving = xp.stack([path[start[1:] - 1], path[start[:-1]] ^ 1], axis=1).ravel().astype(np.int64)
    number = xp.unique(leaving >> 1)
    counted = followers(tally.keys[number]).reshape(-1, 4)
    return counted[2 * xp.searchsorted(number, leaving >> 1) + (leaving & 1)].ravel()


@inlined()
def oriented_kmer(v, k, keys):
    """Return the bases (uint64) of k-mer v >> 1 on strand v & 1."""
    kmer = keys[v >> 1]
    if v & 1:
        kmer = reverse_complement_plain(kmer, k)
    return kmer


@inlined()
def edges_of_strand(edges, strand):
    """Return the edges (int64) of a k-mer, or of its reverse complement, by a bit for each base that follows."""
    return (np.int64(edges) >> (4 * strand)) & 15


@inlined()
def other_strand(edges):
    """Return the edges of a k-mer as its reverse complement has them."""
    return (edges_of_strand(edges, 0) << 4) | edges_of_strand(edges, 1)


@signatures("int64, uint64[::1], int32[::1], uint64, uint8[::1], boolean, int32[::1]")
@for_each
def _find_inner(v, k, keys, slots, n_slots, edges, is_two_sided, successor):
    """Find the only successor of each vertex; -1 where there is none or several, or where one is not in the table."""
    kmer, n, found = oriented_kmer(v, k, keys), 0, np.int64(-1)
    kmer_mask = (_ONE << np.uint64(2 * k)) - _ONE
    opposite = 3 - np.int64(kmer >> np.uint64(2 * k - 2))
    own = edges_of_strand(edges[v >> 1], v & 1)
    for b in range(4):
        if (own >> b) & 1:
            forward = ((kmer << _TWO) | np.uint64(b)) & kmer_mask
            backward = reverse_complement_plain(forward, k)
            number = find(min(forward, backward), keys, slots, n_slots)
            if number < 0:
                n += 2
            else:
                side = 1 if backward < forward else 0
                if not is_two_sided or (np.int64(edges[number]) >> (4 * (1 - side) + opposite)) & 1:
                    n += 1
                    found = 2 * number + side
    successor[v] = found if n == 1 and found != v ^ 1 else -1


@signatures("int32[::1]")
@for_each
def keep_mutual(v, successor):
    """Remove the successor of a vertex unless the vertex is the only predecessor of it."""
    # Such a pair is kept on both strands, so that another thread never changes what this one reads.
    to = np.int64(successor[v])
    if to >= 0 and successor[to ^ 1] != v ^ 1:
        successor[v] = -1


@signatures("int32[::1], int64, uint64[::1], uint32[::1], uint8[::1], uint8[::1], uint32[::1], uint8[::1]")
@for_each
def _write_columns(j, path, k, keys, count, edges, base, own_count, own_edges):
    v = np.int64(path[j])
    base[j] = oriented_kmer(v, k, keys) & _THREE
    own_count[j] = count[v >> 1]
    own_edges[j] = other_strand(edges[v >> 1]) if v & 1 else np.int64(edges[v >> 1])


@signatures("int32[::1], int64[::1], int64, uint64[::1], uint64[::1]")
@for_each
def _write_first(p, path, start, k, keys, first):
    first[p] = oriented_kmer(np.int64(path[start[p]]), k, keys)
