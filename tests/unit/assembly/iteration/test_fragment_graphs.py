"""The values of k of reads and of fragments, and the states of an assembly with both."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from gpuasm.assembly import AssemblyOptions, assemble, resume
from gpuasm.assembly.iteration import next_graph
from gpuasm.assembly.iteration.fragment_graphs import choose_longer_k, k_values_of_reads
from gpuasm.assembly.iteration.k_values import choose_k
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.links import SpanningPairs
from gpuasm.assembly.paths.pseudo_long_reads import number_of_fragment, with_reads_counted
from gpuasm.assembly.state import state_from_arrays, state_to_arrays
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.graphs import graph_of
from tests.samples import simulated_pairs

LENGTHS = np.bincount([150] * 100_000)
K_VALUES = choose_k(LENGTHS, first=21)


def k_values_of(unitigs, **options):
    """The values of k before any pair is joined: see `chosen`."""
    return chosen(unitigs, **options)[0]


def chosen(unitigs, *, is_one_organism=False, insert=400, k_values=K_VALUES):
    """The values of k for reads of 150 bases, of fragments of one length, over a graph of given depths."""
    graph, _ = graph_of([(f"u{i}", n_kmers, depth) for i, (n_kmers, depth) in enumerate(unitigs)], k=21)
    inserts = InsertSizes(np.bincount([insert] * 1000), bases_per_pair=300)
    spanning = SpanningPairs(Reads.from_strings([]), inserts, n_pairs=50_000)
    return k_values_of_reads(k_values, graph, spanning, lengths=LENGTHS, is_one_organism=is_one_organism)


def test_one_organism_uses_its_typical_depth():
    assert K_VALUES == (21, 41, 77, 113, 133, 141)
    assert k_values_of([(9000, 60.0), (1000, 5.0)], is_one_organism=True) == (21, 41, 77, 113)
    assert k_values_of([(9000, 20.0), (1000, 5.0)], is_one_organism=True) == (21, 41, 77)
    assert k_values_of([(9000, 6.0)], is_one_organism=True) == (21,)


@pytest.mark.parametrize(
    ("minor", "last"),
    [((1000, 60.0), 113), ((1000, 20.0), 77), ((999, 20.0), 113), ((1000, 9.0), 41), ((1000, 4.0), 41)],
)
def test_community_uses_the_depth_of_minor_genomes(minor, last):
    """At k = 77 a genome at 9x has 4.4 windows a position in reads, and loses junctions; in fragments it has 7."""
    assert k_values_of([(9000, 60.0), minor])[-1] == last


@pytest.mark.parametrize("is_one_organism", [False, True])
def test_short_fragments_leave_all_k_to_reads(is_one_organism):
    assert chosen([(9000, 20.0), (1000, 5.0)], insert=160, is_one_organism=is_one_organism) == (K_VALUES, ())


def test_single_k_is_kept():
    assert k_values_of([(9000, 60.0), (1000, 4.0)], k_values=(21,)) == (21,)


@pytest.mark.parametrize(
    ("unitigs", "high_coverage_k"),
    [
        ([(8000, 60.0), (2000, 9.0)], (77, 99, 113)),
        ([(8000, 20.0), (2000, 9.0)], (77, 99)),
        ([(8000, 16.0), (2000, 9.0)], (77,)),
        ([(9001, 9.0), (999, 60.0)], ()),
        ([(8999, 9.0), (1001, 60.0)], (77, 99, 113)),
        ([(10_000, 60.0)], ()),
        ([(10_000, 45.0)], (99,)),
    ],
)
def test_reads_of_dominant_genomes_use_larger_k(unitigs, high_coverage_k):
    """Where a tenth of the sequence has high coverage: the values of k of one organism at this coverage, and 99."""
    first, then = chosen(unitigs)
    assert then == high_coverage_k
    if then:
        alone = k_values_of([(1000, max(depth for _, depth in unitigs))], is_one_organism=True)
        assert {*first, *then} - {99} == set(alone)
    assert chosen(unitigs, is_one_organism=True)[1] == ()


def random_genome(*, length, repeats, seed):
    """A random genome that contains each of some repeats three weight."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, length).astype(np.uint8)
    elements = [rng.integers(0, 4, size).astype(np.uint8) for size in repeats]
    places = 300 + 600 * rng.permutation(length // 600 - 1)[: 3 * len(elements)]
    for number, at in enumerate(places.tolist()):
        element = elements[number % len(elements)]
        codes[at : at + element.size] = element
    return codes


DOMINANT, MINOR = (
    random_genome(length=15_000, repeats=repeats, seed=seed) for seed, repeats in ((1, (60, 90, 130)), (2, (50, 60)))
)


@pytest.fixture(scope="module")
def mixture():
    """Pairs of a genome at 60x, then of one at 10x; how many are of the first; and the states of the assembly."""
    options = {"length": 150, "insert": 350, "sd": 30, "error_rate": 0.002}
    texts = [simulated_pairs(g, fold=fold, seed=3, **options) for g, fold in ((DOMINANT, 60), (MINOR, 10))]
    reads, states = Reads.from_strings([*texts[0], *texts[1]], paired=True), []
    whole = assemble(reads, AssemblyOptions(mode="meta"), keep_state=states.append)
    return reads, len(texts[0]) // 2, states, whole


def test_unjoined_pairs_are_passed_on_as_reads(mixture):
    _, n_dominant, states, _ = mixture
    values = [(state.kmer_graph.graph.k, state.k_values[-1], state.is_joined) for state in states]
    assert values[:3] == [(21, 41, False), (41, 77, False), (77, 99, False)]
    assert values[3] == (99, 113, False)
    assert all(is_joined for _, _, is_joined in values[4:])
    waiting = states[1].junction_reads.read
    pairs = number_of_fragment(waiting[waiting < -1])
    assert (pairs >= n_dominant).sum() > 50
    assert (pairs < n_dominant).sum() > 500
    reads = [state.junction_reads.read[state.junction_reads.read >= 0] for state in states[:5]]
    assert 0 < reads[1].size < reads[0].size / 10
    assert (reads[4] // 2 < n_dominant).all()
    assert set(reads[4].tolist()) < set(reads[1].tolist())


def test_high_coverage_reads_can_be_left_out(mixture):
    reads, _, states, _ = mixture
    options = AssemblyOptions(mode="meta", stop_after="first-graph", without=("high-coverage-reads",))
    state = assemble(reads, options).state
    assert states[0].high_coverage_k == (77, 99, 113)
    assert (state.k_values, state.high_coverage_k) == (states[0].k_values, ())


def test_a_pair_is_joined_once(mixture):
    for state in mixture[2]:
        number = state.junction_reads.read
        pairs = number_of_fragment(number[number < -1])
        assert np.unique(pairs).size == pairs.size


def test_both_genomes_are_assembled(mixture):
    contigs = [contig.sequence for contig in mixture[3].contigs if contig.length > 1000]
    for genome, least in ((DOMINANT, 14_900), (MINOR, 5_000)):
        text = decode(genome) + "-" + decode(reverse_complement(genome))
        assert max(len(contig) for contig in contigs if contig in text) > least
        assert sum(len(contig) for contig in contigs if contig in text) > 14_500


def test_every_state_of_a_mixture_leads_to_the_same_contigs(mixture):
    reads, _, states, whole = mixture
    for state in states[1:5]:
        again = state_from_arrays(state_to_arrays(state), np)
        resumed = resume(again, reads, AssemblyOptions(mode="meta"), stages=Stages())
        assert [c.sequence for c in resumed.contigs] == [c.sequence for c in whole.contigs]
        assert resumed.k == whole.k


@pytest.mark.parametrize("name", ["isolate", "meta", "population"])
def test_fragments_are_used_where_depth_shows_copies(mixture, monkeypatch, name):
    """They protect unitigs and remove unsupported flanks, except in a population."""
    shown, checked = [], []
    cleaned, find = next_graph.clean, next_graph.unsupported_by_fragments
    monkeypatch.setattr(
        next_graph, "clean", lambda *_, protected_depth, **__: shown.append(protected_depth) or cleaned(*_, **__)
    )
    monkeypatch.setattr(next_graph, "unsupported_by_fragments", lambda *_, **__: checked.append(0) or find(*_, **__))
    joined = next(state for state in mixture[2] if state.is_joined)
    for state in (joined, replace(joined, is_joined=False)):
        kept = {"keeps_variants": name == "meta", "is_population": name == "population"}
        mode = replace(state.mode, name="isolate" if name == "isolate" else "meta", **kept)
        assert ("fragment-support" in mode.rules()) == (name != "population")
        next_graph.build_next_graph(replace(state, mode=mode), state.remaining[0], Stages())
    assert np.isfinite(shown).tolist() == [name != "population", False]
    assert len(checked) == (name != "population")


def test_reads_count_by_their_weight():
    segments = Reads.from_strings(["ACGTACGTAC", "GGGTTTAAAC", "TTGACCATGA"])
    segments = replace(segments, read=np.array([0, number_of_fragment(7), 2]))
    assert number_of_fragment(segments.read[1]) == 7
    for weight in (1, 2, 5):
        counted = with_reads_counted(segments, weight)
        assert sorted(counted.start.tolist()) == sorted([10] + [0, 20] * weight)


@pytest.mark.parametrize(("k", "expected"), [(11, False), (15, False), (17, True), (31, True)])
def test_no_larger_k_that_cannot_be_named(k, expected):
    lengths = np.bincount([300] * 1000)
    chosen = choose_longer_k(k, lengths, depth=50.0, n_bases=50_000)
    assert bool(chosen) == expected
    assert all(before < after <= 2 * before for before, after in itertools.pairwise((k, *chosen)))
