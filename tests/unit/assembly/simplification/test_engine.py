"""Clean-up as a whole: what it may never do, and what reads of a genome come out as."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.coverage.sample_mode import Mode
from gpuasm.assembly.graph.compaction import SourceUnitigs, compact
from gpuasm.assembly.graph.unitigs_of_reads import unitigs_of_reads
from gpuasm.assembly.simplification.engine import clean
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.graphs import graph_of
from tests.oracles.kmers import count_kmers, reverse_complement
from tests.samples import simulated_genome, simulated_texts
from tests.unit.assembly.graph.test_compaction import assert_arcs_overlap, assert_sources_spell, kmers_of
from tests.unit.kmers.test_tally import noisy_reads


def observed_graph(texts, k, min_count=1):
    return unitigs_of_reads(Reads.from_strings(texts), k, min_count=min_count, observed=True)


def assert_sound(graph, cleaned, sources):
    """Assert that a cleaned graph holds no k-mer that was not there, none twice, and has nothing left to join."""
    kmers = kmers_of(cleaned)
    assert kmers <= kmers_of(graph)
    assert cleaned.n_kmers.sum() == len(kmers)
    assert_sources_spell(sources, graph, cleaned)
    assert_arcs_overlap(cleaned)
    again, _ = compact(cleaned, SourceUnitigs.identity(cleaned.n))
    assert again.n == cleaned.n


def test_islands_stay_while_they_may_be_bridged():
    genome = decode(simulated_genome(length=1200, seed=3))
    texts = [genome[:1000]] * 9 + [genome[1050:1090]] * 2
    graph = observed_graph(texts, 31, min_count=2)
    assert graph.n == 2
    assert clean(graph)[0].n == 1
    assert clean(graph, keep_isolated=True)[0].n == 2


@given(texts=st.lists(st.text("ACGT", max_size=40), min_size=1, max_size=12), k=st.sampled_from([3, 5, 7]))
def test_any_graph_stays_sound(texts, k):
    graph = observed_graph(texts, k)
    assert_sound(graph, *clean(graph)[:2])


@pytest.mark.parametrize(("k", "min_count"), [(15, 1), (15, 2), (31, 1), (63, 1)])
def test_graphs_of_noisy_reads_stay_sound(k, min_count):
    graph = observed_graph(noisy_reads(k, 200), k, min_count)
    cleaned, sources, removed = clean(graph)
    assert_sound(graph, cleaned, sources)
    assert removed.total > 0
    assert removed.rounds >= 3


@pytest.mark.parametrize("k", [21, 31])
def test_errors_go_and_the_genome_stays(k):
    genome = simulated_genome(length=3000, seed=k)
    graph = observed_graph(simulated_texts(genome, fold=40, length=100, error_rate=0.005, circular=True), k, 2)
    cleaned, _, removed = clean(graph)
    assert graph.n > 10
    assert cleaned.n == 1
    assert cleaned.is_circular[0]
    assert kmers_of(cleaned) == set(count_kmers([decode(genome) + decode(genome[: k - 1])], k))
    assert removed.total > 10


def test_a_clean_graph_stays_as_it_is():
    genome = decode(simulated_genome(length=9000, repeats=4))
    graph = observed_graph([genome[i : i + 100] for i in range(0, 8901, 5)], 31)
    cleaned, sources, removed = clean(graph)
    assert removed.total == 0
    assert np.array_equal(cleaned.bases, graph.bases)
    assert np.array_equal(sources.oriented, SourceUnitigs.identity(graph.n).oriented)


def test_variants_of_a_repeat_stay():
    """Seven copies of an element, one of which differs at a base: no copy's own base may be lost."""
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


def test_both_strands_are_cleaned_alike():
    texts = noisy_reads(5, 150)
    turned = [reverse_complement(text) if "N" not in text else text for text in texts]
    one, other = (clean(observed_graph(reads, 31))[0] for reads in (texts, turned))
    assert np.array_equal(one.bases, other.bases)


@pytest.mark.parametrize(("depth", "stays"), [(2.7, False), (2.8, True), (12.0, True)])
def test_what_is_shown_stays_however_deep_others_are(depth, stays):
    graph, _ = graph_of(
        [("in", 900, 60.0), ("out", 900, 60.0), ("deep", 40, 60.0), ("thin", 40, depth)],
        "in>deep deep>out in>thin thin>out",
    )
    assert clean(graph, without=("superbubbles",))[2].total == 1
    assert clean(graph, without=("superbubbles",), protected_depth=2.75)[2].total == (0 if stays else 1)


@pytest.mark.parametrize(("depth", "of_many", "of_one"), [(12.0, False, True), (17.0, False, True), (2.0, True, True)])
@pytest.mark.parametrize(
    ("rule", "other"), [("bubbles", "low-coverage-edges"), ("low_coverage_edges", "bubbles")]
)
def test_of_related_members_the_shallower_keeps_its_branches(rule, other, depth, of_many, of_one):
    """S. enterica, 17-fold beside E. coli's 55, had lost a tenth of its genome; what errors make goes all the same.

    Genes of ribosomal proteins are alike word by word: S. suis, 26-fold beside 130-fold S. pneumoniae, lost theirs.
    """
    both, e_coli = 70.0 + depth, 70.0
    flanks = [("e1", 900, e_coli), ("e2", 900, e_coli), ("f1", 800, depth), ("f2", 800, depth)]
    unitigs = [*flanks, ("s1", 20, both), ("s2", 20, both), ("a", 31, e_coli), ("b", 31, depth)]
    graph, _ = graph_of(unitigs, "e1>s1 f1>s1 s1>a s1>b a>s2 b>s2 s2>e2 s2>f2")
    for mode, goes in (("meta", of_many), ("isolate", of_one)):
        own = Mode(mode, "as requested", error_rate=0.003)
        removed = clean(graph, mode=own, without=("superbubbles", "tips", other))[2]
        assert (getattr(removed, rule) == 1) is goes


@pytest.mark.parametrize("kmers", [20, 300])
def test_a_rare_connection_between_long_unitigs_goes_from_a_community_too(kmers):
    """Of a circle of 2,751 bases, 24-fold in a phage's sample, a few reads' other way had made a linear contig."""
    unitigs = [("a1", 900, 50.0), ("a2", 900, 50.0), ("s1", kmers, 54.0), ("s2", kmers, 54.0)]
    graph, _ = graph_of([*unitigs, ("a", 31, 50.0), ("b", 31, 7.0)], "a1>s1 s1>a s1>b a>s2 b>s2 s2>a2")
    removed = clean(graph, mode=Mode("meta", "of many"), without=("superbubbles", "bubbles", "tips"))[2]
    assert (removed.low_coverage_edges == 1) is (kmers == 300)
