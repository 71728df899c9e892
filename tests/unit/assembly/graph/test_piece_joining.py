"""Unitigs of buckets that are counted and compacted alone, against those of all k-mers at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpuasm.arrays import array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.debruijn import find_neighbours
from gpuasm.assembly.graph.piece_joining import PieceLinks, all_pieces, join_pieces, pieces_of_unitigs
from gpuasm.assembly.graph.unitigs import build_unitigs
from gpuasm.kmers.buckets import cut_buckets
from gpuasm.kmers.counting import count_followers, tally_kmers
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.pieces import compact_kmers
from gpuasm.kmers.tally import observed_edges
from gpuasm.sequence.reads import Reads
from tests.oracles import kmers as kmer_oracle
from tests.oracles import unitigs as oracle
from tests.unit.kmers.test_tally import noisy_reads

_GRAPH = ("bases", "start", "count", "is_circular", "arc_start", "arc_to", "arc_count", "unit")
CIRCULAR = "".join(np.random.default_rng(4).choice(list("ACGT"), 90))
TEXTS = [*noisy_reads(2, 150), *[(CIRCULAR * 3)[i : i + 80] for i in range(90)]]
UNIT, WEIGHT = 32, 3


def counted(reads, k, *, min_count, min_follow):
    """Return all k-mers in one table, with followers, and their edges."""
    tally = tally_kmers(reads, k, min_count=min_count)
    return replace(tally, edges=observed_edges(tally.followers, min_follow))


def whole_graph(reads, tally):
    """Return the unitigs of all k-mers, with edges that are present at both of their ends, and columns by key."""
    xp = array_namespace(tally.keys)
    dictionary = Dictionary.of(tally.keys, k=tally.k, k0=0)
    neighbour = to_host(find_neighbours(reads.packed, tally, dictionary)).reshape(-1, 4)
    has_edge = np.unpackbits(to_host(tally.edges), bitorder="little").reshape(-1, 4).astype(bool)
    edges = {(v, int(neighbour[v, b])) for v, b in zip(*np.nonzero(has_edge), strict=True) if neighbour[v, b] >= 0}
    is_edge = [[(v, w) in edges and (w ^ 1, v ^ 1) in edges for w in row] for v, row in enumerate(neighbour.tolist())]
    kept = np.where(np.array(is_edge).reshape(-1, 4), neighbour, -1).ravel().astype(np.int32)
    graph, _ = build_unitigs(reads.packed, tally, to_namespace(xp, kept), unit=UNIT)
    graph = replace(graph, count=WEIGHT * graph.count, arc_count=WEIGHT * graph.arc_count)
    rows = (to_host(column).tolist() for column in (tally.keys, tally.count, tally.edges))
    return graph, {key: (count, edges) for key, count, edges in zip(*rows, strict=True)}


def joined_graph(reads, k, n_buckets, *, min_count, min_follow, counts_later=False):
    xp, parts = array_namespace(reads.packed), []
    for number in range(n_buckets):
        bucket, _ = cut_buckets(reads, k, range(number, number + 1), n_buckets=n_buckets)
        tally = bucket.tally(min_count=min_count, min_follow=min_follow)
        parts.append(compact_kmers(tally, followers=None if counts_later else bucket.followers))
    return joined(parts, xp, min_follow=min_follow, followers=counted_in(reads, k) if counts_later else None)


def counted_in(reads, k):
    return lambda keys: count_followers(reads, k, keys)


def joined(parts, xp, **options):
    pieces = all_pieces(parts)
    return join_pieces([pieces], PieceLinks.of(pieces, xp, **options), unit=UNIT, weight=WEIGHT)


def assert_same(found, expected, *, without=()):
    graph, columns = expected
    for name in _GRAPH:
        assert name in without or np.array_equal(getattr(found.graph, name), getattr(graph, name)), name
    own = {}
    windows = (graph.sequence(u)[i : i + graph.k] for u in range(graph.n) for i in range(int(graph.n_kmers[u])))
    for text, count, edges in zip(windows, found.count.tolist(), found.edges.tolist(), strict=True):
        canonical = kmer_oracle.canonical(text)
        key = sum("ACGT".index(base) << 2 * i for i, base in enumerate(canonical[::-1]))
        own[key] = count, edges if canonical == text else edges >> 4 | (edges & 15) << 4
    assert own == columns


@pytest.mark.parametrize("counts_later", [False, True])
@pytest.mark.parametrize(("k", "n_buckets"), [(9, 3), (21, 7), (31, 1), (31, 5), (31, 64)])
def test_unitigs_of_buckets_are_those_of_all_kmers(xp, k, n_buckets, counts_later):
    reads, least = Reads.from_strings(TEXTS).moved_to(xp), {"min_count": 3, "min_follow": 2}
    expected = whole_graph(reads, counted(reads, k, **least))
    assert_same(joined_graph(reads, k, n_buckets, **least, counts_later=counts_later), expected)
    assert expected[0].is_circular.any() or k == 9


@example(texts=["ACGT" * 5], k=3, n_buckets=2, min_count=1)  # (k + 1)-mers that are their own reverse complements
@example(texts=["A" * 20, "AC" * 10], k=5, n_buckets=3, min_count=1)  # circular unitigs of one k-mer and of two
@given(
    texts=st.lists(st.text("ACGTN", max_size=40), min_size=1, max_size=8),
    k=st.sampled_from([3, 5, 7, 13]),
    n_buckets=st.integers(1, 7),
    min_count=st.integers(1, 3),
)
def test_any_reads_and_buckets(texts, k, n_buckets, min_count):
    reads, least = Reads.from_strings(texts), {"min_count": min_count, "min_follow": min(2, min_count)}
    tally = counted(reads, k, **least)
    if tally.n:
        assert_same(joined_graph(reads, k, n_buckets, **least), whole_graph(reads, tally))


@given(texts=st.lists(st.text("ACGT", max_size=40), min_size=1, max_size=8), n_buckets=st.integers(1, 7))
def test_unitigs_of_buckets_equal_the_oracle(texts, n_buckets):
    k, counts, edges = 5, kmer_oracle.count_kmers(texts, 5), kmer_oracle.count_followers(texts, 5)
    if not counts:
        return

    def successors(kmer):
        return [s for s in oracle.overlap_successors(set(counts), kmer) if edges[kmer, s[-1]] >= 1]

    graph = joined_graph(Reads.from_strings(texts), k, n_buckets, min_count=1, min_follow=1).graph
    found = sorted((graph.sequence(u), bool(graph.is_circular[u])) for u in range(graph.n))
    assert found == oracle.unitigs(set(counts), successors)


def split_tables(tally, rng, n_tables):
    table_of = to_namespace(array_namespace(tally.keys), rng.integers(0, n_tables, tally.n))
    return [replace(tally.where(table_of == table), followers=tally.followers[:0]) for table in range(n_tables)]


@pytest.mark.parametrize("k", [9, 31])
def test_edges_at_one_end_only_are_none_in_any_tables(xp, k):
    reads, rng = Reads.from_strings(TEXTS).moved_to(xp), np.random.default_rng(k)
    tally = counted(reads, k, min_count=2, min_follow=1)
    kept = np.empty(tally.n, np.uint8)  # by key: devices have the k-mers in other orders
    kept[np.argsort(to_host(tally.keys))] = np.bitwise_or.reduce(rng.integers(0, 256, (3, tally.n)))
    tally.edges[:] &= to_namespace(xp, kept)
    expected = whole_graph(reads, tally)
    parts = [compact_kmers(part, is_two_sided=True) for part in split_tables(tally, rng, 3)]
    options = {"min_follow": 1, "is_two_sided": True, "followers": counted_in(reads, k)}
    assert_same(joined(parts, xp, **options), expected)
    assert expected[0].arc_to.size > 0


@pytest.mark.parametrize("k", [9, 31])
def test_unitigs_are_cut_where_new_kmers_follow(xp, k):
    reads, rng = Reads.from_strings(TEXTS).moved_to(xp), np.random.default_rng(k)
    tally = counted(reads, k, min_count=2, min_follow=1)
    expected, tally = whole_graph(reads, tally), replace(tally, followers=tally.followers[:0])
    is_new = to_namespace(xp, rng.random(tally.n) < 0.1)
    options = {"min_follow": 1, "is_two_sided": True, "followers": counted_in(reads, k)}
    known = joined([compact_kmers(tally.where(~is_new), is_two_sided=True)], xp, **options)
    pieces, new = pieces_of_unitigs(known), compact_kmers(tally.where(is_new), is_two_sided=True)
    assert_same(joined([pieces, new], xp, **options), expected)
    assert known.graph.n <= pieces.n < known.count.size
