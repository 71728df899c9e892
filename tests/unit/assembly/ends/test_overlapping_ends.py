"""Dead ends whose reads overlap by fewer than k bases: joined if chance does not explain the overlap."""

from __future__ import annotations

import pytest

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.mate_pairs import LENGTH, pairs_around_gap
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_genome

OPTIONS = AssemblyOptions(k=(31, 61), min_contig_length=100)


@pytest.fixture(scope="module")
def genome() -> str:
    return decode(simulated_genome(length=3000, seed=11))


def tiled(text: str) -> list[str]:
    """Reads every five bases, the last two of them at the end: a k-mer there is seen twice."""
    starts = [*range(0, len(text) - LENGTH, 5), len(text) - LENGTH]
    return [text[i : i + LENGTH] for i in starts]


def joined(texts: list[str], *, paired: bool = False) -> tuple[int, list[str]]:
    stages = Stages()
    assembly = assemble(Reads.from_strings(texts, paired=paired), OPTIONS, stages=stages)
    count = next(record.counts["bridges"] for record in stages.records if record.name == "join overlapping ends")
    return count, [contig.sequence for contig in assembly.contigs]


def is_in(contig: str, genome: str) -> bool:
    return contig in genome or reverse_complement(contig) in genome


@pytest.mark.parametrize("overlap", [14, 18, 26])
def test_ends_that_overlap_by_less_than_k_are_joined(genome, overlap):
    n, contigs = joined([*tiled(genome[:1500]), *tiled(genome[1500 - overlap :])])
    assert n == 1
    assert len(contigs) == 1
    assert len(contigs[0]) > 2980
    assert is_in(contigs[0], genome)


@pytest.mark.parametrize("overlap", [0, 5, 9])
def test_ends_that_overlap_by_few_bases_stay_apart(genome, overlap):
    n, contigs = joined([*tiled(genome[:1500]), *tiled(genome[1500 - overlap :])])
    assert n == 0
    assert len(contigs) == 2
    assert all(is_in(contig, genome) for contig in contigs)


def test_an_error_at_the_end_of_a_read_does_not_prevent_a_join(genome):
    left = tiled(genome[:1500])
    left[-1] = left[-1][:-2] + {"A": "C", "C": "G", "G": "T", "T": "A"}[left[-1][-2]] + left[-1][-1]
    n, contigs = joined([*left, *tiled(genome[1476:])])
    assert n == 1
    assert len(contigs) == 1
    assert is_in(contigs[0], genome)


def test_joins_are_the_same_on_either_strand(genome):
    texts = [*tiled(genome[:1500]), *tiled(genome[1482:])]
    assert joined(texts) == joined([reverse_complement(text) for text in reversed(texts)])


def test_an_end_that_overlaps_with_two_others_is_not_joined(genome):
    other = decode(simulated_genome(length=1500, seed=12))
    shared = genome[1482:1500]
    n, contigs = joined([*tiled(genome[:1500]), *tiled(genome[1482:]), *tiled(shared + other)])
    assert n == 0
    assert len(contigs) == 3


@pytest.mark.parametrize(
    ("overlap", "across", "n_joins"), [(10, True, 1), (10, False, 0), (20, True, 1), (20, False, 0), (5, True, 0)]
)
def test_pairs_must_support_a_join_and_reduce_the_overlap_needed(genome, overlap, across, n_joins):
    texts = pairs_around_gap(genome, end=1500, begin=1500 - overlap, across=across)
    n, contigs = joined(texts, paired=True)
    assert n == n_joins
    assert len(contigs) == 2 - n_joins
    assert all(is_in(contig, genome) for contig in contigs)


def test_clipped_reads_may_begin_on_the_unitig_before(genome):
    """The dead end's unitig is short: the clipped read begins on the unitig before."""
    other = decode(simulated_genome(length=1500, seed=13))
    other = other[:700] + genome[1400:1440] + other[740:]
    left, right = genome[:1475], genome[1482:]
    texts = [*tiled(other), *tiled(left), genome[1398:1498]]
    assert joined([*texts, *tiled(right)])[0] == 1
    assert joined([*texts[:-1], *tiled(right)])[0] == 0
