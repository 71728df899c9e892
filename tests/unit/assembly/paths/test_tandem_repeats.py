"""Tandem repeats that nothing spans: the correct number of units, or none."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpuasm.assembly.alignment.read_threading import MOST_UNITIGS, GraphArrays
from gpuasm.assembly.coverage.sample_mode import Mode
from gpuasm.assembly.ends.end_overlaps import find_linked_overlaps
from gpuasm.assembly.options import AssemblyOptions, rules_without
from gpuasm.assembly.pairs.link_evidence import Gap
from gpuasm.assembly.pairs.links import Links, without_pairs_within
from gpuasm.assembly.paths.repeat_resolution import resolve, resolve_pairs
from gpuasm.assembly.paths.repeats import copies_by_depth, find_tandem_repeats, unevenness
from gpuasm.assembly.pipeline import assemble
from gpuasm.kmers.spectrum import analyse_spectrum
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests import repeat_graphs as made
from tests.graphs import graph_of
from tests.oracles import tandem_repeats as oracle
from tests.samples import simulated_pairs

READ, EVEN = 100.0, 0.0
A, C = made.random_text(12_000, 60), made.random_text(12_000, 61)


def planted(unit, copies, part, seed=62):
    """Return a tandem of whole units and a part of one more."""
    text = made.random_text(unit, seed)
    return text * copies + text[:part]


def tandems_of(graph, *, uneven=EVEN, may_join=None):
    may = np.ones(2 * graph.n, dtype=bool) if may_join is None else may_join
    return find_tandem_repeats(graph, may, read_length=READ, uneven=uneven)


def made_graph(genome, *, fold=made.FOLD, noise=0.0):
    """Return the graph of a genome whose depth deviates by a share within the tandem."""
    graph = made.graph_of(genome)
    is_long = graph.length > 10_000
    count = np.where(is_long, graph.count, np.round(graph.count * (1 + noise)))
    return replace(graph, count=(count * fold // made.FOLD).astype(np.int64))


@settings(max_examples=60, deadline=None)
@given(
    unit=st.integers(20, 200),
    copies=st.integers(3, 12),
    part=st.integers(0, 199),
    noise=st.floats(-0.15, 0.15),
    fold=st.sampled_from([20, 60, 200]),
)
def test_a_planted_tandem_has_the_correct_number_of_units_or_stays_open(unit, copies, part, noise, fold):
    """Depth deviates by up to three standard deviations: then a wrong number must not be chosen."""
    tandem = planted(unit, copies, part % unit)
    bases = len(tandem)
    chance = math.sqrt(READ / (fold * bases))
    noise = max(-3 * chance, min(3 * chance, noise))
    graph = made_graph(A + tandem + C, fold=fold, noise=noise)
    for one in tandems_of(graph):
        length, period = int(graph.length[one.repeat >> 1]), unit
        # The graph's repeat may have a base more at either end, if its flanks begin alike.
        span = length + one.n_units * period
        assert span - bases < 12, (span, bases)
        assert bases <= span


def test_planted_tandems_are_resolved_at_exact_depth():
    for unit, copies in [(200, 3), (150, 3), (120, 4), (190, 4), (100, 5)]:
        graph = made_graph(A + planted(unit, copies, unit // 3) + C, fold=400)
        assert len(tandems_of(graph)) == 1, (unit, copies)


@settings(max_examples=150, deadline=None)
@given(
    copies=st.floats(0.3, 12),
    one=st.floats(3, 300),
    length=st.integers(70, 900),
    period=st.integers(20, 799),
    uneven=st.floats(0, 0.05),
)
def test_copies_equal_those_of_the_definition(copies, one, length, period, uneven):
    given_ = {"length": length, "period": period, "read_length": READ, "uneven": uneven}
    found = copies_by_depth(copies * one, one, **given_)
    assume(found == 0 or abs(copies - found) < 3)
    slow = oracle.copies(copies * one, one, **given_)
    assert slow in (found, 0)  # the oracle treats densities below the float range as none
    if found and slow:
        assert abs(copies - found) < 1


def test_uneven_depth_has_no_copy_number():
    given_ = {"length": 700, "period": 400, "read_length": READ}
    assert copies_by_depth(80.0, 40.0, uneven=0.0, **given_) == 2
    assert copies_by_depth(80.0, 40.0, uneven=0.02, **given_) == 0
    assert copies_by_depth(80.0, 40.0, uneven=math.inf, **given_) == 0
    assert copies_by_depth(100.0, 40.0, uneven=0.0, **given_) == 0  # two and a half
    assert copies_by_depth(40.0 * 11, 40.0, uneven=0.0, length=5000, period=700, read_length=1.0) == 0


UNITIGS = {"a": (9000, 40.0), "r": (300, 80.0), "b": (60, 40.0), "c": (8000, 40.0), "x": (900, 40.0)}
LOOP = "a>r b>r r>b r>c"


@pytest.mark.parametrize(
    ("arcs", "changed", "n_units"),
    [
        (LOOP, {}, 1),
        ("-c>-r -b>-r -r>-b -r>-a", {}, 1),
        (LOOP, {"r": (300, 120.0), "b": (60, 80.0)}, 2),
        (LOOP, {"r": (300, 100.0)}, 0),  # two and a half copies
        (LOOP, {"b": (60, 15.0)}, 0),  # too low depth
        (LOOP, {"b": (60, 140.0)}, 0),
        (LOOP, {"r": (300, 40.0)}, 0),  # no second copy
        (LOOP, {"c": (8000, 60.0)}, 0),
        (LOOP, {"b": (300, 40.0)}, 1),
        (LOOP, {"b": (800, 40.0)}, 0),  # may be a plasmid
        (LOOP + " b>x", {}, 0),
        (LOOP + " a>x", {}, 0),
        (LOOP + " x>c", {}, 0),
        (LOOP + " r>x", {}, 0),
        ("a>r r>r r>c", {}, 0),
        ("a>r b>r r>-b r>c", {}, 0),
        ("a>r b>r r>b r>-a", {}, 0),
    ],
)
def test_tandem_repeats_are_found(arcs, changed, n_units):
    graph, _ = graph_of([(name, *own) for name, own in (UNITIGS | changed).items() if name != "x" or "x" in arcs], arcs)
    rng = np.random.default_rng(3)
    graph = replace(graph, bases=rng.integers(0, 4, graph.bases.size).astype(np.uint8))
    found = tandems_of(graph)
    assert [one.n_units for one in found] == ([n_units] if n_units else [])
    seen = {(one.before, one.repeat, one.between, one.after) for one in found}
    cycles = oracle.cycles(graph)
    assert seen <= cycles
    assert (len(cycles) == 2) or not found


@pytest.mark.parametrize("end", ["a", "-c"])
def test_a_repeat_with_an_end_that_may_not_be_joined_stays_open(end):
    graph, number = graph_of([(name, *own) for name, own in UNITIGS.items() if name != "x"], LOOP)
    graph = replace(graph, bases=np.random.default_rng(3).integers(0, 4, graph.bases.size).astype(np.uint8))
    may_join = np.ones(2 * graph.n, dtype=bool)
    may_join[2 * number[end.lstrip("-")] + end.startswith("-")] = False
    assert tandems_of(graph)
    assert not tandems_of(graph, may_join=may_join)


TANDEM = planted(350, 2, 300)  # no fragment spans the part that all units share
GENOME = A + TANDEM + C


@pytest.mark.parametrize("unit", [350, 420])
@pytest.mark.parametrize("copies", [2, 3])
def test_the_resolved_graph_is_the_genome(unit, copies):
    genome = A + planted(unit, copies, 300) + C
    resolution = resolve(made.graph_of(genome), made.pairs_of(genome, mean=260))
    assert resolution.counts["tandem_repeats"] == 1
    assert made.texts_of(resolution.graph) == [made.either_strand(genome)]


def test_the_rule_can_be_left_out():
    resolution = resolve(made.graph_of(GENOME), made.pairs_of(GENOME, mean=260), rules=rules_without(("repeats",)))
    assert resolution.counts["tandem_repeats"] == 0
    assert resolution.graph.n > 1


def test_a_unit_that_occurs_elsewhere_stays():
    other = made.random_text(5000, 65)
    elsewhere = other + TANDEM[:40] + made.random_text(5000, 66)  # too few bases for an edge
    assert oracle.cycles(made.graph_of(GENOME, elsewhere))
    resolution = resolve(made.graph_of(GENOME, elsewhere), made.pairs_of(GENOME, elsewhere, mean=260))
    assert resolution.counts["tandem_repeats"] == 0


def test_uneven_depth_decides_nothing():
    resolution = resolve(made.graph_of(GENOME), made.pairs_of(GENOME, mean=260), uneven=0.05)
    assert resolution.counts["tandem_repeats"] == 0


def spectrum_of(depth, spread=1.0, n=400_000):
    rng = np.random.default_rng(7)
    mean = rng.gamma(1 / spread, depth * spread, n) if spread < 1 else depth
    return analyse_spectrum(np.bincount(rng.poisson(mean, n)), 31)


@pytest.mark.parametrize(("depth", "spread"), [(30, 0.01), (60, 0.02), (60, 0.05)])
def test_unevenness_is_measured(depth, spread):
    assert unevenness(spectrum_of(depth, spread)) == pytest.approx(spread, rel=0.4)


@pytest.mark.parametrize("depth", [20, 45, 90])
def test_chance_alone_is_even(depth):
    assert unevenness(spectrum_of(depth)) < 0.004


def test_a_spectrum_without_a_peak_is_infinitely_uneven():
    assert unevenness(analyse_spectrum(np.array([0, 100, 10, 1, 0]), 31)) == math.inf


@pytest.mark.parametrize(("mode", "n_found"), [("isolate", 1), ("meta", 0)])
def test_the_rule_is_not_used_for_several_organisms(mode, n_found):
    kmer_graph, pairs = SimpleNamespace(graph=made.graph_of(GENOME)), made.pairs_of(GENOME, mean=260)
    rest = {"rules": Mode(mode, "").rules(), "repeat_kmers": None, "spectrum": spectrum_of(60)}
    state = SimpleNamespace(kmer_graph=kmer_graph, spanning=pairs, mode=Mode(mode, ""), **rest)
    stages = Stages()
    resolve_pairs(state, stages)
    assert stages.records[0].counts["tandem_repeats"] == n_found


def test_an_end_with_an_additional_unit_is_not_joined():
    """The second end has an additional unit: the overlap is a unit off the distance of the pairs."""
    unit = made.random_text(45, 70)
    before, after = A[-500:] + unit * 3, unit[-10:] + unit * 5 + C[:500]
    graph, number = graph_of([("x", len(before) - 30, 40.0), ("y", len(after) - 30, 40.0)], "x>x y>y")
    graph = replace(graph, bases=encode(before + after), k=161)
    ends = 2 * number["x"], 2 * number["y"]
    assert find_linked_overlaps(graph, Gap(*ends, -100, 0.0, 3)) == [100]
    assert find_linked_overlaps(graph, Gap(*ends, -138, 12.0, 3)) == [100, 0]


def links_of(rows):
    """Return links of (source, target, left, right) of each pair, grouped by link."""
    keys = sorted({row[:2] for row in rows})
    ordered = [(number, row) for key in keys for number, row in enumerate(rows) if row[:2] == key]
    first = np.cumsum([0, *(sum(row[:2] == key for row in rows) for key in keys)])
    left, right = (np.array([row[i] for _, row in ordered], np.int32) for i in (2, 3))
    threads = np.full((2, MOST_UNITIGS * len(rows)), -1, np.int32)
    threads[:, ::MOST_UNITIGS] = [number for number, _ in ordered]
    source, target = (np.array([key[i] for key in keys], np.int32) for i in (0, 1))
    pair = np.array([number for number, _ in ordered], np.int64)
    return Links(source, target, first.astype(np.int64), pair, left, right, *threads)


def test_pairs_between_units_replace_pairs_within_a_unit():
    graph, _ = graph_of([("u", 400, 40.0), ("v", 400, 40.0)], "u>v")
    arrays, inserts = GraphArrays.of(graph, np), made.inserts_of()
    own = int(graph.length[0])
    within, around = (0, 0, own - 20, 320), (0, 0, 100, 150)
    rows = [within, around, within, (0, 2, 100, 100), (2, 2, own - 20, 320), (0, 2, 90, 100)]
    found = without_pairs_within(links_of(rows), arrays, inserts)
    assert found.source.tolist() == [0, 0, 2]
    assert found.target.tolist() == [0, 2, 2]
    assert found.first.tolist() == [0, 1, 3, 4]
    assert found.pair.tolist() == [1, 3, 5, 4]  # pairs within v stay: none leads back to it
    assert found.left.tolist() == [100, 100, 90, own - 20]
    assert found.left_thread[::MOST_UNITIGS].tolist() == [1, 3, 5, 4]
    assert without_pairs_within(links_of(rows[3:5]), arrays, inserts).pair.tolist() == [0, 1]


@pytest.mark.parametrize(("unit", "copies"), [(441, 3), (330, 5), (90, 6)])
def test_contigs_have_the_genomes_number_of_units(unit, copies):
    """Pairs within one unit must not outweigh those from one unit to the next."""
    genome = made.random_text(12_000, 71) + planted(unit, copies, unit // 2, seed=72) + made.random_text(12_000, 73)
    pairs = simulated_pairs(encode(genome), fold=50, length=150, insert=350, sd=40, error_rate=0.002, seed=5)
    reads = Reads.from_strings(pairs, paired=True)
    assembly = assemble(reads, AssemblyOptions(mode="isolate"))
    assert sum(contig.codes.size for contig in assembly.contigs) > 23_000
    for contig in assembly.contigs:
        text = decode(contig.codes)
        assert text in genome or decode(reverse_complement(contig.codes)) in genome
