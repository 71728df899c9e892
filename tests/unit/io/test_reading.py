"""Reading: every format and compression gives what a plain parser finds, wherever blocks end."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import struct
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.io import read_reads
from gpuasm.stages import Stages
from tests.oracles import reads as oracle

SEQUENCES = oracle.random_sequences(1, 40)
TEXT = oracle.fastq(SEQUENCES)

letters = st.sampled_from("ACGTACGTACGTacgtNnURYKMSWryswBDHV.")
sequences = st.lists(st.text(letters, max_size=100), min_size=1, max_size=12)
block_sizes = st.sampled_from([1, 2, 3, 17, 64, 500, 1 << 20])
line_ends = st.sampled_from(["\n", "\r\n"])


def bgzip(data: bytes, size: int = 700) -> bytes:
    """Compress as bgzip does: small members with their size in an extra field, and an empty one at the end."""
    members = []
    for part in [data[at : at + size] for at in range(0, len(data), size)] + [b""]:
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        body = packer.compress(part) + packer.flush()
        head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(body) + 25)
        members.append(head + body + struct.pack("<II", zlib.crc32(part), len(part)))
    return b"".join(members)


COMPRESSIONS = {
    "none": lambda data: data,
    "gzip": gzip.compress,
    "bgzip": bgzip,
    "zstd": zstandard.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reading")


@settings(max_examples=150)
@given(sequences, block_sizes, line_ends, st.booleans())
def test_fastq_is_read_as_a_plain_parser_does(folder, sequences, block_bytes, end, ends_open):
    text = oracle.fastq(sequences, end=end)
    if ends_open and sequences[-1]:
        text = text.rstrip()
    path = folder / "reads.fq"
    path.write_bytes(text.encode())
    found = read_reads(single=[path], block_bytes=block_bytes)
    assert oracle.pieces_of_reads(found.reads) == oracle.pieces_of_text(text)
    assert found.reads.n_reads == len(sequences)
    lengths = [len(sequence) for sequence in sequences]
    np.testing.assert_array_equal(found.length_histogram, np.bincount(lengths))
    (file,) = found.files
    assert (file.n_bases, file.min_length, file.max_length) == (sum(lengths), min(lengths), max(lengths))
    assert file.n_non_acgt == file.n_bases - found.reads.n_bases


@settings(max_examples=100)
@given(sequences, block_sizes, line_ends, st.sampled_from([7, 60, 1000]))
def test_fasta_is_read_as_a_plain_parser_does(folder, sequences, block_bytes, end, width):
    text = oracle.fasta(sequences, width=width, end=end)
    path = folder / "reads.fa"
    path.write_bytes(text.encode())
    found = read_reads(single=[path], block_bytes=block_bytes)
    assert oracle.pieces_of_reads(found.reads) == oracle.pieces_of_text(text)
    assert found.reads.n_reads == len(sequences)


@settings(max_examples=60)
@given(st.lists(st.text(letters, min_size=1, max_size=60), min_size=1, max_size=8), block_sizes, st.integers(3, 20))
def test_wrapped_fastq(folder, sequences, block_bytes, width):
    wrap = lambda line: "\n".join(line[at : at + width] for at in range(0, len(line), width))  # noqa: E731
    # Qualities full of the letters that begin headers and separators.
    records = [f"@r{i}\n{wrap(s)}\n+\n{wrap(('@+I' * len(s))[: len(s)])}\n" for i, s in enumerate(sequences)]
    path = folder / "wrapped.fq"
    path.write_text("".join(records))
    found = read_reads(single=[path], block_bytes=block_bytes)
    assert oracle.pieces_of_reads(found.reads) == oracle.pieces_of_text(oracle.fastq(sequences))


@settings(max_examples=60)
@given(sequences, sequences, block_sizes)
def test_mates_of_two_files_come_side_by_side(folder, first, second, block_bytes):
    n = min(len(first), len(second))
    first, second = first[:n], second[:n]
    paths = folder / "1.fq", folder / "2.fq"
    for mate, (path, mates) in enumerate(zip(paths, (first, second), strict=True), 1):
        path.write_text(oracle.fastq(mates, names=[f"pair{i}/{mate} {'x' * mate * i}" for i in range(n)]))
    together = [mate for pair in zip(first, second, strict=True) for mate in pair]
    found = read_reads(pairs=[paths], block_bytes=block_bytes)
    assert oracle.pieces_of_reads(found.reads) == oracle.pieces_of_text(oracle.fastq(together))
    assert (found.reads.n_reads, found.reads.paired, found.n_pairs) == (2 * n, True, n)


@settings(max_examples=60)
@given(sequences, block_sizes)
def test_interleaved_mates(folder, sequences, block_bytes):
    names = [f"pair{i // 2} {i % 2 + 1}:N:0" for i in range(2 * len(sequences))]
    text = oracle.fastq(sequences + sequences[::-1], names=names)
    path = folder / "interleaved.fq"
    path.write_text(text)
    found = read_reads(interleaved=[path], block_bytes=block_bytes)
    assert oracle.pieces_of_reads(found.reads) == oracle.pieces_of_text(text)
    assert (found.reads.paired, found.n_pairs) == (True, len(sequences))


@pytest.mark.parametrize("block_bytes", [100, 1 << 20])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_compressions_are_found_by_content(tmp_path, compression, block_bytes):
    data = COMPRESSIONS[compression](TEXT.encode())
    path = tmp_path / "reads.txt"
    path.write_bytes(data)
    found = read_reads(single=[path], block_bytes=block_bytes)
    assert oracle.pieces_of_reads(found.reads) == list(enumerate(SEQUENCES))
    (file,) = found.files
    assert (file.format, file.compression) == ("fastq", compression)
    assert (file.size, file.sha256) == (len(data), hashlib.sha256(data).hexdigest())


@pytest.mark.parametrize("compression", ["gzip", "zstd", "bzip2", "xz"])
def test_several_streams_one_after_the_other(tmp_path, compression):
    compress, data = COMPRESSIONS[compression], TEXT.encode()
    padding = b"\0" * 512 if compression in ("gzip", "xz") else b""
    path = tmp_path / "reads"
    path.write_bytes(compress(data[:1001]) + compress(b"") + compress(data[1001:]) + padding)
    assert oracle.pieces_of_reads(read_reads(single=[path], block_bytes=300).reads) == list(enumerate(SEQUENCES))


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_named_pipes_of_both_mates(tmp_path, compression):
    texts = [TEXT, oracle.fastq([sequence[::-1] for sequence in SEQUENCES])]
    data = [COMPRESSIONS[compression](text.encode()) for text in texts]
    pipes = [tmp_path / "1", tmp_path / "2"]
    for pipe, own in zip(pipes, data, strict=True):
        os.mkfifo(pipe)
        threading.Thread(target=pipe.write_bytes, args=(own,)).start()
    found = read_reads(pairs=[pipes], block_bytes=4000)
    assert found.n_pairs == len(SEQUENCES)
    assert [file.sha256 for file in found.files] == [hashlib.sha256(own).hexdigest() for own in data]


def test_standard_input(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT.encode())))
    monkeypatch.setattr(sys, "stdin", stdin)
    found = read_reads(single=["-"])
    assert (found.reads.n_reads, found.files[0].path, found.files[0].compression) == (40, "-", "gzip")


def test_standard_input_of_a_process():
    code = "from gpuasm.io import read_reads; print(read_reads(interleaved=['-']).n_pairs)"
    names = [f"pair{i // 2}" for i in range(40)]
    text = oracle.fastq(SEQUENCES, names=names)
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True)
    assert done.stdout == "20\n"


def test_pairs_come_before_single_reads(tmp_path):
    paths = [tmp_path / name for name in "abc"]
    for path, chosen in zip(paths, (SEQUENCES[:3], SEQUENCES[3:6], SEQUENCES[6:10]), strict=True):
        path.write_text(oracle.fastq(chosen))
    found = read_reads(single=[paths[2]], pairs=[paths[:2]])
    assert [number for number, _ in oracle.pieces_of_reads(found.reads)] == list(range(10))
    expected = [SEQUENCES[i] for i in (0, 3, 1, 4, 2, 5, 6, 7, 8, 9)]
    assert [piece for _, piece in oracle.pieces_of_reads(found.reads)] == expected
    assert (found.reads.paired, found.n_pairs, len(found.files)) == (False, 3, 3)
    assert found.reads.packed[-1] == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [("a/1", "a/2"), ("a", "a"), ("a 1:N:0:ACGT", "a 2:N:0:ACGT"), ("s.7.1", "s.7.2"), ("a_1", "a_2"), ("a\tx", "a y")],
)
def test_names_that_mates_have(tmp_path, first, second):
    paths = tmp_path / "1", tmp_path / "2"
    for path, name in zip(paths, (first, second), strict=True):
        path.write_text(oracle.fastq(["ACGT"], names=[name]))
    assert read_reads(pairs=[paths]).n_pairs == 1


def test_reads_without_bases_and_blank_lines_at_the_end(tmp_path):
    path = tmp_path / "reads"
    path.write_text("@a\n\n+\n\n@b\nNNN\n+\nIII\n@c\nAC\n+c\nII\n\n\r\n\n")
    for block_bytes in (1, 5, 100):
        found = read_reads(single=[path], block_bytes=block_bytes)
        assert oracle.pieces_of_reads(found.reads) == [(2, "AC")]
        assert (found.reads.n_reads, found.files[0].min_length, found.files[0].n_non_acgt) == (3, 0, 3)


def test_progress_is_in_bytes(tmp_path):
    path = tmp_path / "reads"
    path.write_text(TEXT)
    events = []
    read_reads(single=[path], stages=Stages(events.append))
    assert (events[-1].kind, events[-1].done, events[-1].total) == ("end", len(TEXT), len(TEXT))


def test_qualities_are_counted_the_same_wherever_blocks_end(tmp_path):
    rng = np.random.default_rng(3)
    path = tmp_path / "reads"
    with path.open("w") as file:
        for i in range(12_000):
            file.write(f"@{i}\nACGTA\n+\n{''.join(map(chr, rng.integers(35, 74, 5)))}\n")
    one, other = (read_reads(single=[path], block_bytes=size).files[0] for size in (1000, 1 << 20))
    assert one == other
    assert one.quality_range == (35, 73)
    assert one.mean_quality == pytest.approx(21, abs=0.3)
