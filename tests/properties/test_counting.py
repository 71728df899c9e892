"""What holds for the k-mers and unitigs of any reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly import unitigs_of_reads
from gpuasm.kmers import doubling_chain, spell_kmers, tally_by_doubling
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import count_kmers, pieces, reverse_complement
from tests.unit.assembly.graph.test_compaction import ARRAYS, kmers_of
from tests.unit.kmers.test_tally import noisy_reads

READS = st.lists(st.text("ACGTN", max_size=80), max_size=10)
KS = st.sampled_from([3, 5, 9, 31, 33])


def counts_of(texts, k):
    reads = Reads.from_strings(texts)
    tally, _ = tally_by_doubling(reads, doubling_chain(k), min_count=1, with_followers=True)
    return (*spell_kmers(reads.packed, tally), tally)


def assert_same_counts(one, other):
    for a, b in zip(one[:2], other[:2], strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(one[2].histogram, other[2].histogram)


@given(texts=READS, k=KS)
def test_counts_add_up_to_the_windows(texts, k):
    _, counts, tally = counts_of(texts, k)
    windows = sum(max(0, len(piece) - k + 1) for text in texts for piece in pieces(text))
    assert int(counts.sum()) == windows
    assert int((tally.histogram * np.arange(tally.histogram.size)).sum()) == windows
    edges = sum(max(0, len(piece) - k) for text in texts for piece in pieces(text))
    assert int(tally.followers.sum()) == 2 * edges


@given(texts=READS, k=KS, seed=st.integers(0, 99))
def test_strand_and_order_of_reads_do_not_matter(texts, k, seed):
    rng = np.random.default_rng(seed)
    turned = [reverse_complement(text) if rng.random() < 0.5 else text for text in texts]
    assert_same_counts(counts_of(texts, k), counts_of([turned[i] for i in rng.permutation(len(turned))], k))


@given(texts=READS, k=KS)
def test_reads_twice_count_twice(texts, k):
    once, twice = counts_of(texts, k), counts_of(texts * 2, k)
    assert np.array_equal(once[0], twice[0])
    assert np.array_equal(2 * once[1], twice[1])


@given(texts=READS, k=KS, cut=st.integers(0, 80))
def test_a_read_cut_with_an_overlap_of_k_minus_1_counts_the_same(texts, k, cut):
    halves = [half for text in texts for half in (text[: cut + k - 1], text[cut:])]
    assert_same_counts(counts_of(texts, k), counts_of(halves, k))


@given(texts=READS, k=KS, min_count=st.integers(1, 3), observed=st.booleans())
def test_every_solid_kmer_is_in_one_unitig_once(texts, k, min_count, observed):
    graph = unitigs_of_reads(Reads.from_strings(texts), k, min_count=min_count, observed=observed)
    solid = {kmer: n for kmer, n in count_kmers(texts, k).items() if n >= min_count}
    assert kmers_of(graph) == set(solid)
    assert int(graph.n_kmers.sum()) == len(solid)
    assert int(graph.count.sum()) == sum(solid.values())


@given(texts=READS, k=KS)
def test_unitigs_of_unitigs_are_the_unitigs(texts, k):
    graph = unitigs_of_reads(Reads.from_strings(texts), k, min_count=1)
    again = unitigs_of_reads(Reads.from_strings([graph.sequence(u) for u in range(graph.n)]), k, min_count=1)
    for name in ARRAYS:
        if name != "count":
            assert np.array_equal(getattr(graph, name), getattr(again, name)), name
    assert np.array_equal(again.count, again.n_kmers)


@pytest.mark.parametrize("k", [31, 63, 127])
def test_observed_edges_between_solid_kmers_join_no_more_than_overlaps_do(k):
    reads = Reads.from_strings(noisy_reads(k, 120))
    overlap, observed = (unitigs_of_reads(reads, k, min_count=2, observed=seen) for seen in (False, True))
    assert kmers_of(overlap) == kmers_of(observed)
    n_overlap, n_observed = ((g.n_kmers - 1).sum() + g.is_circular.sum() for g in (overlap, observed))
    arcs_overlap, arcs_observed = (int(g.arc_to.size) for g in (overlap, observed))
    assert 2 * n_observed + arcs_observed <= 2 * n_overlap + arcs_overlap
