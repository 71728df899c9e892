"""The mode of a sample, and the depth below which a branch is rare."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode, choose_mode, reads_of_one_error
from gpuasm.assembly.simplification.branches import RuleLimits, find_low_coverage_edges
from gpuasm.assembly.simplification.engine import clean
from gpuasm.assembly.simplification.sibling_branches import find_bubbles
from gpuasm.errors import UsageError
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.graphs import K, graph_of
from tests.samples import simulated_genome, simulated_pairs, simulated_reads, simulated_texts

META = Mode("meta", "as requested")
EVEN = [("a", 900, 30.0), ("b", 500, 25.0), ("repeat", 100, 90.0), ("error", K, 1.0)]
UNEVEN = [("a", 900, 30.0), ("b", 500, 250.0), ("c", 500, 5.0)]
VARIANT = "a>main main>b a>variant variant>b"


@pytest.mark.parametrize(
    ("requested", "unitigs", "name", "reason"),
    [
        ("auto", EVEN, "isolate", "93% of the k-mers in long unitigs lie within a factor of two of the typical depth"),
        ("auto", UNEVEN, "meta", "less than 90%: several organisms, or very uneven depth"),
        ("isolate", UNEVEN, "isolate", "as requested"),
        ("meta", EVEN, "meta", "as requested"),
    ],
)
def test_first_graph_determines_the_mode_unless_requested(requested, unitigs, name, reason):
    mode = choose_mode(requested, graph_of(unitigs)[0])
    assert mode.name == name
    assert reason in mode.reason


@pytest.mark.parametrize("n_genomes", [8, 16, 40])
@pytest.mark.parametrize("seed", range(5))
def test_genomes_of_log_normal_depth_are_a_community(n_genomes, seed):
    depths = 10 * np.random.default_rng(seed).lognormal(0, 0.8, n_genomes)
    unitigs = [(f"genome_{number}", 500, float(depth)) for number, depth in enumerate(depths)]
    assert choose_mode("auto", graph_of(unitigs)[0]).name == "meta"


@pytest.mark.parametrize("depth", [6.0, 12.0, 50.0])
def test_poisson_depth_of_one_genome_is_an_isolate(depth):
    reads = np.random.default_rng(1).poisson(depth * 600 / 150, 60) * 150 / 600
    unitigs = [(f"part_{number}", 600, float(own)) for number, own in enumerate(reads)]
    assert choose_mode("auto", graph_of(unitigs)[0]).name == "isolate"


def test_unknown_mode_stage_or_rule_is_refused():
    for wrong in ({"mode": "single-cell"}, {"stop_after": "joins"}, {"without": ("bubble",)}):
        with pytest.raises(UsageError, match="expected one of"):
            AssemblyOptions(**wrong)


def test_depth_of_errors_is_rare_in_each_mode():
    nearby = np.array([3.0, 20.0, 100.0, 1000.0])
    limits = RuleLimits()
    assert limits.rare_depth(nearby, keeps_variants=False).tolist() == pytest.approx([0.99, 6.6, 33.0, 330.0])
    assert limits.rare_depth(nearby, keeps_variants=True).tolist() == pytest.approx([0.99, 3.0, 6.0, 60.0])


@given(depth=st.floats(1.0, 2000.0), error_rate=st.floats(0.0, 0.01))
def test_reads_of_one_error_by_poisson(depth, error_rate):
    """Compared with sums of Poisson's distribution: less than one error in a million bases is shared by so many."""
    (reads,) = reads_of_one_error(np.array([depth]), error_rate).tolist()
    mean = depth * error_rate / 3

    def shared(n):
        chances = (
            math.exp(-mean + i * math.log(mean) - math.lgamma(i + 1)) if mean else 0.0 for i in range(n, n + 200)
        )
        return 3e6 * math.fsum(chances)

    assert reads == 3 or (reads > 3 and shared(int(reads) - 1) > math.exp(-mean) / 10)
    assert reads >= 3
    assert shared(int(reads)) < 1


def test_reads_of_one_error_increase_with_depth():
    nearby = np.array([5.0, 10.0, 43.0, 88.0, 1000.0])
    assert reads_of_one_error(nearby, 0.0).tolist() == [3.0] * 5
    assert reads_of_one_error(nearby, 0.0022).tolist() == [3.0, 3.0, 4.0, 5.0, 9.0]
    limits = RuleLimits(error_rate=0.0022)
    assert limits.rare_depth(nearby, keeps_variants=True).tolist() == pytest.approx([1.65, 3.0, 4.0, 5.28, 60.0])
    rare = replace(limits, few=3.6).rare_depth(nearby, keeps_variants=True)
    assert rare.tolist() == pytest.approx([1.65, 3.3, 4.8, 6.0, 60.0])  # at most a third of the local depth


@pytest.mark.parametrize("rule", [find_bubbles, find_low_coverage_edges])
@pytest.mark.parametrize(("depth", "removed_if"), [(2.0, {True, False}), (20.0, {False}), (40.0, set())])
def test_rare_variant_is_kept_in_a_metagenome(rule, depth, removed_if):
    unitigs = [("a", 900, 100.0), ("main", K, 90.0), ("variant", K, depth), ("b", 900, 100.0)]
    graph, number = graph_of(unitigs, VARIANT)
    for keeps_variants in (True, False):
        marked = rule(graph, np.full(graph.n, 100.0), RuleLimits(keeps_variants=keeps_variants))
        assert set(np.flatnonzero(marked)) == ({number["variant"]} if keeps_variants in removed_if else set())


def test_isolated_unitigs_are_removed_from_isolates_only():
    graph, _ = graph_of([("genome", 900, 30.0), ("isolated", K, 5.0)])
    assert clean(graph, mode=ISOLATE)[0].n == 1
    assert clean(graph, mode=META)[0].n == 2


def strains(*, shares=(80, 20), n_variants=6):
    """Return reads of two strains that differ at a few places."""
    codes, texts = simulated_genome(length=6000, seed=4), []
    for number, fold in enumerate(shares):
        own = codes.copy()
        places = np.arange(500, 500 + 900 * n_variants, 900)[:n_variants]
        own[places] = (own[places] + number) % 4
        texts += simulated_texts(own, fold=fold, seed=10 + number)
    return Reads.from_strings(texts)


def test_strains_are_kept_in_a_metagenome_and_merged_in_an_isolate():
    reads = strains()
    one = assemble(reads, AssemblyOptions(mode="isolate"))
    both = assemble(reads, AssemblyOptions(mode="meta"))
    assert len(one.contigs) == 1
    assert sum(contig.length for contig in both.contigs) > 1.1 * one.contigs[0].length


@pytest.mark.parametrize(("n_reads", "is_split"), [(3, False), (8, True)])
def test_error_of_three_reads_does_not_split_a_contig(n_reads, is_split):
    """At 45x three reads share an error by chance; eight of 45 are of another strain."""
    codes = simulated_genome(length=6000, seed=4)
    own, places = codes.copy(), np.arange(500, 5900, 900)
    own[places] = (own[places] + 1) % 4
    texts = simulated_pairs(codes, fold=45, length=150, insert=350, error_rate=0.002, seed=10)
    for start in (places[:, None] - np.linspace(25, 120, n_reads).astype(int)).ravel().tolist():
        fragment = own[start : start + 350]
        texts += [decode(fragment[:150]), decode(reverse_complement(fragment)[:150])]
    assembly = assemble(Reads.from_strings(texts, paired=True), AssemblyOptions(mode="meta"))
    assert assembly.mode.error_rate == pytest.approx(0.002, rel=0.5)
    assert (len(assembly.contigs) > 1) == is_split


def test_strains_are_merged_unless_meta_is_requested():
    assert choose_mode("meta", graph_of(UNEVEN)[0]).keeps_variants
    assert not choose_mode("auto", graph_of(UNEVEN)[0]).keeps_variants


def test_mixture_is_a_community():
    genomes = [simulated_genome(length=4000, seed=seed) for seed in (1, 2, 3)]
    texts = [simulated_texts(genome, fold=fold, seed=5) for genome, fold in zip(genomes, (15, 60, 240), strict=True)]
    assembly = assemble(Reads.from_strings(list(itertools.chain(*texts))))
    assert assembly.mode.name == "meta"
    for genome in genomes:
        assert any(decode(genome[200:3800]) in c.sequence or c.length > 3600 for c in assembly.contigs)


def test_requested_isolate_equals_the_chosen_one():
    reads = simulated_reads(length=10_000, fold=30, repeats=4)
    found, requested = assemble(reads), assemble(reads, AssemblyOptions(mode="isolate"))
    assert found.mode.name == "isolate"
    assert [c.sequence for c in found.contigs] == [c.sequence for c in requested.contigs]


def test_plasmid_of_high_depth_with_traces_of_its_host_is_no_isolate():
    traces = [(f"trace{i}", 300, 2.5) for i in range(100)]
    graph, _ = graph_of([("plasmid", 3000, 700.0), *traces])
    mode = choose_mode("auto", graph)
    assert mode.name == "meta"
    assert "far higher depth" in mode.reason
    graph, _ = graph_of([("chromosome", 90_000, 30.0), ("plasmid", 3000, 300.0)])
    assert choose_mode("auto", graph).name == "isolate"


@pytest.mark.parametrize(("least_depth", "name"), [(0.0, "isolate"), (1.2, "isolate"), (1.3, "meta")])
def test_even_depth_at_the_solid_threshold_shows_nothing(least_depth, name):
    """All genomes of a virome may have the least depth that the threshold keeps."""
    genomes = [(f"genome{i}", 300, 2.5) for i in range(100)]
    assert choose_mode("auto", graph_of(genomes)[0], least_depth=least_depth).name == name


def test_sample_without_long_unitigs_is_a_population():
    short = [(f"u{i}", 150, float(10 + i * i)) for i in range(40)]
    for n_long, expected in ((20, True), (2000, False)):
        mode = choose_mode("auto", graph_of([*short, ("long", n_long, 300.0)])[0])
        assert mode.name == "meta"
        assert mode.is_population == expected
    assert not choose_mode("meta", graph_of(short)[0]).is_population
