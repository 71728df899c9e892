"""The de Bruijn graph of numbered k-mers, as the successor of each oriented k-mer by each base.

Vertex 2i + s is k-mer i read on strand s; its twin, the other strand, is ``vertex ^ 1``. *Overlap* edges join any two
k-mers that share k - 1 bases. *Observed* edges are those whose (k + 1)-mer occurs in enough reads.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.kmers.keys import MAX_PLAIN_K, first_name, last_name, reverse_complement_plain
from gpuasm.kmers.names import Dictionary, KmerIndex, find_pair
from gpuasm.kmers.pieces import keep_mutual, oriented_kmer
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import find
from gpuasm.sequence.encoding import base_at

_ONE, _TWO = np.uint64(1), np.uint64(2)


@inlined()
def oriented_base(packed, place, k, strand, i):
    """Return base i (int64) of the k-mer at ``place`` (position << 1 | strand), read on ``strand``."""
    position = place >> 1
    if (place & 1) == strand:
        return np.int64(base_at(packed, position + i))
    return 3 - np.int64(base_at(packed, position + k - 1 - i))


def find_neighbours(
    packed: Array, tally: Tally, dictionary: Dictionary, *, lower: Array | None = None, min_follow: int = 0
) -> Array:
    """Find the successor of each vertex by each base.

    Parameters
    ----------
    packed
        The text that ``tally.place`` points into.
    tally, dictionary
        The k-mers, in the same order.
    lower : (8 * n0,) int32
        For k > 31, the neighbours of the k0-mers that the keys are pairs of.
    min_follow
        0 for the overlap edges; otherwise the least count of an observed edge (the tally needs followers).

    Returns
    -------
    (8n,) int32: at 4v + b the successor of vertex v by base b, or -1.
    """
    xp = array_namespace(tally.keys)
    neighbour = xp.empty(8 * tally.n, np.int32)
    followers = tally.followers if min_follow else xp.empty(1, np.uint32)
    if tally.k <= MAX_PLAIN_K:
        _neighbours_plain(2 * tally.n, tally.k, dictionary.index, followers, min_follow, neighbour)
    else:
        place = (packed, tally.place, tally.k, dictionary.k0)
        _neighbours_pairs(2 * tally.n, *place, lower, dictionary.index, followers, min_follow, neighbour)
    return neighbour


@for_each
def _neighbours_plain(v, k, index: KmerIndex, followers, min_follow, neighbour):
    kmer_mask = (_ONE << np.uint64(2 * k)) - _ONE
    kmer = oriented_kmer(v, k, index.keys)
    for b in range(4):
        neighbour[4 * v + b] = -1
        if min_follow == 0 or followers[4 * v + b] >= min_follow:
            forward = ((kmer << _TWO) | np.uint64(b)) & kmer_mask
            backward = reverse_complement_plain(forward, k)
            number = find(min(forward, backward), index.keys, index.slots, index.n_slots)
            if number >= 0:
                neighbour[4 * v + b] = 2 * number + (1 if backward < forward else 0)


@for_each
def _neighbours_pairs(v, packed, place, k, k0, lower, index: KmerIndex, followers, min_follow, neighbour):
    key, strand = index.keys[v >> 1], v & 1
    second = lower[4 * first_name(key, strand) + oriented_base(packed, place[v >> 1], k, strand, k0)]
    last = last_name(key, strand)
    for b in range(4):
        after = lower[4 * last + b]
        is_edge = second >= 0 and after >= 0 and (min_follow == 0 or followers[4 * v + b] >= min_follow)
        neighbour[4 * v + b] = find_pair(second, after, index) if is_edge else -1


def forced_successors(neighbour: Array) -> Array:
    """Return the forced successor of each vertex, or -1: (2n,) int32; `find_neighbours` returns ``neighbour``.

    w follows v if v has one outgoing edge and w one incoming edge. Then v ^ 1 follows w ^ 1 too.
    """
    successor = array_namespace(neighbour).empty(neighbour.size // 4, np.int32)
    _find_only(successor.size, neighbour, successor)
    keep_mutual(successor.size, successor)
    return successor


def edges_of(neighbour: Array, followers: Array, vertices: Array) -> tuple[Array, Array]:
    """Return the successors of (m,) vertices, -1 where none, and the counts of these edges: (m, 4) int32, uint32.

    ``neighbour`` is as for `forced_successors`; counts are 0 where there are no ``followers`` of the k-mers.
    """
    xp = array_namespace(vertices)
    seen = followers.reshape(-1, 4)[vertices] if followers.size else xp.zeros((vertices.size, 4), np.uint32)
    return neighbour.reshape(-1, 4)[vertices], seen


@signatures("int32[::1], int32[::1]")
@for_each
def _find_only(v, neighbour, successor):
    n, only = 0, np.int64(-1)
    for b in range(4):
        if neighbour[4 * v + b] >= 0:
            n += 1
            only = np.int64(neighbour[4 * v + b])
    successor[v] = only if n == 1 and only != v ^ 1 else -1  # an edge to the vertex's own twin pairs nothing
