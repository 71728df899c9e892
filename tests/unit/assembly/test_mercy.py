"""Gaps that single reads bridge, and junctions that thin coverage must not close."""

from __future__ import annotations

import pytest

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_genome, simulated_texts

OPTIONS = AssemblyOptions(k=(31, 61), min_contig_length=100)


def tiled(text: str, first: int, last: int, length: int = 100) -> list[str]:
    return [text[i : i + length] for i in range(first, last - length + 1, 5)]


def bridges(texts: list[str]) -> tuple[int, list[str]]:
    stages = Stages()
    assembly = assemble(Reads.from_strings(texts), OPTIONS, stages=stages)
    count = next(record.counts["bridges"] for record in stages.records if record.name == "bridge gaps")
    return count, [contig.sequence for contig in assembly.contigs]


@pytest.fixture
def genome() -> str:
    return decode(simulated_genome(length=3000, seed=8))


def test_one_read_bridges_a_gap_between_two_dead_ends(genome):
    sides = tiled(genome, 0, 1490) + tiled(genome, 1510, 3000)
    n_without, without = bridges(sides)
    n_with, with_bridge = bridges([*sides, genome[1440:1560]])
    assert (n_without, len(without)) == (0, 2)
    assert (n_with, len(with_bridge)) == (1, 1)
    assert with_bridge[0] in genome or reverse_complement(with_bridge[0]) in genome
    assert len(with_bridge[0]) > 2800


def test_a_bridge_is_the_same_from_either_strand(genome):
    texts = [*tiled(genome, 0, 1490), *tiled(genome, 1510, 3000), genome[1440:1560]]
    assert bridges(texts) == bridges([reverse_complement(text) for text in reversed(texts)])


def test_errors_in_well_covered_places_are_no_bridges():
    genome = simulated_genome(length=3000, seed=9)
    texts = simulated_texts(genome, fold=60, length=100, error_rate=0.004, circular=True, seed=9)
    n, contigs = bridges(texts)
    assert n == 0
    assert [len(contig) for contig in contigs] == [3000]


def test_a_junction_without_reads_at_the_larger_k_stays_a_junction():
    # Two ways through a repeat of 200 bases; around one of its four junctions no read covers 97 bases on end.
    a, b, c, d = (decode(simulated_genome(length=800, seed=seed)) for seed in (1, 2, 3, 4))
    repeat = decode(simulated_genome(length=200, repeat_length=50, seed=5))
    first, second = a + repeat + b, c + repeat + d
    at = len(c)
    thin = [second[i : i + 80] for i in range(at - 100, at + 60, 5)]
    texts = tiled(first, 0, len(first)) + tiled(second, 0, at + 20) + thin + tiled(second, at + 20, len(second))
    assembly = assemble(Reads.from_strings(texts), AssemblyOptions(k=(31, 61, 91), min_contig_length=100))
    for contig in assembly.contigs:
        either = (contig.sequence, reverse_complement(contig.sequence))
        assert any(text in first or text in second for text in either)
