"""Simplification as a whole: invariants of the graph, and graphs of simulated reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.coverage.sample_mode import Mode
from gpuasm.assembly.graph.compaction import SourceUnitigs, compact
from gpuasm.assembly.simplification.engine import clean
from gpuasm.sequence.encoding import decode
from tests.graphs import assert_arcs_overlap, assert_consists_of_sources, graph_of, kmers_of, observed_graph
from tests.oracles.kmers import count_kmers, reverse_complement
from tests.samples import simulated_genome, simulated_texts
from tests.unit.kmers.test_tally import noisy_reads


def assert_sound(graph, cleaned, sources):
    """Assert that a cleaned graph has k-mers of the original only, none twice, and is compacted."""
    kmers = kmers_of(cleaned)
    assert kmers <= kmers_of(graph)
    assert cleaned.n_kmers.sum() == len(kmers)
    assert_consists_of_sources(sources, graph, cleaned)
    assert_arcs_overlap(cleaned)
    again, _ = compact(cleaned, SourceUnitigs.identity(cleaned.n))
    assert again.n == cleaned.n


def test_isolated_unitigs_are_kept_if_requested():
    genome = decode(simulated_genome(length=1200, seed=3))
    texts = [genome[:1000]] * 9 + [genome[1050:1090]] * 2
    graph = observed_graph(texts, 31, min_count=2)
    assert graph.n == 2
    assert clean(graph)[0].n == 1
    assert clean(graph, keep_isolated=True)[0].n == 2


@given(texts=st.lists(st.text("ACGT", max_size=40), min_size=1, max_size=12), k=st.sampled_from([3, 5, 7]))
def test_any_graph_is_cleaned_soundly(texts, k):
    graph = observed_graph(texts, k)
    assert_sound(graph, *clean(graph)[:2])


@pytest.mark.parametrize(("k", "min_count"), [(15, 1), (15, 2), (31, 1), (63, 1)])
def test_graph_of_noisy_reads_is_cleaned_soundly(k, min_count):
    graph = observed_graph(noisy_reads(k, 200), k, min_count)
    cleaned, sources, removed = clean(graph)
    assert_sound(graph, cleaned, sources)
    assert removed.total > 0
    assert removed.rounds >= 3


@pytest.mark.parametrize("k", [21, 31])
def test_errors_are_removed_and_the_genome_is_kept(k):
    genome = simulated_genome(length=3000, seed=k)
    graph = observed_graph(simulated_texts(genome, fold=40, length=100, error_rate=0.005, circular=True), k, 2)
    cleaned, _, removed = clean(graph)
    assert graph.n > 10
    assert cleaned.n == 1
    assert cleaned.is_circular[0]
    assert kmers_of(cleaned) == set(count_kmers([decode(genome) + decode(genome[: k - 1])], k))
    assert removed.total > 10


def test_clean_graph_is_not_changed():
    genome = decode(simulated_genome(length=9000, repeats=4))
    graph = observed_graph([genome[i : i + 100] for i in range(0, 8901, 5)], 31)
    cleaned, sources, removed = clean(graph)
    assert removed.total == 0
    assert np.array_equal(cleaned.bases, graph.bases)
    assert np.array_equal(sources.oriented, SourceUnitigs.identity(graph.n).oriented)


def test_variants_of_a_repeat_are_kept():
    """One of seven copies of an element differs at a base, which must be kept."""
    rng = np.random.default_rng(3)
    element = decode(rng.integers(0, 4, 300))
    changed = element[:150] + ("A" if element[150] != "A" else "C") + element[151:]
    flanks = [decode(rng.integers(0, 4, 700)) for _ in range(8)]
    genome = flanks[0] + "".join((changed if i == 3 else element) + flank for i, flank in enumerate(flanks[1:]))
    codes = np.array(["ACGT".index(base) for base in genome], np.uint8)
    graph = observed_graph(simulated_texts(codes, fold=40, length=100, error_rate=0.002), 31, 2)
    cleaned, _, _ = clean(graph)
    kept = kmers_of(cleaned)
    assert set(count_kmers([changed[125:176]], 31)) <= kept
    assert len(set(count_kmers([genome[100:-100]], 31)) - kept) == 0


def test_result_does_not_depend_on_strands():
    texts = noisy_reads(5, 150)
    reverse = [reverse_complement(text) if "N" not in text else text for text in texts]
    one, other = (clean(observed_graph(reads, 31))[0] for reads in (texts, reverse))
    assert np.array_equal(one.bases, other.bases)


@pytest.mark.parametrize(("depth", "is_kept"), [(2.7, False), (2.8, True), (12.0, True)])
def test_protected_depth_keeps_a_branch(depth, is_kept):
    graph, _ = graph_of(
        [("in", 900, 60.0), ("out", 900, 60.0), ("main", 40, 60.0), ("rare", 40, depth)],
        "in>main main>out in>rare rare>out",
    )
    removed, protected = clean(graph)[2], clean(graph, protected_depth=2.75)[2]
    assert removed.low_coverage_edges + removed.bubbles == 1
    assert protected.low_coverage_edges + protected.bubbles == (0 if is_kept else 1)


@pytest.mark.parametrize(
    ("depth", "in_meta", "in_isolate"), [(12.0, False, True), (17.0, False, True), (2.0, True, True)]
)
@pytest.mark.parametrize(("rule", "other"), [("bubbles", "low-coverage-edges"), ("low_coverage_edges", "bubbles")])
def test_minor_genome_keeps_its_branches(rule, other, depth, in_meta, in_isolate):
    """Related genomes of different depth share short stretches."""
    both, e_coli = 70.0 + depth, 70.0
    flanks = [("e1", 900, e_coli), ("e2", 900, e_coli), ("f1", 800, depth), ("f2", 800, depth)]
    unitigs = [*flanks, ("s1", 20, both), ("s2", 20, both), ("a", 31, e_coli), ("b", 31, depth)]
    graph, _ = graph_of(unitigs, "e1>s1 f1>s1 s1>a s1>b a>s2 b>s2 s2>e2 s2>f2")
    for mode, is_removed in (("meta", in_meta), ("isolate", in_isolate)):
        own = Mode(mode, "as requested", error_rate=0.003)
        removed = clean(graph, mode=own, without=("superbubbles", "tips", other))[2]
        assert (getattr(removed, rule) == 1) is is_removed


@pytest.mark.parametrize("kmers", [20, 300])
def test_rare_edge_between_long_unitigs_is_removed_from_a_community(kmers):
    unitigs = [("a1", 900, 50.0), ("a2", 900, 50.0), ("s1", kmers, 54.0), ("s2", kmers, 54.0)]
    graph, _ = graph_of([*unitigs, ("a", 31, 50.0), ("b", 31, 7.0)], "a1>s1 s1>a s1>b a>s2 b>s2 s2>a2")
    removed = clean(graph, mode=Mode("meta", "of many"), without=("superbubbles", "bubbles", "tips"))[2]
    assert (removed.low_coverage_edges == 1) is (kmers == 300)
