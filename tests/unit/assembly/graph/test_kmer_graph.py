"""K-mers numbered along unitigs, and their successors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuasm.arrays import to_host, to_namespace
from gpuasm.assembly.graph.compaction import SourceUnitigs
from gpuasm.assembly.graph.debruijn import PlainLinks, TableLinks, find_neighbours
from gpuasm.assembly.graph.kmer_graph import follow_name, make_kmer_graph
from gpuasm.assembly.graph.unitigs import build_unitigs
from gpuasm.assembly.simplification.engine import clean
from gpuasm.kmers.counting import sorted_by_place, tally_kmers
from gpuasm.kmers.names import Dictionary
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import reverse_complement
from tests.unit.kmers.test_tally import noisy_reads

CIRCULAR = "".join(np.random.default_rng(4).choice(list("ACGT"), 90))
TEXTS = [*noisy_reads(2, 150), *[(CIRCULAR * 3)[i : i + 80] for i in range(90)]]


def graph_of_reads(xp, k, *, cleaned):
    reads = Reads.from_strings(TEXTS).moved_to(xp)
    tally = counted(reads, k)
    unitigs = build_unitigs(None, tally, PlainLinks(tally, reads, min_follow=1))
    if cleaned:
        graph, sources, _ = clean(unitigs.graph)
    else:
        graph, sources = unitigs.graph, SourceUnitigs.identity(unitigs.graph.n)
    kmer_graph, renumbered = make_kmer_graph(unitigs, [tally], (graph, sources))
    for column in ("count", "edges"):
        rows = (to_host(getattr(own, column)).tolist() for own in (tally, renumbered))
        before, after = (
            dict(zip(to_host(own.keys).tolist(), row, strict=True))
            for own, row in zip((tally, renumbered), rows, strict=True)
        )
        assert after == {key: before[key] for key in after}
    assert renumbered.keys is kmer_graph.dictionary.keys
    return kmer_graph


def counted(reads, k, *, min_follow=1):
    """Return the k-mers as the first graph takes them."""
    return sorted_by_place([tally_kmers(reads, k, min_count=2, min_follow=min_follow)], keep_places=False)


def windows(graph):
    """Return the text of each window along all unitigs."""
    k = graph.k
    return [graph.sequence(u)[i : i + k] for u in range(graph.n) for i in range(int(graph.n_kmers[u]))]


def key_text(key, k):
    return "".join("ACGT"[int(key) >> (2 * (k - 1 - i)) & 3] for i in range(k))


@pytest.mark.parametrize("cleaned", [False, True])
@pytest.mark.parametrize("k", [9, 21, 31])
def test_kmers_are_numbered_along_the_unitigs(xp, k, cleaned):
    kmer_graph = graph_of_reads(xp, k, cleaned=cleaned)
    keys, strand, unitig_of = (
        to_host(a) for a in (kmer_graph.dictionary.keys, kmer_graph.strand, kmer_graph.unitig_of)
    )
    texts = windows(kmer_graph.graph)
    assert keys.size == len(texts)
    for text, key, reverse in zip(texts, keys.tolist(), strand.tolist(), strict=True):
        assert text == (reverse_complement(key_text(key, k)) if reverse else key_text(key, k))
    assert np.array_equal(unitig_of, np.repeat(np.arange(kmer_graph.graph.n), kmer_graph.graph.n_kmers))
    assert kmer_graph.graph.is_circular.any() or k == 9


@pytest.mark.parametrize("cleaned", [False, True])
@pytest.mark.parametrize("k", [9, 21, 31])
def test_neighbours_follow_unitigs_and_arcs(xp, k, cleaned):
    kmer_graph = graph_of_reads(xp, k, cleaned=cleaned)
    graph, strand = kmer_graph.graph, to_host(kmer_graph.strand)
    rows = [to_host(row) for row in kmer_graph.link_rows]
    neighbour = [follow_name(v, base, k, *rows) for v in range(2 * strand.size) for base in range(4)]
    number = {}
    for j, text in enumerate(windows(graph)):
        number[text], number[reverse_complement(text)] = 2 * j + int(strand[j]), 2 * j + 1 - int(strand[j])
    expected = np.full(8 * strand.size, -1)

    def link(before, after):
        expected[4 * number[before] + "ACGT".index(after[-1])] = number[after]

    for u in range(graph.n):
        text = graph.sequence(u)
        closing = text[k - 1] if graph.is_circular[u] else ""
        for i in range(len(text + closing) - k):
            edge = (text + closing)[i : i + k + 1]
            link(edge[:k], edge[1:])
            link(reverse_complement(edge)[:k], reverse_complement(edge)[1:])
    for a, b in zip(graph.arc_from.tolist(), graph.arc_to.tolist(), strict=True):
        ends = [graph.sequence(v >> 1) for v in (a, b)]
        source, target = (reverse_complement(t) if v & 1 else t for t, v in zip(ends, (a, b), strict=True))
        link(source[-k:], target[:k])
    assert np.array_equal(neighbour, expected)


@pytest.mark.parametrize("min_follow", [1, 2])
@pytest.mark.parametrize("k", [9, 21, 31])
def test_plain_links_equal_the_table(xp, k, min_follow):
    reads = Reads.from_strings(TEXTS).moved_to(xp)
    exact, tally = tally_kmers(reads, k, min_count=2, in_text_order=True), counted(reads, k, min_follow=min_follow)
    order = xp.argsort(exact.keys)[xp.argsort(xp.argsort(tally.keys))]  # the same k-mers in the order of the other
    exact = replace(
        exact,
        **{name: getattr(exact, name)[order] for name in ("keys", "count", "place")},
        followers=exact.followers.reshape(-1, 8)[order].ravel(),
    )
    dictionary = Dictionary.of(exact.keys, k=k, k0=0)
    table = TableLinks(find_neighbours(reads.packed, exact, dictionary, min_follow=min_follow), exact)
    links, vertices = PlainLinks(tally, reads, min_follow), xp.arange(2 * tally.n)
    assert np.array_equal(to_host(links.forced()), to_host(table.forced()))
    (to, seen), (expected, counts) = links.edges_of(vertices), table.edges_of(vertices)
    assert np.array_equal(to_host(to), to_host(expected))
    is_edge = to_host(to) >= 0
    assert np.array_equal(to_host(seen)[is_edge], to_host(counts)[is_edge])
    assert is_edge.any()
    some = vertices[::3]
    to, is_known = to_host(links.edges_of(some)[0]), np.isin(to_host(expected)[::3] >> 1, to_host(some) >> 1)
    assert np.array_equal(to, np.where(is_known, to_host(expected)[::3], -1))


@pytest.mark.parametrize("k", [9, 31])
def test_edge_observed_at_one_end_only_is_no_two_sided_edge(xp, k):
    reads = Reads.from_strings(TEXTS).moved_to(xp)
    tally = counted(reads, k)
    links = PlainLinks(tally, reads, 1, is_two_sided=True)
    before = to_host(links.edges_of(xp.arange(2 * tally.n))[0])
    rng = np.random.default_rng(1)
    tally.edges[:] &= to_namespace(xp, rng.integers(0, 256, tally.n).astype(np.uint8))
    bits = np.unpackbits(to_host(tally.edges), bitorder="little").reshape(-1, 4)
    after = to_host(links.edges_of(xp.arange(2 * tally.n))[0])
    edges = {(v, int(b)) for v, b in zip(*np.nonzero(before >= 0), strict=True)}
    for v, b in edges:
        w = before[v, b]
        (back,) = np.flatnonzero(before[w ^ 1] == v ^ 1)
        assert after[v, b] == (w if bits[v, b] and bits[w ^ 1, back] else -1)
    only = {v: row[row >= 0] for v, row in enumerate(after)}
    for v, to in enumerate(to_host(links.forced()).tolist()):
        is_forced = only[v].size == 1 and only[v][0] != v ^ 1 and only[int(only[v][0]) ^ 1].size == 1
        assert to == (only[v][0] if is_forced else -1)
