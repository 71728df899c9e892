"""Join pieces of unitigs to unitigs: ends of pieces are matched by their k-mers, and list ranking orders the pieces.

Memory on a device is that of the ends of pieces; the windows of all k-mers stay on the host. The graph is the one that
`gpuasm.assembly.graph.unitigs.build_unitigs` makes of all k-mers at once, whatever the pieces are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.canonical_order import apply_order, canonical_order
from gpuasm.assembly.graph.unitig_graph import JoinedGraph, UnitigGraph
from gpuasm.assembly.graph.unitigs import find_arcs
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.kmers.pieces import Followers, Pieces, edges_of_strand, keep_mutual, other_strand
from gpuasm.kmers.tally import joined
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import build_index, find
from gpuasm.primitives.searching import run_of
from gpuasm.primitives.strand_walks import StrandWalks, strand_walks

_ONE, _TWO = np.uint64(1), np.uint64(2)


@dataclass(frozen=True)
class PieceLinks:
    """The edges between pieces of unitigs, found by the k-mers at their ends.

    Attributes
    ----------
    k : int
    head : (2n,) uint64
        The bases of the first k-mer of each oriented piece, all different.
    leaving : (2n,) uint8
        Bit b is 1 where base b follows the last k-mer of the oriented piece.
    slots, n_slots
        Index of the heads; see `gpuasm.primitives.hashing.build_index`.
    seen : (8n,) uint32, or (0,)
        How often base b follows oriented piece v, at 4v + b.
    followers
        Counts the followers of k-mers where ``seen`` does not have them.
    min_follow
        The least count of an edge: added edges have it, whether or not they occur in reads.
    is_two_sided
        Whether an edge must be observed at both of its ends; see `gpuasm.kmers.pieces.compact_kmers`.
    """

    k: int
    head: Array
    leaving: Array
    slots: Array
    n_slots: Any
    seen: Array
    followers: Followers | None
    min_follow: int
    is_two_sided: bool

    @classmethod
    def of(
        cls, pieces: Pieces, xp: Any, *, min_follow: int, is_two_sided: bool = False, followers: Followers | None = None
    ) -> PieceLinks:
        """Index the ends of pieces in the memory of namespace ``xp``."""
        n = pieces.n
        head, leaving = np.empty(2 * n, np.uint64), np.empty(2 * n, np.uint8)
        _write_ends(n, pieces.k, pieces.first, pieces.start, pieces.base, pieces.edges, head, leaving)
        head, leaving = to_namespace(xp, head), to_namespace(xp, leaving)
        return cls(pieces.k, head, leaving, *build_index(head), pieces.seen, followers, min_follow, is_two_sided)

    @property
    def _rows(self) -> tuple[Any, ...]:
        return self.k, self.head, self.leaving, self.slots, self.n_slots, self.is_two_sided

    def forced(self) -> Array:
        """Return the forced successor of each oriented piece, or -1; see `debruijn.forced_successors`."""
        successor = array_namespace(self.head).empty(self.head.size, np.int32)
        _find_only_piece(successor.size, *self._rows, successor)
        keep_mutual(successor.size, successor)
        return successor

    def edges_of(self, vertices: Array) -> tuple[Array, Array]:
        """Return the successors of (m,) oriented pieces and the counts of these edges: (m, 4) int32 and uint32."""
        xp, n = array_namespace(vertices), vertices.size
        row, key, strand = xp.empty(4 * n, np.int32), xp.empty(n, np.uint64), xp.empty(n, np.int64)
        _find_piece_rows(n, vertices, *self._rows, row, key, strand)
        if self.followers is None:
            seen = to_namespace(xp, self.seen.reshape(-1, 4)[to_host(vertices)])
        else:
            keys = xp.unique(key)
            seen = self.followers(keys).reshape(-1, 4)[2 * xp.searchsorted(keys, key) + strand]
        return row.reshape(-1, 4), xp.maximum(seen, np.uint32(self.min_follow))


def join_pieces(held: list[Pieces], links: PieceLinks, *, unit: int = 1, weight: int | np.integer = 1) -> JoinedGraph:
    """Join pieces of unitigs: one object has all, and is taken out of its list, so that it is freed once it is copied.

    ``unit`` is that of the graph, and one of the counts has ``weight`` units.
    """
    pieces = held.pop()
    k, walks = pieces.k, strand_walks(links.forced())
    n, (arc_start, arc_to, arc_count) = walks.start.size - 1, find_arcs(links.edges_of, walks)
    walks = StrandWalks(to_host(walks.path), to_host(walks.start), walks.n_linear)
    at = np.concatenate([[0], np.cumsum(np.diff(pieces.start)[walks.path >> 1])])  # windows before each piece
    start = at[walks.start] + (k - 1) * np.arange(n + 1)
    bases, sums = np.empty(start[-1], np.uint8), np.empty(walks.path.size, np.int64)
    rows = (walks.path, walks.start, n, at)
    _write_pieces(walks.path.size, *rows, k, start, pieces.first, pieces.start, pieces.base, pieces.count, bases, sums)
    count = int(weight) * np.diff(np.concatenate([[0], np.cumsum(sums)])[walks.start])
    arcs = arc_start, arc_to, int(weight) * arc_count
    graph = UnitigGraph(k, bases, start, count, np.arange(n) >= walks.n_linear, *arcs, unit)
    canonical = canonical_order(graph.bases, graph.start, graph.is_circular, graph.k)
    own_count, own_edges = np.empty(pieces.base.size, np.uint32), np.empty(pieces.base.size, np.uint8)
    places = canonical.by_old_number(np.diff(at[walks.start]))
    columns = (pieces.start, pieces.count, pieces.edges, own_count, own_edges)
    order_columns(walks.path.size, *rows, walks.n_linear, *places, *columns)
    return JoinedGraph(apply_order(graph, canonical), own_count, own_edges)


def all_pieces(parts: list[Pieces]) -> Pieces:
    """Return the pieces of several tables as one object; the list is emptied, to free what is copied."""
    if len(parts) == 1:
        return parts.pop()
    k, n_windows, rows = parts[0].k, 0, []
    for part in parts:
        rows.append((part.first, part.start[:-1] + n_windows, part.base, part.count, part.edges, part.seen))
        n_windows += part.base.size
    parts.clear()
    columns = [list(column) for column in zip(*rows, strict=True)]
    del part, rows
    columns[1].append(np.array([n_windows]))
    return Pieces(k, *map(joined, columns))  # each list is emptied as it is copied


def pieces_of_unitigs(joined: JoinedGraph) -> Pieces:
    """Cut unitigs at each window that has another edge than the one along its unitig, and return the pieces."""
    graph, first_window = joined.graph, joined.graph.window_start
    base, begins = np.empty(joined.count.size, np.uint8), np.empty(joined.count.size, bool)
    _cut_unitigs(graph.n, graph.bases, graph.start, first_window, graph.k, joined.edges, base, begins)
    start = np.append(np.flatnonzero(begins), base.size)
    first = np.empty(start.size - 1, np.uint64)
    _write_firsts(first.size, start, graph.bases, graph.start, first_window, graph.n, graph.k, first)
    return Pieces(graph.k, first, start, base, joined.count, joined.edges, np.empty(0, np.uint32))


@inlined()
def _base_of_piece(i, p, k, first, start, base):
    """Return base i (int64) of a piece."""
    if i < k - 1:
        return np.int64((first[p] >> np.uint64(2 * (k - 1 - i))) & np.uint64(3))
    return np.int64(base[start[p] + i - (k - 1)])


@signatures(
    "uint8[::1], int64[::1], int64[::1], int64, uint8[::1], uint8[::1], boolean[::1]",
    on="host",
)
@for_each
def _cut_unitigs(u, bases, start, first_window, k, edges, base, begins):
    """Write the last base of each window of a unitig, and whether a piece begins there."""
    for i in range(first_window[u + 1] - first_window[u]):
        window, place = first_window[u] + i, start[u] + i
        base[window] = bases[place + k - 1]
        begins[window] = True
        if i > 0:
            out, back = edges_of_strand(edges[window - 1], 0), edges_of_strand(edges[window], 1)
            begins[window] = out != 1 << np.int64(bases[place + k - 1]) or back != 1 << (3 - np.int64(bases[place - 1]))


@signatures("int64[::1], uint8[::1], int64[::1], int64[::1], int64, int64, uint64[::1]", on="host")
@for_each
def _write_firsts(p, start, bases, base_start, first_window, n_unitigs, k, first):
    u = run_of(start[p], first_window, n_unitigs)
    place, kmer = base_start[u] + start[p] - first_window[u], np.uint64(0)
    for i in range(place, place + k):
        kmer = (kmer << _TWO) | np.uint64(bases[i])
    first[p] = kmer


@signatures("int64, uint64[::1], int64[::1], uint8[::1], uint8[::1], uint64[::1], uint8[::1]", on="host")
@for_each
def _write_ends(p, k, first, start, base, edges, head, leaving):
    n, last = start[p + 1] - start[p], np.uint64(0)
    for i in range(n - 1, n + k - 1):
        last = (last << _TWO) | np.uint64(_base_of_piece(i, p, k, first, start, base))
    head[2 * p], head[2 * p + 1] = first[p], reverse_complement_plain(last, k)
    leaving[2 * p] = edges_of_strand(edges[start[p + 1] - 1], 0)
    leaving[2 * p + 1] = edges_of_strand(edges[start[p]], 1)


@inlined()
def _follow_piece(v, kmer, b, k, head, leaving, slots, n_slots, is_two_sided):
    """Return the oriented piece that follows the last k-mer of an oriented piece by a base, or -1."""
    to = np.int64(-1)
    if (np.int64(leaving[v]) >> b) & 1:
        to = find(((kmer << _TWO) | np.uint64(b)) & ((_ONE << np.uint64(2 * k)) - _ONE), head, slots, n_slots)
        opposite = 3 - np.int64(kmer >> np.uint64(2 * k - 2))
        if to >= 0 and is_two_sided and (np.int64(leaving[to ^ 1]) >> opposite) & 1 == 0:
            to = np.int64(-1)
    return to


@signatures("int64, uint64[::1], uint8[::1], int32[::1], uint64, boolean, int32[::1]")
@for_each
def _find_only_piece(v, k, head, leaving, slots, n_slots, is_two_sided, successor):
    kmer, n, found = reverse_complement_plain(head[v ^ 1], k), 0, np.int64(-1)
    for b in range(4):
        to = _follow_piece(v, kmer, b, k, head, leaving, slots, n_slots, is_two_sided)
        if to >= 0:
            n += 1
            found = to
    successor[v] = found if n == 1 and found != v ^ 1 else -1


@signatures(
    "int64[::1], int64, uint64[::1], uint8[::1], int32[::1], uint64, boolean, int32[::1], uint64[::1], int64[::1]"
)
@for_each
def _find_piece_rows(i, vertices, k, head, leaving, slots, n_slots, is_two_sided, row, key, strand):
    """Write the successors of each oriented piece, the key of its last k-mer, and its strand that leaves the piece."""
    v = vertices[i]
    backward = head[v ^ 1]
    forward = reverse_complement_plain(backward, k)
    key[i], strand[i] = min(forward, backward), 1 if backward < forward else 0
    for b in range(4):
        row[4 * i + b] = _follow_piece(v, forward, b, k, head, leaving, slots, n_slots, is_two_sided)


@signatures(
    "int32[::1], int64[::1], int64, int64[::1], int64, int64[::1], uint64[::1], int64[::1], uint8[::1], uint32[::1], "
    "uint8[::1], int64[::1]",
    on="host",
)
@for_each
def _write_pieces(j, path, walk_start, n_walks, at, k, start, first, piece_start, base, count, bases, sums):
    """Write the bases that each piece adds to its walk, k - 1 more at its beginning, and the sum of its counts."""
    walk, p, side = run_of(np.int64(j), walk_start, n_walks), np.int64(path[j]) >> 1, np.int64(path[j]) & 1
    n = piece_start[p + 1] - piece_start[p]
    to = start[walk] + at[j] - at[walk_start[walk]]
    for i in range(0 if j == walk_start[walk] else k - 1, n + k - 1):
        if side:
            bases[to + i] = 3 - _base_of_piece(n + k - 2 - i, p, k, first, piece_start, base)
        else:
            bases[to + i] = _base_of_piece(i, p, k, first, piece_start, base)
    total = np.int64(0)
    for window in range(piece_start[p], piece_start[p + 1]):
        total += np.int64(count[window])
    sums[j] = total


@signatures(
    "int32[::1], int64[::1], int64, int64[::1], int64, int64[::1], boolean[::1], int64[::1], int64[::1], uint32[::1], "
    "uint8[::1], uint32[::1], uint8[::1]",
    on="host",
)
@for_each
def order_columns(
    j, path, walk_start, n_walks, at, n_linear, first, is_flipped, rotation, piece_start, count, edges, own_count,
    own_edges,
):  # fmt: skip
    """Write counts and edges of the windows of walks of pieces in the canonical order of the walks."""
    walk, p, side = run_of(np.int64(j), walk_start, n_walks), np.int64(path[j]) >> 1, np.int64(path[j]) & 1
    n, begin = piece_start[p + 1] - piece_start[p], at[walk_start[walk]]
    n_walk, flip = at[walk_start[walk + 1]] - begin, np.int64(is_flipped[walk])
    for i in range(n):
        window = piece_start[p] + (n - 1 - i if side else i)
        to = at[j] - begin + i
        if walk >= n_linear:
            to = (rotation[walk] - to) % n_walk if flip else (to - rotation[walk]) % n_walk
        elif flip:
            to = n_walk - 1 - to
        own_count[first[walk] + to] = count[window]
        own_edges[first[walk] + to] = other_strand(edges[window]) if side ^ flip else np.int64(edges[window])
