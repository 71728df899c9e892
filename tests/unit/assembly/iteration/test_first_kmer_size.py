"""The first k of a community: smaller where the first graph shows minor genomes that the spectrum does not."""

from __future__ import annotations

import pytest

from gpuasm.assembly import Assembly, AssemblyOptions, assemble
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.read_files import genome_text, simulated_pairs

DOMINANT, MINOR = genome_text(length=6000, seed=1), genome_text(length=9000, seed=2)


def community(*, dominant: float, minor: float) -> Reads:
    """Pairs of two organisms at two depths."""
    pairs = simulated_pairs(DOMINANT, circular=False, fold=dominant) + simulated_pairs(
        MINOR, circular=False, fold=minor
    )
    return Reads.from_strings([read for pair in pairs for read in pair], paired=True)


def begun(reads: Reads, **options) -> tuple[Assembly, list[int]]:
    """Assemble the first graph; return the assembly, and each k that was counted."""
    stages = Stages()
    assembly = assemble(reads, AssemblyOptions(stop_after="first-graph", **options), stages=stages)
    return assembly, [record.parameters["k"] for record in stages.records if record.name == "count k-mers"]


def test_minor_genome_lowers_the_first_k():
    assembly, counted = begun(community(dominant=60, minor=6))
    assert counted == [31, 21]
    assert assembly.spectrum.k == assembly.k[0] == 21
    assert assembly.mode.is_community  # chosen from the first graph
    assert "of the k-mers in long unitigs" in assembly.mode.reason


@pytest.mark.parametrize("minor", [25, 60])
def test_covered_genomes_keep_the_first_k(minor):
    assert begun(community(dominant=150, minor=minor))[1] == [31]


def test_given_mode_or_k_is_kept():
    reads = community(dominant=60, minor=6)
    assert begun(reads, mode="isolate")[1] == [31]
    assert begun(reads, k=(31, 61))[1] == [31]
    assert begun(reads, without=("low-coverage-k",))[1] == [31]


def test_smaller_k_assembles_more_of_a_minor_genome():
    reads = community(dominant=60, minor=4)
    anew, as_before = (assemble(reads, AssemblyOptions(without=rules)) for rules in ((), ("low-coverage-k",)))
    bases = [sum(len(c.sequence) for c in found.contigs if c.depth < 20) for found in (anew, as_before)]
    assert bases[0] > bases[1]
