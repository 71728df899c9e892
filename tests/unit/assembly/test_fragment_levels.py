"""Which values of k reads are taken to before fragments take their place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuasm.assembly import AssemblyOptions, assemble, next_level, resume
from gpuasm.assembly.carrying import contradicted
from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.carrying.mates import SpanningPairs
from gpuasm.assembly.cleaning import cleaning
from gpuasm.assembly.fragment_levels import ladder_of_reads
from gpuasm.assembly.ladder import choose_k
from gpuasm.assembly.pairs.joining import number_of_fragment, with_reads_counted
from gpuasm.assembly.state_arrays import state_from_arrays, state_to_arrays
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.graphs import graph_of
from tests.samples import simulated_pairs

LENGTHS = np.bincount([150] * 100_000)
LADDER = choose_k(LENGTHS, first=21)


def taken(unitigs, **options):
    """The values of k before any pair is joined: see `chosen`."""
    return chosen(unitigs, **options)[0]


def chosen(unitigs, *, is_one_organism=False, insert=400, ladder=LADDER):
    """The values of k for reads of 150 bases, of fragments of one length, over a graph of given depths."""
    graph, _ = graph_of([(f"u{i}", n_kmers, depth) for i, (n_kmers, depth) in enumerate(unitigs)], k=21)
    inserts = InsertSizes(np.bincount([insert] * 1000), bases_per_pair=300)
    spanning = SpanningPairs(Reads.from_strings([]), inserts, n_pairs=50_000)
    return ladder_of_reads(ladder, graph, spanning, lengths=LENGTHS, is_one_organism=is_one_organism)


def test_one_organism_goes_by_its_typical_depth():
    assert LADDER == (21, 41, 77, 113, 133, 141)
    assert taken([(9000, 60.0), (1000, 5.0)], is_one_organism=True) == (21, 41, 77, 113)
    assert taken([(9000, 20.0), (1000, 5.0)], is_one_organism=True) == (21, 41, 77)
    assert taken([(9000, 6.0)], is_one_organism=True) == (21,)


@pytest.mark.parametrize(
    ("thin", "last"),
    [((1000, 60.0), 113), ((1000, 20.0), 77), ((999, 20.0), 113), ((1000, 9.0), 41), ((1000, 4.0), 41)],
)
def test_a_community_goes_by_its_thin_members(thin, last):
    """At k = 77 a member at 9x has 4.4 windows a position, and loses junctions; of fragments it has 7."""
    assert taken([(9000, 60.0), thin])[-1] == last


@pytest.mark.parametrize("is_one_organism", [False, True])
def test_where_fragments_are_short_reads_go_all_the_way(is_one_organism):
    assert chosen([(9000, 20.0), (1000, 5.0)], insert=160, is_one_organism=is_one_organism) == (LADDER, ())


def test_a_ladder_of_one_stays():
    assert taken([(9000, 60.0), (1000, 4.0)], ladder=(21,)) == (21,)


@pytest.mark.parametrize(
    ("unitigs", "deeper"),
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
def test_reads_of_deep_members_go_on(unitigs, deeper):
    """Where a tenth of the sequence is deep: as far as one organism so deep is taken, and 99 on the way."""
    first, then = chosen(unitigs)
    assert then == deeper
    if then:
        alone = taken([(1000, max(depth for _, depth in unitigs))], is_one_organism=True)
        assert {*first, *then} - {99} == set(alone)
    assert chosen(unitigs, is_one_organism=True)[1] == ()


def member(*, length, repeats, seed):
    """A random genome in which each of some repeats stands three times."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, length).astype(np.uint8)
    elements = [rng.integers(0, 4, size).astype(np.uint8) for size in repeats]
    places = 300 + 600 * rng.permutation(length // 600 - 1)[: 3 * len(elements)]
    for number, at in enumerate(places.tolist()):
        element = elements[number % len(elements)]
        codes[at : at + element.size] = element
    return codes


DEEP, THIN = (
    member(length=15_000, repeats=repeats, seed=seed) for seed, repeats in ((1, (60, 90, 130)), (2, (50, 60)))
)


@pytest.fixture(scope="module")
def mixture():
    """Pairs of a member of 60x, then pairs of one of 10x; how many of the first; and the states of the assembly."""
    options = {"length": 150, "insert": 350, "sd": 30, "error_rate": 0.002}
    texts = [simulated_pairs(g, fold=fold, seed=3, **options) for g, fold in ((DEEP, 60), (THIN, 10))]
    reads, states = Reads.from_strings([*texts[0], *texts[1]], paired=True), []
    whole = assemble(reads, AssemblyOptions(mode="meta"), keep_state=states.append)
    return reads, len(texts[0]) // 2, states, whole


def test_what_no_pair_is_joined_over_goes_on_as_reads(mixture):
    _, n_deep, states, _ = mixture
    ladders = [(state.level.graph.k, state.ladder[-1], state.is_joined) for state in states]
    assert ladders[:3] == [(21, 41, False), (41, 77, False), (77, 99, False)]
    assert ladders[3] == (99, 113, False)
    assert all(is_joined for _, _, is_joined in ladders[4:])
    waiting = states[1].crossing.read
    pairs = number_of_fragment(waiting[waiting < -1])
    assert (pairs >= n_deep).sum() > 50
    assert (pairs < n_deep).sum() > 500
    reads = [state.crossing.read[state.crossing.read >= 0] for state in states[:5]]
    assert 0 < reads[1].size < reads[0].size / 10
    assert (reads[4] // 2 < n_deep).all()
    assert set(reads[4].tolist()) < set(reads[1].tolist())


def test_no_read_goes_on_beside_fragments_where_that_is_left_out(mixture):
    reads, _, states, _ = mixture
    options = AssemblyOptions(mode="meta", stop_after="first-graph", without=("deep-reads",))
    state = assemble(reads, options).state
    assert states[0].deeper == (77, 99, 113)
    assert (state.ladder, state.deeper) == (states[0].ladder, ())


def test_a_pair_is_joined_once(mixture):
    for state in mixture[2]:
        number = state.crossing.read
        pairs = number_of_fragment(number[number < -1])
        assert np.unique(pairs).size == pairs.size


def test_both_members_come_out_as_alone(mixture):
    contigs = [contig.sequence for contig in mixture[3].contigs if contig.length > 1000]
    for genome, least in ((DEEP, 14_900), (THIN, 5_000)):
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
def test_fragments_are_believed_where_depth_tells_copies(mixture, monkeypatch, name):
    """They hold what they show, and give up flanks that they contradict: not in a population."""
    shown, given_up = [], []
    monkeypatch.setattr(next_level, "clean", lambda *_, shown_from, **__: shown.append(shown_from) or cleaned(*_, **__))
    monkeypatch.setattr(next_level, "contradicted_by_fragments", lambda *_, **__: given_up.append(0) or asked(*_, **__))
    cleaned, asked = cleaning.clean, contradicted.contradicted_by_fragments
    joined = next(state for state in mixture[2] if state.is_joined)
    for state in (joined, replace(joined, is_joined=False)):
        mode = replace(state.mode, name="isolate" if name == "isolate" else "meta", is_population=name == "population")
        assert mode.tells_copies == (name != "population")
        next_level.climb(replace(state, mode=mode), state.remaining[0], Stages())
    assert np.isfinite(shown).tolist() == [name != "population", False]
    assert len(given_up) == (name != "population")


def test_reads_count_among_fragments_as_often_as_asked():
    pieces = Reads.from_strings(["ACGTACGTAC", "GGGTTTAAAC", "TTGACCATGA"])
    pieces = replace(pieces, read=np.array([0, number_of_fragment(7), 2]))
    assert number_of_fragment(pieces.read[1]) == 7
    for times in (1, 2, 5):
        counted = with_reads_counted(pieces, times)
        assert sorted(counted.start.tolist()) == sorted([10] + [0, 20] * times)
