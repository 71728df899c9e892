"""Primers of amplicons: read from FASTA and BED, cut from both ends of reads."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.errors import DataError, UsageError
from gpuasm.io.primers import cut_primers, read_primers, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.oracles.reads import fasta, pieces_of_reads, random_sequences

LEFT, RIGHT = random_sequences(1, 2, 22)
INSERT = random_sequences(2, 1, 90)[0]
GENOME = random_sequences(3, 1, 300)[0]


def cut(*texts: str, primers: list[str] | None = None) -> list[str]:
    reads = Reads.from_strings(texts)
    left, amount = cut_primers(reads, primers or [LEFT, RIGHT])
    pieces: list[list[str]] = [[] for _ in texts]
    for number, piece in pieces_of_reads(left):
        pieces[number].append(piece)
    before = np.bincount(reads.read, reads.length, minlength=len(texts))
    after = np.bincount(left.read, left.length, minlength=len(texts))
    assert (np.minimum(amount.sum(axis=0), before) == before - after).all()
    assert left.n_reads == len(texts)
    return ["N".join(piece) for piece in pieces]


def test_primers_at_the_beginning_and_the_end():
    end = reverse_complement(RIGHT)
    assert cut(LEFT + INSERT, RIGHT + INSERT, LEFT + INSERT + end, INSERT + end, INSERT) == [INSERT] * 5


def test_errors_are_allowed_and_other_places_are_not_cut():
    wrong = LEFT[:10] + "ACGT"["TGCA".index(LEFT[10])] + LEFT[11:]
    assert cut(wrong + INSERT, LEFT[:10] + LEFT[11:] + INSERT) == [INSERT, INSERT]
    for text in (INSERT[:5] + LEFT + INSERT, LEFT[3:] + INSERT, INSERT + LEFT, reverse_complement(LEFT) + INSERT):
        assert cut(text) == [text]


def test_reads_of_primers_alone_are_empty():
    assert cut(LEFT, LEFT + reverse_complement(RIGHT), "", "NN") == [""] * 4


def test_letters_that_are_no_bases_count_as_errors():
    within = LEFT[:8] + "N" + LEFT[9:]
    assert cut(within + INSERT, LEFT + INSERT[:20] + "N" + INSERT[20:]) == [INSERT, INSERT[:20] + "N" + INSERT[20:]]


def test_codes_of_several_bases():
    code = {"A": "R", "G": "R", "C": "Y", "T": "Y"}
    primer = LEFT[:7] + code[LEFT[7]] + LEFT[8:15] + "N" + LEFT[16:]
    assert cut(LEFT + INSERT, INSERT + reverse_complement(LEFT), primers=[primer]) == [INSERT, INSERT]


def test_the_better_of_two_primers_is_cut():
    longer = LEFT + RIGHT[:15]
    assert cut(longer + INSERT, LEFT + INSERT, primers=[LEFT, longer]) == [INSERT, INSERT]


def test_primers_of_fasta(tmp_path):
    path = tmp_path / "primers.fasta"
    path.write_text(fasta([LEFT.lower(), RIGHT.replace("T", "U"), LEFT, "ACGTRYKMSWBDHVN"]))
    assert read_primers(path) == [LEFT, RIGHT, "ACGTRYKMSWBDHVN"]


def bed_line(begin: int, end: int, strand: str, *more: str) -> str:
    return "\t".join(["g", str(begin), str(end), f"p_{begin}", "1", strand, *more]) + "\n"


def test_primers_of_bed(tmp_path):
    bed, reference = tmp_path / "primers.bed", tmp_path / "genome.fasta"
    reference.write_text(f">g the genome\n{GENOME}\n")
    bed.write_text("# scheme\ntrack name=x\n\n" + bed_line(10, 32, "+") + bed_line(200, 225, "-"))
    expected = [GENOME[10:32], reverse_complement(GENOME[200:225])]
    assert read_primers(bed, reference) == expected
    bed.write_text(bed_line(10, 32, "+", LEFT) + bed_line(200, 225, "-", RIGHT))
    assert read_primers(bed) == [LEFT, RIGHT]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected primers, found none"),
        (">a\nACGTACGTN\n", "a primer of at least 10 bases"),
        (">a\nACGTACGTACGT-ACGT\n", "a primer of at least 10 bases"),
        ("g\t1\t20\n", "line 1: expected FASTA, or BED"),
        (bed_line(10, 32, "?"), "line 1: expected FASTA, or BED"),
        (bed_line(10, 32, "+") + bed_line(290, 312, "+"), "line 2: expected a place in a sequence 'g'"),
        (bed_line(10, 12, "+"), "line 1: expected a primer of at least 10 bases"),
        (bed_line(10, 32, "+").replace("g\t", "h\t"), "line 1: expected a place in a sequence 'h'"),
    ],
)
def test_files_without_primers_are_refused(tmp_path, content, message):
    path, reference = tmp_path / "primers", tmp_path / "genome.fasta"
    path.write_text(content)
    reference.write_text(f">g\n{GENOME}\n")
    with pytest.raises(DataError) as caught:
        read_primers(path, reference)
    assert message in str(caught.value)


def test_bed_without_bases_needs_a_reference(tmp_path):
    path = tmp_path / "primers.bed"
    path.write_text(bed_line(10, 32, "+"))
    with pytest.raises(UsageError, match="give --primers-reference"):
        read_primers(path)
