"""BAM, CRAM and SAM: the same reads as in FASTQ, mates found by name, alignments turned back."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pysam
import pytest

from gpuasm.errors import DataError
from gpuasm.io import bam, read_reads
from tests.oracles import reads as oracle

SEQUENCES = oracle.random_sequences(7, 60)
COMPLEMENT = str.maketrans("ACGT", "TGCA")
PAIRED, UNMAPPED, MATE_UNMAPPED, REVERSE, FIRST, SECOND = 0x1, 0x4, 0x8, 0x10, 0x40, 0x80
SECONDARY, SUPPLEMENTARY = 0x100, 0x800

HEADER = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "chr", "LN": 100_000}]}


def record(name: str, sequence: str | None, flag: int, *, position: int | None = None) -> pysam.AlignedSegment:
    """Make a record; with a position an aligned one, whose sequence is stored as the strand demands."""
    made = pysam.AlignedSegment(pysam.AlignmentHeader.from_dict(HEADER))
    made.query_name, made.flag = name, flag
    made.query_sequence = sequence[::-1].translate(COMPLEMENT) if sequence and flag & REVERSE else sequence
    if sequence:
        made.query_qualities = pysam.qualitystring_to_array("I" * len(sequence))
    if position is not None:
        made.reference_id, made.reference_start, made.mapping_quality = 0, position, 60
        made.cigartuples = [(0, len(sequence or ""))]
    return made


def written(path: Path, records: list[pysam.AlignedSegment], mode: str = "wb") -> Path:
    header = dict(HEADER) if any(r.reference_id >= 0 for r in records) else {"HD": HEADER["HD"]}
    with pysam.AlignmentFile(str(path), mode, header=header) as file:
        for made in records:
            file.write(made)
    return path


def unaligned_pairs() -> list[pysam.AlignedSegment]:
    flag = PAIRED | UNMAPPED | MATE_UNMAPPED
    return [record(f"r{i // 2}", s, flag | (SECOND if i % 2 else FIRST)) for i, s in enumerate(SEQUENCES)]


@pytest.mark.parametrize(("mode", "name"), [("wb", "bam"), ("wc", "cram"), ("w", "sam"), ("wbu", "bam")])
def test_unaligned_pairs(tmp_path, mode, name):
    path = written(tmp_path / "reads", unaligned_pairs(), mode)
    found = read_reads(bam=[path])
    assert oracle.pieces_of_reads(found.reads) == list(enumerate(SEQUENCES))
    assert (found.reads.paired, found.n_pairs) == (True, 30)
    (file,) = found.files
    assert (file.format, file.n_reads, file.mean_quality, file.quality_offset) == (name, 60, 40, 33)
    assert (file.size, file.sha256) == (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())


def test_small_blocks_change_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(bam, "_BLOCK_BYTES", 300)
    path = written(tmp_path / "reads", unaligned_pairs())
    assert oracle.pieces_of_reads(read_reads(bam=[path]).reads) == list(enumerate(SEQUENCES))


def test_a_pipe(tmp_path):
    data = written(tmp_path / "reads", unaligned_pairs()).read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(data,)).start()
    assert read_reads(bam=[pipe]).n_pairs == 30


def test_aligned_reads_are_turned_back_and_mates_found(tmp_path):
    a, b, c, d, e = SEQUENCES[:5]
    records = [
        record("x", a, PAIRED | FIRST, position=10),
        record("y", d, PAIRED | SECOND | REVERSE, position=20),
        record("x", a[:50], PAIRED | FIRST | SUPPLEMENTARY, position=30),
        record("x", a, PAIRED | FIRST | SECONDARY, position=40),
        record("lone", e, PAIRED | FIRST | REVERSE, position=50),
        record("y", c, PAIRED | FIRST, position=60),
        record("x", b, PAIRED | SECOND | REVERSE, position=70),
        record("single", "ACGT", REVERSE, position=80),
    ]
    found = read_reads(bam=[written(tmp_path / "reads", records)])
    assert [piece for _, piece in oracle.pieces_of_reads(found.reads)] == [c, d, a, b, "ACGT", e]
    assert (found.reads.n_reads, found.reads.paired, found.n_pairs) == (6, False, 2)


def test_reads_without_qualities_or_bases(tmp_path):
    no_qualities = record("a", "ACGTN", UNMAPPED)
    no_qualities.query_qualities = None
    found = read_reads(bam=[written(tmp_path / "reads", [no_qualities, record("b", None, UNMAPPED)])])
    assert oracle.pieces_of_reads(found.reads) == [(0, "ACGT")]
    (file,) = found.files
    assert (file.n_reads, file.n_non_acgt, file.mean_quality, file.quality_offset) == (2, 1, None, None)


@pytest.mark.parametrize(("mode", "name"), [("wb", "BAM"), ("wc", "CRAM")])
@pytest.mark.parametrize("cut", [28, 40, 200])
def test_cut_off(tmp_path, capfd, mode, name, cut):
    path = written(tmp_path / "reads", unaligned_pairs(), mode)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(DataError, match=f"expected a whole {name} file, .*cut off.*the last good record is") as caught:
        read_reads(bam=[path])
    assert caught.value.exit_code == 65
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("data", [b"", b"@r\nACGT\n+\nIIII\n", b">r\nACGT\n", b"nothing of the kind\n"])
def test_other_formats(tmp_path, capfd, data):
    path = tmp_path / "reads"
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"expected a BAM, CRAM or SAM file, .*--single"):
        read_reads(bam=[path])
    assert capfd.readouterr().err == ""


def test_no_reads(tmp_path):
    with pytest.raises(DataError, match="a file without reads"):
        read_reads(bam=[written(tmp_path / "reads", [])])


@pytest.mark.parametrize("mode", ["wb", "wc", "w"])
def test_given_as_fastq(tmp_path, mode):
    path = written(tmp_path / "reads", unaligned_pairs(), mode)
    with pytest.raises(DataError, match=r"expected reads in FASTQ or FASTA, found (BAM|CRAM|SAM); give it with --bam"):
        read_reads(single=[path])
