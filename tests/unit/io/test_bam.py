"""BAM, CRAM and SAM: the same reads as in FASTQ, mates found by flags and name, alignments turned back."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pysam
import pytest

from gpuasm.errors import DataError
from gpuasm.io import bam, read_reads
from gpuasm.io.unpaired_files import find_unpaired_files
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


def sam(path: Path, lines: list[str], header: str = "@HD\tVN:1.6\n") -> Path:
    path.write_text(header + "".join(f"{line}\n" for line in lines))
    return path


def unaligned(name: str, flag: int, sequence: str, tags: str = "") -> str:
    return f"{name}\t{flag}\t*\t0\t0\t*\t*\t0\t0\t{sequence}\t*{tags}"


FIRST_MATE, SECOND_MATE = 77, 141
MARKS = [("/1", "/2"), (".1", ".2"), ("_1", "_2"), (":1", ":2"), ("-1", "-2"), ("_R1", "_R2"), (".f", ".r")]


@pytest.mark.parametrize(("first", "second"), [("", ""), *MARKS, ("_1:N:0:AC", "_2:N:0:AC")])
def test_names_with_marks_of_mates(tmp_path, first, second):
    lines = []
    for i in range(5):
        lines.append(unaligned(f"r{i}{first}", FIRST_MATE, SEQUENCES[2 * i]))
        lines.append(unaligned(f"r{i}{second}", SECOND_MATE, SEQUENCES[2 * i + 1]))
    found = read_reads(bam=[sam(tmp_path / "reads", lines)])
    assert (found.n_pairs, found.files[0].warnings) == (5, ())
    assert oracle.pieces_of_reads(found.reads) == list(enumerate(SEQUENCES[:10]))


@pytest.mark.parametrize("flag", [FIRST_MATE, SECOND_MATE, 13, 205])
def test_two_mates_of_one_number_are_no_pair(tmp_path, flag):
    lines = [unaligned(f"r{i // 2}", flag, SEQUENCES[i]) for i in range(10)]
    found = read_reads(bam=[sam(tmp_path / "reads", lines)])
    assert (found.n_pairs, found.reads.n_reads) == (0, 10)
    assert "10 of 10 reads with flags of pairs have no mate" in found.files[0].warnings[0]


def test_names_of_two_runs(tmp_path):
    numbers = [(run, i) for run in range(2) for i in range(5)]
    lines = [unaligned(f"r{i}", FIRST_MATE, SEQUENCES[2 * (5 * run + i)]) for run, i in numbers]
    lines += [unaligned(f"r{i}", SECOND_MATE, SEQUENCES[2 * (5 * run + i) + 1]) for run, i in numbers]
    found = read_reads(bam=[sam(tmp_path / "reads", lines)])
    assert oracle.pieces_of_reads(found.reads) == list(enumerate(SEQUENCES[:20]))


def test_read_groups_distinguish_runs(tmp_path):
    header = "@HD\tVN:1.6\n@RG\tID:a\n@RG\tID:b\n"
    mates = [(FIRST_MATE, 0, "a"), (FIRST_MATE, 2, "b"), (SECOND_MATE, 3, "b"), (SECOND_MATE, 1, "a")]
    lines = [unaligned("r", flag, SEQUENCES[i], f"\tRG:Z:{group}") for flag, i, group in mates]
    found = read_reads(bam=[sam(tmp_path / "reads", lines, header)])
    assert [piece for _, piece in oracle.pieces_of_reads(found.reads)] == [SEQUENCES[i] for i in (2, 3, 0, 1)]


@pytest.mark.parametrize(("first", "second"), [("", ""), ("/1", "/2"), ("/2", "/1")])
def test_neighbours_of_one_name_without_flags_are_mates(tmp_path, first, second):
    lines = [unaligned(f"r{i // 2}{(first, second)[i % 2]}", UNMAPPED, SEQUENCES[i]) for i in range(10)]
    found = read_reads(bam=[sam(tmp_path / "reads", lines)])
    order = [i ^ (first == "/2") for i in range(10)]
    assert [piece for _, piece in oracle.pieces_of_reads(found.reads)] == [SEQUENCES[i] for i in order]
    assert found.n_pairs == 5
    assert "5 pairs of records in a row have one name, and no flags of pairs" in found.files[0].warnings[0]
    assert find_unpaired_files(found.files) == []


@pytest.mark.parametrize("names", [["r"] * 7, ["r0", "r1"] * 3, ["r/1"] * 2, ["*"] * 2, ["a", "b", "b", "b", "b"]])
def test_records_without_flags_that_are_no_mates(tmp_path, names):
    lines = [unaligned(name, UNMAPPED, SEQUENCES[i]) for i, name in enumerate(names)]
    found = read_reads(bam=[sam(tmp_path / "reads", lines)])
    assert (found.n_pairs, found.files[0].warnings) == (0, ())
    assert oracle.pieces_of_reads(found.reads) == list(enumerate(SEQUENCES[: len(names)]))


@pytest.mark.parametrize("block", [1, 200, 500])
def test_neighbours_across_blocks(tmp_path, monkeypatch, block):
    monkeypatch.setattr(bam, "_BLOCK_BYTES", block)
    names = ["a", "b", "b", "c", "d", "d", "e", "e", "e", "f", "g", "g"]
    lines = [unaligned(name, UNMAPPED, SEQUENCES[i]) for i, name in enumerate(names)]
    found = read_reads(bam=[sam(tmp_path / "reads", lines)])
    pieces = [piece for _, piece in oracle.pieces_of_reads(found.reads)]
    assert found.n_pairs == 3
    assert pieces == [SEQUENCES[i] for i in (1, 2, 4, 5, 10, 11, 0, 3, 6, 7, 8, 9)]


def test_a_read_that_is_written_twice_is_no_pair(tmp_path):
    lines = [unaligned(f"r{i}", UNMAPPED, SEQUENCES[i]) for i in (0, 0, 1, 2, 2)]
    assert read_reads(bam=[sam(tmp_path / "reads", lines)]).n_pairs == 0


def test_neighbours_of_two_read_groups_are_no_mates(tmp_path):
    header = "@HD\tVN:1.6\n@RG\tID:a\n@RG\tID:b\n"
    lines = [unaligned("r", UNMAPPED, SEQUENCES[i], f"\tRG:Z:{group}") for i, group in enumerate("ab")]
    assert read_reads(bam=[sam(tmp_path / "reads", lines, header)]).n_pairs == 0


def test_mates_apart_without_flags_are_noticed(tmp_path):
    path = sam(tmp_path / "reads", [unaligned(f"r{i % 5}", UNMAPPED, SEQUENCES[i]) for i in range(10)])
    (lost,) = find_unpaired_files(read_reads(bam=[path]).files)
    assert "mates without flags of pairs" in str(lost)
    assert f"samtools collate -O {path} | samtools fastq" in lost.remedy
    assert find_unpaired_files(read_reads(bam=[written(tmp_path / "bam", unaligned_pairs())]).files) == []


def test_a_pair_without_flags_among_pairs_with_flags(tmp_path):
    flags = [FIRST_MATE, UNMAPPED, SECOND_MATE, UNMAPPED]
    names = ["a", "b", "a", "b"]
    lines = [unaligned(name, flag, SEQUENCES[i]) for i, (name, flag) in enumerate(zip(names, flags, strict=True))]
    found = read_reads(bam=[sam(tmp_path / "reads", lines)])
    assert (found.n_pairs, found.reads.n_reads) == (2, 4)


def test_reverse_strand_without_qualities_or_sequence(tmp_path):
    header = "@HD\tVN:1.6\n@SQ\tSN:g\tLN:1000\n"
    lines = ["a\t16\tg\t1\t60\t4M\t*\t0\t0\tAACG\t*", "b\t16\tg\t9\t60\t4M\t*\t0\t0\t*\t*"]
    found = read_reads(bam=[sam(tmp_path / "reads", lines, header)])
    assert oracle.pieces_of_reads(found.reads) == [(0, "CGTT")]


@pytest.mark.parametrize("name", ["r\u4e16", "r\u00e9", "r" * 250])
def test_names_that_are_no_ascii(tmp_path, name):
    lines = [unaligned(name, FIRST_MATE, "ACGT"), unaligned(name, SECOND_MATE, "CCCC")]
    assert read_reads(bam=[sam(tmp_path / "reads", lines)]).n_pairs == 1


@pytest.mark.parametrize(("mode", "size"), [("wb", 28), ("wc", 38)])
def test_cut_at_the_end_of_a_block(tmp_path, mode, size):
    path = written(tmp_path / "reads", unaligned_pairs(), mode)
    path.write_bytes(path.read_bytes()[:-size])
    with pytest.raises(DataError, match="cut off before their end"):
        read_reads(bam=[path])


def test_compressed_sam_cut_at_the_end_of_a_block(tmp_path):
    plain = sam(tmp_path / "sam", [unaligned("r", UNMAPPED, "ACGT")])
    pysam.tabix_compress(str(plain), str(tmp_path / "sam.gz"))
    assert read_reads(bam=[tmp_path / "sam.gz"]).reads.n_reads == 1
    (tmp_path / "sam.gz").write_bytes((tmp_path / "sam.gz").read_bytes()[:-28])
    with pytest.raises(DataError, match="expected a whole SAM file"):
        read_reads(bam=[tmp_path / "sam.gz"])


@pytest.mark.parametrize(("mode", "name"), [("wb", "BAM"), ("wc", "CRAM")])
@pytest.mark.parametrize("size", [30, 60])
def test_cut_in_the_header(tmp_path, capfd, mode, name, size):
    path = written(tmp_path / "reads", unaligned_pairs(), mode)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(DataError, match=f"expected a whole {name} file, .*cut off"):
        read_reads(bam=[path])
    assert capfd.readouterr().err == ""


def test_alignments_without_a_header(tmp_path):
    path = sam(tmp_path / "reads", ["a\t0\tg\t1\t60\t4M\t*\t0\t0\tACGT\t*"], "")
    with pytest.raises(DataError, match=r"alignments without a header; .*samtools view -h"):
        read_reads(bam=[path])
    with pytest.raises(DataError, match="found SAM; give it with --bam"):
        read_reads(single=[path])


REFERENCE = "ACGTTGCA" * 60


@pytest.fixture
def cram(tmp_path):
    """CRAM whose reads are differences from a reference; where its header names the reference lies a pipe."""
    fasta, plain = tmp_path / "reference.fa", tmp_path / "reads.sam"
    fasta.write_text(f">c1\n{REFERENCE}\n")
    header = f"@HD\tVN:1.6\n@SQ\tSN:c1\tLN:{len(REFERENCE)}\tUR:{fasta}\n"
    sam(plain, [f"r\t0\tc1\t9\t60\t48M\t*\t0\t0\t{REFERENCE[8:56]}\t*"], header)
    pysam.view("-C", "-T", str(fasta), "-o", str(tmp_path / "reads.cram"), str(plain), catch_stdout=False)
    fasta.unlink()
    os.mkfifo(fasta)
    return tmp_path / "reads.cram"


def test_paths_in_the_header_of_cram_are_not_opened(cram, tmp_path, monkeypatch, capfd):
    monkeypatch.delenv("REF_CACHE", raising=False)
    checksum = hashlib.md5(REFERENCE.encode(), usedforsecurity=False).hexdigest()
    os.mkfifo(tmp_path / checksum)
    for path in ("", "/none", f"{tmp_path}", f"http://127.0.0.1:9/%s:{tmp_path}/named/%2s/%s"):
        monkeypatch.setenv("REF_PATH", path)
        with pytest.raises(DataError, match=r"expected a whole CRAM file, .*REF_PATH"):
            read_reads(bam=[cram])
    assert capfd.readouterr().err == ""


def test_references_that_the_user_names(cram, tmp_path, monkeypatch):
    checksum = hashlib.md5(REFERENCE.encode(), usedforsecurity=False).hexdigest()
    named = tmp_path / "named" / checksum[:2] / checksum[2:]
    named.parent.mkdir(parents=True)
    named.write_text(REFERENCE)
    monkeypatch.setenv("REF_PATH", f"/none:{tmp_path}/named/%2s/%s")
    assert oracle.pieces_of_reads(read_reads(bam=[cram]).reads) == [(0, REFERENCE[8:56])]
