"""Compaction, compared with the unitigs of the remaining k-mers in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gpuasm.assembly.graph.canonical_order import CanonicalOrder, apply_order
from gpuasm.assembly.graph.compaction import SourceUnitigs, compact
from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.graphs import assert_arcs_overlap, assert_consists_of_sources, kmers_of, text_of
from tests.oracles import kmers as kmer_oracle
from tests.oracles import unitigs as oracle
from tests.unit.kmers.test_tally import noisy_reads

ARRAYS = ("bases", "start", "count", "is_circular", "arc_start", "arc_to", "arc_count")
texts_of_reads = st.lists(st.text("ACGT", max_size=40), min_size=1, max_size=8)
ks = st.sampled_from([3, 5, 7])


def graph_of_texts(texts, k, **options):
    return unitigs_of_reads(Reads.from_strings(texts), k, min_count=1, **options)


def unitig_set(graph):
    """Return the texts of unitigs, circular ones in canonical rotation, as compaction starts them elsewhere."""
    found = []
    for u in range(graph.n):
        text, is_circular = graph.sequence(u), bool(graph.is_circular[u])
        found.append((oracle.canonical_circle(text, graph.k) if is_circular else text, is_circular))
    return sorted(found)


def random_removal(graph, seed, share):
    return np.random.default_rng(seed).random(graph.n) < share


@given(texts=texts_of_reads, k=ks)
def test_nothing_removed_is_the_identity(texts, k):
    graph = graph_of_texts(texts, k)
    compacted, sources = compact(graph, SourceUnitigs.identity(graph.n))
    for name in ARRAYS:
        assert np.array_equal(getattr(graph, name), getattr(compacted, name)), name
    assert np.array_equal(sources.oriented, SourceUnitigs.identity(graph.n).oriented)


@given(texts=texts_of_reads, k=ks, seed=st.integers(0, 99), share=st.sampled_from([0.1, 0.3, 0.6]))
def test_result_is_the_unitigs_of_the_remaining_kmers(texts, k, seed, share):
    graph = graph_of_texts(texts, k)
    is_removed = random_removal(graph, seed, share)
    compacted, sources = compact(graph, SourceUnitigs.identity(graph.n), is_removed=is_removed)
    remaining = kmers_of(graph, np.flatnonzero(~is_removed))
    assert unitig_set(compacted) == oracle.unitigs(remaining)
    assert_consists_of_sources(sources, graph, compacted)
    assert_arcs_overlap(compacted)


@given(texts=texts_of_reads, k=ks, seed=st.integers(0, 99))
def test_result_is_the_unitigs_of_the_remaining_edges(texts, k, seed):
    graph = graph_of_texts(texts, k, observed=True)
    is_removed = random_removal(graph, seed, 0.3)
    compacted, sources = compact(graph, SourceUnitigs.identity(graph.n), is_removed=is_removed)
    remaining, edges = kmers_of(graph, np.flatnonzero(~is_removed)), kmer_oracle.count_followers(texts, k)

    def successors(kmer):
        found = oracle.overlap_successors(remaining, kmer)
        return [s for s in found if edges[kmer, s[-1]]]

    assert unitig_set(compacted) == oracle.unitigs(remaining, successors)
    assert_consists_of_sources(sources, graph, compacted)
    assert_arcs_overlap(compacted)


@given(texts=texts_of_reads, k=ks, seed=st.integers(0, 99), share=st.sampled_from([0.05, 0.3, 0.6]))
def test_a_compact_graph_is_compacted_near_what_is_removed(texts, k, seed, share):
    graph = graph_of_texts(texts, k)
    graph, sources = compact(graph, SourceUnitigs.identity(graph.n), is_removed=random_removal(graph, seed, 0.1))
    for round_seed in (seed + 1, seed + 2):
        is_removed = random_removal(graph, round_seed, share)
        whole, sources_of_whole = compact(graph, sources, is_removed=is_removed)
        graph, sources = compact(graph, sources, is_removed=is_removed, is_compact=True)
        for name in ARRAYS:
            assert np.array_equal(getattr(graph, name), getattr(whole, name)), name
        assert np.array_equal(sources.start, sources_of_whole.start)
        assert np.array_equal(sources.oriented, sources_of_whole.oriented)


@given(texts=texts_of_reads, seed=st.integers(0, 99))
def test_source_unitigs_compose(texts, seed):
    first = graph_of_texts(texts, 5)
    graph, sources = first, SourceUnitigs.identity(first.n)
    for step in range(3):
        graph, sources = compact(graph, sources, is_removed=random_removal(graph, seed + step, 0.15))
    assert_consists_of_sources(sources, first, graph)


@pytest.mark.parametrize("seed", range(3))
def test_large_graphs_are_compacted(seed):
    graph = graph_of_texts(noisy_reads(seed, 90), 15)
    compacted, sources = compact(graph, SourceUnitigs.identity(graph.n), is_removed=random_removal(graph, seed, 0.2))
    assert 0 < compacted.n < graph.n
    assert_consists_of_sources(sources, graph, compacted)
    assert_arcs_overlap(compacted)


def test_removing_a_branch_closes_a_circular_unitig():
    rng = np.random.default_rng(5)
    circular, branch = decode(rng.integers(0, 4, 200)), decode(rng.integers(0, 4, 40))
    graph = graph_of_texts([circular + circular[:40], circular[60:110] + branch], 21)
    (tip,) = [u for u in range(graph.n) if branch in text_of(graph, 2 * u) + "N" + text_of(graph, 2 * u + 1)]
    assert not graph.is_circular.any()
    compacted, _ = compact(graph, SourceUnitigs.identity(graph.n), is_removed=np.arange(graph.n) == tip)
    assert unitig_set(compacted) == [(oracle.canonical_circle(circular + circular[:20], 21), True)]
    assert compacted.arc_to.size == 0


def test_hairpin_is_not_joined():
    """The sequence continues into its own reverse complement: no unitig may contain a k-mer twice."""
    rng = np.random.default_rng(6)
    stem, branch = decode(rng.integers(0, 4, 100)), decode(rng.integers(0, 4, 40))
    hairpin = stem + kmer_oracle.reverse_complement(stem)
    graph = graph_of_texts([hairpin, stem[:80] + branch], 21)
    is_removed = np.array([branch in graph.sequence(u) + text_of(graph, 2 * u + 1) for u in range(graph.n)])
    compacted, _ = compact(graph, SourceUnitigs.identity(graph.n), is_removed=is_removed)
    assert kmers_of(compacted) == set(kmer_oracle.count_kmers([hairpin], 21))
    assert compacted.n_kmers.sum() == len(kmers_of(compacted))
    assert (compacted.arc_to == (compacted.arc_from ^ 1)).any()


def test_removing_all_unitigs_leaves_an_empty_graph():
    graph = graph_of_texts(noisy_reads(1), 15)
    compacted, sources = compact(graph, SourceUnitigs.identity(graph.n), is_removed=np.ones(graph.n, dtype=bool))
    assert (compacted.n, compacted.bases.size, compacted.arc_to.size, sources.oriented.size) == (0, 0, 0, 0)
    again, _ = compact(compacted, sources)
    assert again.n == 0


@given(reads=texts_of_reads, k=ks, seed=st.integers(0, 99), share=st.sampled_from([0.0, 0.1, 0.4]))
def test_unitigs_are_in_canonical_order_and_strand(reads, k, seed, share):
    graph = graph_of_texts(reads, k)
    compacted, _ = compact(graph, SourceUnitigs.identity(graph.n), is_removed=random_removal(graph, seed, share))
    texts = [compacted.sequence(u) for u in range(compacted.n)]
    assert texts == sorted(texts, key=lambda text: (-len(text), text[:k]))
    assert all(text[:k] <= kmer_oracle.reverse_complement(text)[:k] for text in texts)


@given(texts=texts_of_reads, k=ks, seed=st.integers(0, 99))
def test_graph_in_any_order_is_sorted(texts, k, seed):
    graph = graph_of_texts(texts, k)
    assume(not graph.is_circular.any())
    rng = np.random.default_rng(seed)
    shuffled = CanonicalOrder(rng.permutation(graph.n), rng.random(graph.n) < 0.5, np.zeros(graph.n, np.int64))
    compacted, _ = compact(apply_order(graph, shuffled), SourceUnitigs.identity(graph.n))
    for name in ARRAYS:
        assert np.array_equal(getattr(graph, name), getattr(compacted, name)), name
