"""Reads of PhiX174: found by the k-mers they share with it, mates together."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.io.phix import is_phix, phix_genome, phix_reads
from gpuasm.io.read_cleaning import clean_reads
from gpuasm.io.reference_kmers import K
from gpuasm.io.summary import ReadSet
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.read_through import reverse_complement
from tests.oracles.reads import pieces_of_reads, pieces_of_sequence, random_sequences

GENOME = phix_genome()
CIRCLE = GENOME + GENOME
OTHERS = random_sequences(4, 20, 100)
STRANDS = {strand[i : i + K] for strand in (CIRCLE, reverse_complement(CIRCLE)) for i in range(len(GENOME))}


def surplus(text: str) -> int:
    """Return twice the bases in 21-mers of PhiX174 less all bases of a read."""
    n = 0
    for piece in pieces_of_sequence(text):
        covered = {j for i in range(len(piece) - K + 1) if piece[i : i + K] in STRANDS for j in range(i, i + K)}
        n += 2 * len(covered) - len(piece)
    return n


def test_the_genome_is_whole():
    assert (len(GENOME), set(GENOME)) == (5386, set("ACGT"))
    assert len(STRANDS) == 2 * 5386


def test_single_reads_of_both_strands_and_across_the_origin():
    texts = [GENOME[:100], reverse_complement(GENOME[300:400]), CIRCLE[5340:5440], GENOME[:K], *OTHERS, "", "N"]
    assert phix_reads(Reads.from_strings(texts), 0).tolist() == [True] * 4 + [False] * 22


def test_errors_do_not_hide_it(rng):
    texts = []
    for start in rng.integers(0, 5386, 200).tolist():
        text = list(CIRCLE[start : start + 150])
        for place in rng.choice(150, 2, replace=False):
            text[place] = "ACGT"["ACGT".index(text[place]) - 1]
        texts.append("".join(text))
    assert phix_reads(Reads.from_strings(texts), 0).all()


def test_mates_go_together():
    texts = [GENOME[:100], OTHERS[0][:40], OTHERS[1], GENOME[:60], GENOME[:100], "N" * 100]
    assert phix_reads(Reads.from_strings(texts, paired=True), 3).tolist() == [True, True, False, False, True, True]
    assert phix_reads(Reads.from_strings(texts), 1).tolist() == [True, True, False, True, True, False]


@given(st.lists(st.tuples(st.integers(0, 5385), st.integers(0, 60), st.text("ACGTN", max_size=40)), max_size=6))
def test_it_is_the_rule(parts):
    texts = [CIRCLE[start : start + n] + tail for start, n, tail in parts]
    expected = [surplus(text) > 0 for text in texts]
    assert phix_reads(Reads.from_strings(texts), 0).tolist() == expected


def test_removal_keeps_the_numbers_of_reads():
    texts = [GENOME[:100], GENOME[200:300], OTHERS[0], OTHERS[1]]
    read_set = ReadSet(Reads.from_strings(texts, paired=True), [], np.zeros(1), 2)
    stages = Stages()
    left = clean_reads(read_set, trim="no", remove_phix=True, stages=stages).reads
    assert pieces_of_reads(left) == [(2, OTHERS[0]), (3, OTHERS[1])]
    assert (left.n_reads, left.paired) == (4, True)
    assert stages.records[0].counts == {"removed_reads": 2}


def test_contigs_of_both_strands_and_of_parts():
    contigs = [CIRCLE[2000:7386], reverse_complement(GENOME), GENOME[:300], GENOME[:3000] + "".join(OTHERS)[:1000]]
    assert all(map(is_phix, contigs))
    others = ["".join(OTHERS), "".join(OTHERS) + GENOME[:500], GENOME[: K - 1], CIRCLE + GENOME[:100], ""]
    assert not any(map(is_phix, others))
