"""Options of an assembly: rules left out, and the last stage."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuasm.assembly import AssemblyOptions, assemble, pipeline
from gpuasm.assembly.options import RULES, STAGES
from gpuasm.assembly.verification.contig_checks import check_contigs
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.read_files import genome_text, simulated_pairs

SIMPLIFICATION_RULES = {"tips", "low-coverage-edges", "bubbles", "isolated-unitigs"}


@pytest.mark.parametrize("last", STAGES)
def test_stages_up_to_the_last_are_run(last):
    options = AssemblyOptions(stop_after=last)
    assert [options.has(stage) for stage in STAGES] == [stage <= STAGES.index(last) for stage in range(len(STAGES))]


def test_given_values_of_k_exclude_fragments():
    assert not AssemblyOptions(k=(31, 61)).has("fragments")
    assert AssemblyOptions(k=(31, 61)).has("pairs")


@pytest.fixture(scope="module")
def reads():
    pairs = simulated_pairs(genome_text(length=5000, repeats=4), circular=False, fold=60, error_rate=0.02)
    texts = [read for pair in pairs for read in pair] + [read for pair in pairs_of_low_coverage() for read in pair]
    return Reads.from_strings(texts, paired=True)


def pairs_of_low_coverage():
    """Return pairs of another genome of low coverage, with gaps."""
    return simulated_pairs(genome_text(length=3000, seed=8), circular=False, fold=5)


@pytest.mark.parametrize("rule", RULES)
def test_rule_left_out_is_not_used(reads, rule):
    stages = Stages()
    assembly = assemble(reads, AssemblyOptions(without=(rule,)), stages=stages)
    counts = {record.name: record.counts for record in stages.records}
    removed = [found[rule.replace("-", "_")] for found in assembly.removed.values() if rule in SIMPLIFICATION_RULES]
    assert not any(removed)
    assert assembly.contigs
    match rule:
        case "mercy-kmers":
            assert counts["bridge gaps"]["bridges"] == 0
        case "end-overlaps":
            assert counts["join overlapping ends"]["bridges"] == 0
            assert counts["join by pairs"]["linked_overlaps"] == counts["join by pairs"]["unlinked_overlaps"] == 0
        case "edge-support":
            assert all("flanks_removed" not in record.counts for record in stages.records)
        case "copy-number":
            assert all("single_kmers" not in record.counts for record in stages.records)
            assert counts["join by pairs"]["repeat_kmers"] == 0
        case "read-correction":
            assert "correct reads" not in counts
        case "repeats":
            kinds = ("direct_repeats", "tandem_repeats", "terminal_repeats")
            assert not any(counts["join by pairs"][kind] for kind in kinds)
        case "breaks":
            assert counts["align reads to contigs"]["joins_broken"] == 0
        case "redundant-ends":
            assert counts["align reads to contigs"]["redundant_ends"] == 0
        case "end-extension":
            assert counts["align reads to contigs"]["bases_added"] == 0
        case "larger-k":
            assert len(assembly.k) == 1
        case "fragments":
            assert "join mates" not in counts
            assert assembly.k[-1] < 100
        case "joins":
            assert "join by pairs" not in counts
        case "check":
            assert "align reads to contigs" not in counts
            assert assembly.contigs[0].name == "contig_000001"


@pytest.mark.parametrize(("mode", "is_used"), [("isolate", True), ("meta", False)])
def test_rules_of_unsupported_joins_are_used_in_isolates_only(monkeypatch, reads, mode, is_used):
    used = []

    def check(*args, **options):
        used.append(options["breaks_by_pairs"] and "redundant-ends" in options["rules"])
        return check_contigs(*args, **options)

    monkeypatch.setattr(pipeline, "check_contigs", check)
    assemble(reads, AssemblyOptions(mode=mode))
    assert used == [is_used]


def test_low_coverage_starts_at_a_smaller_k():
    pairs = simulated_pairs(genome_text(length=8000, repeats=4), circular=False, fold=7, error_rate=0.005)
    reads = Reads.from_strings([read for pair in pairs for read in pair], paired=True)
    for without, smaller in (((), True), (("low-coverage-k",), False)):
        assembly = assemble(reads, AssemblyOptions(without=without))
        assert (assembly.k[0] < MAX_PLAIN_K) == smaller


def test_all_stages_are_run_by_default(reads):
    stages = Stages()
    assembly = assemble(reads, AssemblyOptions(mode="isolate"), stages=stages)
    names = {record.name for record in stages.records}
    assert {"bridge gaps", "join mates", "join by pairs", "align reads to contigs"} <= names
    assert assembly.k[-1] > 100
    assert assembly.state is None
    assert any("flanks_removed" in record.counts for record in stages.records)
    assert any(record.counts.get("single_kmers", 0) > 0 for record in stages.records)
    assert next(record.counts["bases"] for record in stages.records if record.name == "correct reads") > 0
    for rule in SIMPLIFICATION_RULES:  # otherwise leaving them out would show nothing
        assert any(counts[rule.replace("-", "_")] for counts in assembly.removed.values()), rule


@pytest.mark.parametrize("rule", RULES)
def test_documentation_lists_each_rule(rule):
    assert f"`{rule}`" in (Path(__file__).parents[3] / "docs" / "modes.md").read_text()
