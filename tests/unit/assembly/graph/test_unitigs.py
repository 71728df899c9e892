"""Unitigs of reads, compared with plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.sequence.reads import Reads
from tests.oracles import kmers as kmer_oracle
from tests.oracles import unitigs as oracle
from tests.unit.kmers.test_tally import noisy_reads


def unitig_set(graph):
    return sorted((graph.sequence(u), bool(graph.is_circular[u])) for u in range(graph.n))


def solid(texts, k, min_count):
    return {kmer for kmer, n in kmer_oracle.count_kmers(texts, k).items() if n >= min_count}


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("k", [5, 15, 31, 33, 63, 91, 127])
def test_overlap_unitigs_equal_the_oracle(k, min_count, xp):
    texts = noisy_reads(k, 90)
    graph = unitigs_of_reads(Reads.from_strings(texts).moved_to(xp), k, min_count=min_count)
    assert unitig_set(graph) == oracle.unitigs(solid(texts, k, min_count))


@pytest.mark.parametrize("k", [5, 15, 31, 63])
def test_observed_unitigs_equal_the_oracle(k, xp):
    texts = noisy_reads(k + 1, 90)
    graph = unitigs_of_reads(Reads.from_strings(texts).moved_to(xp), k, min_count=2, observed=True)
    kmers, edges = solid(texts, k, 2), kmer_oracle.count_followers(texts, k)

    def successors(kmer):
        return [s for s in oracle.overlap_successors(kmers, kmer) if edges[kmer, s[-1]] >= 2]

    assert unitig_set(graph) == oracle.unitigs(kmers, successors)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text("ACGT", max_size=40), max_size=8), k=st.sampled_from([3, 5, 7]))
def test_unitigs_of_any_reads_equal_the_oracle(texts, k):
    graph = unitigs_of_reads(Reads.from_strings(texts), k, min_count=1)
    assert unitig_set(graph) == oracle.unitigs(solid(texts, k, 1))
    assert graph.n_kmers.sum() == len(solid(texts, k, 1))
    assert graph.count.sum() == sum(kmer_oracle.count_kmers(texts, k).values())


@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.text("ACGT", min_size=1, max_size=40), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_result_does_not_depend_on_order_and_strand_of_reads(texts, seed):
    rng = np.random.default_rng(seed)
    flipped = [kmer_oracle.reverse_complement(t) if rng.random() < 0.5 else t for t in texts]
    shuffled = [flipped[i] for i in rng.permutation(len(flipped))]
    a, b = (unitigs_of_reads(Reads.from_strings(t), 5, min_count=1) for t in (texts, shuffled))
    for name in ("bases", "start", "count", "is_circular", "arc_start", "arc_to", "arc_count"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


def test_arcs_join_unitigs_that_share_k_minus_1_bases():
    texts = noisy_reads(3, 90)
    graph = unitigs_of_reads(Reads.from_strings(texts), 15, min_count=1)
    texts_of = []
    for u in range(graph.n):
        texts_of += [graph.sequence(u), kmer_oracle.reverse_complement(graph.sequence(u))]
    arcs = set(zip(graph.arc_from.tolist(), graph.arc_to.tolist(), strict=True))
    for a, b in arcs:
        assert texts_of[a][-14:] == texts_of[b][:14]
        assert (b ^ 1, a ^ 1) in arcs
    expected = {(a, b) for a, x in enumerate(texts_of) for b, y in enumerate(texts_of) if x[-14:] == y[:14]}
    linear = {(a, b) for a, b in expected if not (graph.is_circular[a >> 1] or graph.is_circular[b >> 1])}
    assert arcs == linear


def test_circular_unitig_starts_at_its_least_kmer():
    rng = np.random.default_rng(5)
    circular = "".join(rng.choice(list("ACGT"), 400))
    reads = [(circular * 2)[i : i + 60] for i in range(0, 400, 7)]
    graph = unitigs_of_reads(Reads.from_strings(reads), 31, min_count=1)
    assert graph.n == 1
    assert graph.is_circular[0]
    assert graph.sequence(0) == oracle.canonical_circle(circular + circular[:30], 31)
