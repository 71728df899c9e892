"""Scaffolds: order and strand of contigs, gaps, and cut ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuasm.assembly.contig import make_contigs
from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.assembly.pairs.link_evidence import Gap
from gpuasm.assembly.scaffold import make_scaffolds
from gpuasm.cli.outputs import write_agp, write_gap_table, write_scaffolds
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from gpuasm.sequence.reads import Reads

K = 21


def reverse(text):
    return decode(reverse_complement(encode(text)))


def random_text(n, seed):
    return decode(np.random.default_rng(seed).integers(0, 4, n).astype(np.uint8))


TEXTS = [random_text(n, seed) for seed, n in enumerate((900, 700, 500))]
GRAPH = unitigs_of_reads(Reads.from_strings(TEXTS), K, min_count=1)
CONTIGS = make_contigs(GRAPH, min_length=1)


def oriented(text):
    """Return the oriented unitig of a text."""
    for u in range(GRAPH.n):
        if text in (GRAPH.sequence(u), reverse(GRAPH.sequence(u))):
            return 2 * u + (GRAPH.sequence(u) != text)
    raise AssertionError


def gap(first, second, size, n_pairs=10):
    return Gap(oriented(first), oriented(second), size, 5.0, n_pairs)


def scaffolds(*gaps, contigs=CONTIGS):
    return make_scaffolds(contigs, gaps, GRAPH)


def either(text):
    return {text, reverse(text)}


def test_contig_without_joins_is_a_scaffold():
    found = scaffolds()
    assert [s.sequence for s in found] == [c.sequence for c in CONTIGS]
    assert [s.name for s in found] == ["scaffold_000001", "scaffold_000002", "scaffold_000003"]


@pytest.mark.parametrize("size", [10, 50])
@pytest.mark.parametrize("second", [TEXTS[1], reverse(TEXTS[1])])
def test_gap_is_filled_with_n(size, second):
    first, *others = scaffolds(gap(TEXTS[0], second, size))
    assert first.sequence in either(TEXTS[0] + "N" * size + second)
    assert [s.sequence for s in others] == [CONTIGS[2].sequence]
    assert first.length == len(first.sequence)


@pytest.mark.parametrize("n", [30, -30])
def test_gap_is_corrected_for_extended_and_cut_contigs(n):
    """Pairs determine the distance between unitigs."""
    at = next(i for i, own in enumerate(CONTIGS) if own.sequence in either(TEXTS[0]))
    own, side = CONTIGS[at], int(CONTIGS[at].sequence != TEXTS[0])
    longer = np.concatenate([own.codes, np.zeros(n, np.uint8)]) if n > 0 else own.codes[:n]
    if side:  # the text's end is the unitig's beginning
        longer = np.concatenate([np.zeros(n, np.uint8), own.codes]) if n > 0 else own.codes[-n:]
    contigs = list(CONTIGS)
    contigs[at] = replace(own, codes=longer, extended=(0, n) if side else (n, 0))
    first, *_ = scaffolds(gap(TEXTS[0], TEXTS[1], 50), contigs=contigs)
    assert first.length == len(TEXTS[0]) + 50 + len(TEXTS[1])
    assert first.sequence.count("N") == 50 - n


@pytest.mark.parametrize("size", [9, 0, -30])
def test_shorter_contig_is_cut_for_a_gap_below_the_minimum(size):
    (first, *_) = scaffolds(gap(TEXTS[0], TEXTS[1], size))
    assert first.sequence in either(TEXTS[0] + "N" * 10 + TEXTS[1][10 - size :])


def test_at_most_half_of_a_contig_is_cut():
    assert len(scaffolds(gap(TEXTS[0], TEXTS[2], 10 - 250))) == 2
    assert len(scaffolds(gap(TEXTS[0], TEXTS[2], 10 - 251))) == 3


def test_cycle_is_opened_at_the_join_of_the_fewest_pairs():
    chain = gap(TEXTS[0], TEXTS[1], 30), gap(TEXTS[1], TEXTS[2], 40)
    expected = either(TEXTS[0] + "N" * 30 + TEXTS[1] + "N" * 40 + TEXTS[2])
    assert scaffolds(*chain)[0].sequence in expected
    (closed,) = scaffolds(*chain, gap(TEXTS[2], TEXTS[0], 20, n_pairs=4))
    assert closed.sequence in expected


def test_joins_of_missing_contigs_are_ignored():
    joins = gap(TEXTS[0], TEXTS[1], 30), gap(TEXTS[1], TEXTS[2], 40)
    assert len(scaffolds(*joins, contigs=CONTIGS[::2])) == 2


def test_agp_and_fasta_agree(tmp_path):
    found = scaffolds(gap(TEXTS[0], reverse(TEXTS[1]), -5), gap(reverse(TEXTS[1]), TEXTS[2], 40))
    write_agp(tmp_path / "a.agp", found)
    write_scaffolds(tmp_path / "a.fasta", found)
    write_gap_table(tmp_path / "gaps.tsv", found)
    contigs = {c.name: c.sequence for c in CONTIGS}
    sequences: dict[str, str] = {}
    header, *lines = (tmp_path / "a.agp").read_text().splitlines()
    assert header == "##agp-version\t2.1"
    for number, line in enumerate(lines, start=1):
        name, begin, end, part, kind, *rest = line.split("\t")
        if int(part) == 1:
            sequences[name] = ""
        assert int(begin) == len(sequences[name]) + 1
        if kind == "N":
            assert rest[1:] == ["scaffold", "yes", "paired-ends"]
            sequences[name] += "N" * int(rest[0])
        else:
            text = contigs[rest[0]][int(rest[1]) - 1 : int(rest[2])]
            sequences[name] += reverse(text) if rest[3] == "-" else text
        assert int(end) == len(sequences[name]), number
    assert sequences == {s.name: s.sequence for s in found}
    text = (tmp_path / "a.fasta").read_text()
    assert text.splitlines()[0] == f">scaffold_000001 length={found[0].length} contigs=3 gaps=50 circular=no"
    rows = [line.split("\t") for line in (tmp_path / "gaps.tsv").read_text().splitlines()]
    assert rows[0] == ["scaffold", "before", "after", "gap", "estimate", "standard_error", "pairs"]
    assert sorted(row[3:] for row in rows[1:]) == [["10", "-5", "5.0", "10"], ["40", "40", "5.0", "10"]]
