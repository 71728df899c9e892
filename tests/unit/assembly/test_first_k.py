"""The first k of a community: less where thin members show in its first graph, beside which the spectrum has a peak."""

from __future__ import annotations

import pytest

from gpuasm.assembly import Assembly, AssemblyOptions, assemble
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.unit.cli.read_files import genome_text, simulated_pairs

DEEP, THIN = genome_text(length=6000, seed=1), genome_text(length=9000, seed=2)


def community(*, deep: float, thin: float) -> Reads:
    """Pairs of two organisms at two depths."""
    pairs = simulated_pairs(DEEP, circular=False, fold=deep) + simulated_pairs(THIN, circular=False, fold=thin)
    return Reads.from_strings([read for pair in pairs for read in pair], paired=True)


def begun(reads: Reads, **options) -> tuple[Assembly, list[int]]:
    """Assemble the first graph; return the assembly, and each k that was counted."""
    stages = Stages()
    assembly = assemble(reads, AssemblyOptions(stop_after="first-graph", **options), stages=stages)
    return assembly, [record.parameters["k"] for record in stages.records if record.name == "count k-mers"]


def test_a_thin_member_makes_the_assembly_begin_anew():
    assembly, counted = begun(community(deep=60, thin=6))
    assert counted == [31, 21]
    assert assembly.spectrum.k == assembly.k[0] == 21
    assert not assembly.mode.is_one_organism  # as the first graph said
    assert "of the k-mers in long unitigs" in assembly.mode.reason


@pytest.mark.parametrize("thin", [25, 60])
def test_members_that_are_not_thin_keep_the_first_k(thin):
    assert begun(community(deep=150, thin=thin))[1] == [31]


def test_a_mode_or_k_that_is_asked_for_stays():
    reads = community(deep=60, thin=6)
    assert begun(reads, mode="isolate")[1] == [31]
    assert begun(reads, k=(31, 61))[1] == [31]
    assert begun(reads, without=("smaller-k",))[1] == [31]


def test_more_of_a_thin_member_comes_out():
    reads = community(deep=60, thin=4)
    anew, as_before = (assemble(reads, AssemblyOptions(without=rules)) for rules in ((), ("smaller-k",)))
    bases = [sum(len(c.sequence) for c in found.contigs if c.depth < 20) for found in (anew, as_before)]
    assert bases[0] > bases[1]
