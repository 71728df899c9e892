"""Dead ends whose reads overlap by fewer than k bases: joined where that cannot be chance, else left."""

from __future__ import annotations

import pytest

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_genome

OPTIONS = AssemblyOptions(k=(31, 61), min_contig_length=100)
LENGTH, INSERT = 100, 250


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
    count = next(record.counts["bridges"] for record in stages.records if record.name == "join meeting ends")
    return count, [contig.sequence for contig in assembly.contigs]


def is_in(contig: str, genome: str) -> bool:
    return contig in genome or reverse_complement(contig) in genome


@pytest.mark.parametrize("overlap", [14, 18, 26])
def test_ends_that_overlap_by_less_than_k_meet(genome, overlap):
    n, contigs = joined([*tiled(genome[:1500]), *tiled(genome[1500 - overlap :])])
    assert n == 1
    assert len(contigs) == 1
    assert len(contigs[0]) > 2980
    assert is_in(contigs[0], genome)


@pytest.mark.parametrize("overlap", [0, 5, 9])
def test_ends_that_overlap_by_little_do_not(genome, overlap):
    n, contigs = joined([*tiled(genome[:1500]), *tiled(genome[1500 - overlap :])])
    assert n == 0
    assert len(contigs) == 2
    assert all(is_in(contig, genome) for contig in contigs)


def test_a_wrong_base_at_the_end_of_a_read_is_passed(genome):
    left = tiled(genome[:1500])
    left[-1] = left[-1][:-2] + {"A": "C", "C": "G", "G": "T", "T": "A"}[left[-1][-2]] + left[-1][-1]
    n, contigs = joined([*left, *tiled(genome[1476:])])
    assert n == 1
    assert len(contigs) == 1
    assert is_in(contigs[0], genome)


def test_it_is_the_same_from_either_strand(genome):
    texts = [*tiled(genome[:1500]), *tiled(genome[1482:])]
    assert joined(texts) == joined([reverse_complement(text) for text in reversed(texts)])


def test_an_end_that_could_meet_two_others_meets_none(genome):
    other = decode(simulated_genome(length=1500, seed=12))
    shared = genome[1482:1500]
    n, contigs = joined([*tiled(genome[:1500]), *tiled(genome[1482:]), *tiled(shared + other)])
    assert n == 0
    assert len(contigs) == 3


def pairs_beside(genome: str, *, end: int, begin: int, across: bool) -> list[str]:
    """Pairs every five bases whose reads end by ``end`` or begin at ``begin``; some with one on each side, if asked."""
    texts = []
    for start in range(0, len(genome) - INSERT + 1, 5):
        spans = (start, start + LENGTH), (start + INSERT - LENGTH, start + INSERT)
        sides = [0 if last <= end else 1 for _, last in spans]
        inside = all(last <= end or first >= begin for first, last in spans)
        if inside and (across or sides[0] == sides[1]):
            texts += [genome[slice(*spans[0])], reverse_complement(genome[slice(*spans[1])])]
    return texts


@pytest.mark.parametrize(
    ("overlap", "across", "n_joins"), [(10, True, 1), (10, False, 0), (20, True, 1), (20, False, 0), (5, True, 0)]
)
def test_of_paired_reads_pairs_must_say_so_and_less_suffices(genome, overlap, across, n_joins):
    texts = pairs_beside(genome, end=1500, begin=1500 - overlap, across=across)
    n, contigs = joined(texts, paired=True)
    assert n == n_joins
    assert len(contigs) == 2 - n_joins
    assert all(is_in(contig, genome) for contig in contigs)


def test_reads_that_begin_before_a_junction_tell_what_hangs_over_the_end_behind_it(genome):
    """The dead end's unitig is short: the read that hangs over it begins on the one before."""
    other = decode(simulated_genome(length=1500, seed=13))
    other = other[:700] + genome[1400:1440] + other[740:]
    left, right = genome[:1475], genome[1482:]
    texts = [*tiled(other), *tiled(left), genome[1398:1498]]
    assert joined([*texts, *tiled(right)])[0] == 1
    assert joined([*texts[:-1], *tiled(right)])[0] == 0
