"""What an assembly leaves out, and where it stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuasm.assembly import AssemblyOptions, assemble, recipe
from gpuasm.assembly.consensus.consensus import check_contigs
from gpuasm.assembly.consensus.guesses import GUESSES
from gpuasm.assembly.ladder import FIRST_K
from gpuasm.assembly.options import RULES, STAGES
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.unit.cli.read_files import genome_text, simulated_pairs

OF_CLEANING = {"tips", "low-depth-connections", "bubbles", "islands"}


@pytest.mark.parametrize("last", STAGES)
def test_stages_up_to_the_last_are_done(last):
    options = AssemblyOptions(stop_after=last)
    assert [options.has(stage) for stage in STAGES] == [stage <= STAGES.index(last) for stage in range(len(STAGES))]


def test_given_values_of_k_leave_no_others():
    assert not AssemblyOptions(k=(31, 61)).has("fragments")
    assert AssemblyOptions(k=(31, 61)).has("pairs")


@pytest.fixture(scope="module")
def reads():
    pairs = simulated_pairs(genome_text(length=8000, repeats=4), circular=False, fold=100, error_rate=0.02)
    texts = [read for pair in pairs for read in pair] + [read for pair in thin_pairs() for read in pair]
    return Reads.from_strings(texts, paired=True)


def thin_pairs():
    """Pairs of another genome that few reads cover, with gaps between them."""
    return simulated_pairs(genome_text(length=3000, seed=8), circular=False, fold=5)


@pytest.mark.parametrize("rule", RULES)
def test_what_is_left_out_is_not_done(reads, rule):
    stages = Stages()
    assembly = assemble(reads, AssemblyOptions(without=(rule,)), stages=stages)
    counts = {record.name: record.counts for record in stages.records}
    removed = [found[rule.replace("-", "_")] for found in assembly.removed.values() if rule in OF_CLEANING]
    assert not any(removed)
    assert assembly.contigs
    match rule:
        case "bridges":
            assert counts["bridge gaps"]["bridges"] == 0
        case "meeting-ends":
            assert counts["join meeting ends"]["bridges"] == 0
        case "contradicted-flanks":
            assert all("flanks_given_up" not in record.counts for record in stages.records)
        case "single-words":
            assert all("single_kmers" not in record.counts for record in stages.records)
        case "short-ways":
            assert all("short_ways" not in record.counts for record in stages.records)
        case "read-errors":
            assert "correct reads" not in counts
        case "copied-words" | "overlaps" | "lost-junctions" | "direct-repeats" | "tandem-repeats" | "terminal-repeats":
            assert counts["join by pairs"][rule.replace("-", "_")] == 0
        case "stray-mates" | "rival-ends" | "compressed" | "doubled-ends":
            assert counts["lay reads back"][rule.replace("-", "_")] == 0
        case "end-extension":
            assert counts["lay reads back"]["bases_added"] == 0
        case "larger-k":
            assert len(assembly.k) == 1
        case "fragments":
            assert "join mates" not in counts
            assert assembly.k[-1] < 100
        case "joins":
            assert "join by pairs" not in counts
        case "check":
            assert "lay reads back" not in counts
            assert assembly.contigs[0].name == "contig_000001"


@pytest.mark.parametrize(("mode", "is_done"), [("isolate", True), ("meta", False)])
def test_how_many_fragments_should_span_a_place_is_known_of_an_isolate_only(monkeypatch, reads, mode, is_done):
    asked = []

    def check(*args, **options):
        asked.append(not {*GUESSES, "doubled-ends"} & set(options["without"]))
        return check_contigs(*args, **options)

    monkeypatch.setattr(recipe, "check_contigs", check)
    assemble(reads, AssemblyOptions(mode=mode))
    assert asked == [is_done]


def test_thin_coverage_begins_at_the_usual_k_without_a_smaller_one():
    pairs = simulated_pairs(genome_text(length=8000, repeats=4), circular=False, fold=7, error_rate=0.005)
    reads = Reads.from_strings([read for pair in pairs for read in pair], paired=True)
    for without, smaller in (((), True), (("smaller-k",), False)):
        stages = Stages()
        assembly = assemble(reads, AssemblyOptions(without=without), stages=stages)
        assert (assembly.k[0] < FIRST_K) == smaller
        assert ("merge mates" in {record.name for record in stages.records}) == smaller


def test_all_of_it_is_done_by_default(reads):
    stages = Stages()
    assembly = assemble(reads, AssemblyOptions(mode="isolate"), stages=stages)
    names = {record.name for record in stages.records}
    assert {"bridge gaps", "join mates", "join by pairs", "lay reads back"} <= names
    assert assembly.k[-1] > 100
    assert assembly.state is None
    assert any("flanks_given_up" in record.counts for record in stages.records)
    assert any("short_ways" in record.counts for record in stages.records)
    assert any(record.counts.get("single_kmers", 0) > 0 for record in stages.records)
    assert next(record.counts["bases"] for record in stages.records if record.name == "correct reads") > 0
    for rule in OF_CLEANING:  # else leaving them out would show nothing
        assert any(counts[rule.replace("-", "_")] for counts in assembly.removed.values()), rule


@pytest.mark.parametrize("rule", RULES)
def test_the_page_on_modes_says_what_each_rule_is(rule):
    assert f"`{rule}`" in (Path(__file__).parents[3] / "docs" / "modes.md").read_text()
