"""Bad input: the exit code, the record and the remedy of each."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tarfile
import threading
from contextlib import nullcontext

import pytest
import zstandard

from gpuasm.errors import DataError, NoInputError, ReadWriteError, ResourceError, UsageError
from gpuasm.io import read_reads, sources
from gpuasm.resources import limited_memory, resident_bytes
from tests.oracles import reads as oracle

GOOD = "@a\nACGT\n+\nIIII\n"
SEQUENCES = oracle.random_sequences(5, 200)

MALFORMED = {
    "no @": (f"{GOOD}r2\nACGT\n+\nIIII\n", "record 2", "beginning with '@', found 'r2'", "lost or an extra line"),
    "blank line within": (f"{GOOD}\n{GOOD}", "record 2", "found an empty line", "lost or an extra line"),
    "no +": (f"{GOOD}@b\nACGT\nIIII\n{GOOD}", "record 2", "beginning with '+' after the bases, found 'IIII'", "repair"),
    "short quality": (f"{GOOD}@b\nACGT\n+\nIII\n{GOOD}", "record 2", "qualities as bases (4), found 3", "repair"),
    "long quality": (f"{GOOD}@b\nACGT\n+\nIIIII\n{GOOD}", "record 2", "qualities as bases (4), found 5", "repair"),
    # 'II', a newline and the next header are as long as the bases: a jump lands on a line end nevertheless.
    "short quality, by chance": ("@a\nACGTA\n+\nII\n@b\nAC\n+\nII\n", "record 1", "(5), found 2", "repair"),
    "quality of other characters": ("@a\nACGT\n+\nI\x07II\n", "record 1", "no qualities", "repair"),
    "quality beyond ASCII": ("@a\nACGTACGTACGT\n+\nIIIIIIIIII\xff\xff\n", "record 1", "no qualities", "repair"),
    "cut in header": (f"{GOOD}@b", "record 2", "the end of the file within it", "cut off"),
    "cut in bases": (f"{GOOD}@b\nACG", "record 2", "the end of the file within it", "cut off"),
    "cut before +": (f"{GOOD}@b\nACGT\n", "record 2", "the end of the file within it", "cut off"),
    "cut in quality": (f"{GOOD}@b\nACGT\n+\nII", "record 2", "(4), found 2", "download the file again"),
    "no letter": (f"{GOOD}@b\nAC!T\n+\nIIII\n", "record 2", "'!' in the sequence", "nucleotides"),
    "protein": (">a\nACGT\n>b\nMKLV\n", "record 2", "'L' in the sequence", "nucleotides"),
    "space": ("@a\nAC GT\n+\nIIIII\n", "record 1", "found a blank in the sequence", "nucleotides"),
    "FASTA after FASTQ": (f"{GOOD}>b\nACGT\n", "record 2", "found '>b'", "lost or an extra line"),
    "text": ("name,sequence\n", "record 1", "found 'name,sequence'", "check that this is a file of reads"),
    "web page": ("<!DOCTYPE html>", "", "found a web page", "download the file itself"),
    "archive": ("PK\x03\x04", "", "found a ZIP archive", "unpack it first"),
    "SAM": ("@HD\tVN:1.6\n", "", "found SAM", "--bam"),
    "empty": ("", "", "found an empty file", "check how the file was made"),
    "blank": ("\n\n", "", "found an empty file", "check how the file was made"),
    "7z": ("7z\xbc\xaf\x27\x1c...", "", "found a 7z archive", "unpack it first"),
    "lz4": ("\x04\x22\x4d\x18", "", "found lz4 data", "unpack it first"),
    "UTF-16": ("\xff\xfe@\0r\0", "", "found a text in UTF-16", "plain ASCII"),
    "UTF-16 without a mark": ("@\0r\0\n\0", "", "found a text in UTF-16", "plain ASCII"),
    "SAM without a header": ("r\t77\t*\t0\t0\t*\t*\t0\t0\tACGT\t*\n", "", "found SAM", "--bam"),
    "carriage returns in FASTQ": (GOOD.replace("\n", "\r"), "record 1", "carriage returns alone", "convert the file"),
    "carriage returns in FASTA": (">a\rACGT\r>b\rACGT\r", "record 1", "carriage returns alone", "convert the file"),
    "carriage returns later": (">a\nACGT\r>b\rACGT\r", "record 1", "carriage returns alone", "convert the file"),
    "NUL in the bases": (">a\nAC\0GT\n", "record 1", "found a NUL byte in the sequence", "nucleotides"),
    "run of NULs": (f"{GOOD}{chr(0) * 100}", "record 2", "found a run of NUL bytes", "lost or an extra line"),
    "wrapped, no +": ("@a\nACGT\nACGT\n!x\n", "record 1", "found '!x'", "repair"),
}


def written(path, text):
    path.write_bytes(text.encode("latin-1") if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("block_bytes", [1, 20, 1 << 20])
@pytest.mark.parametrize("case", MALFORMED)
def test_malformed(tmp_path, case, block_bytes):
    text, record, found, remedy = MALFORMED[case]
    path = written(tmp_path / "reads.fq", text)
    with pytest.raises(DataError) as caught:
        read_reads(single=[path], block_bytes=block_bytes)
    message = str(caught.value)
    assert message.startswith(f"{path}, {record}: expected " if record else f"{path}: expected ")
    assert found in message
    assert remedy in message
    assert "\n" not in message
    assert caught.value.exit_code == 65


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress, bz2.compress, lzma.compress])
def test_an_empty_file_compressed(tmp_path, compress):
    path = written(tmp_path / "reads", compress(b""))
    with pytest.raises(DataError, match="found an empty file"):
        read_reads(single=[path])


@pytest.mark.parametrize("kept", [0.3, 0.9, -1, -8])
def test_truncated_gzip_names_the_last_good_record(tmp_path, kept):
    data = gzip.compress(oracle.fastq(SEQUENCES).encode(), compresslevel=1)
    path = written(tmp_path / "reads.gz", data[: kept if kept < 0 else int(kept * len(data))])
    with pytest.raises(DataError, match=r"gzip data cut off before their end; .*download the file again") as caught:
        read_reads(single=[path], block_bytes=1000)
    n = int(caught.value.place.removeprefix("after record "))
    assert f"the last good record is {n}" in str(caught.value)
    assert n == 200 if kept < 0 else abs(n - 200 * kept) < 20


@pytest.mark.parametrize("compress", [zstandard.compress, bz2.compress, lzma.compress])
def test_truncated_other_compressions(tmp_path, compress):
    data = compress(oracle.fastq(SEQUENCES).encode())
    path = written(tmp_path / "reads", data[:-10])
    with pytest.raises(DataError, match=r"cut off before their end; the last good record is \d+"):
        read_reads(single=[path])


@pytest.mark.parametrize("position", [-6, -2], ids=["checksum", "length"])
def test_wrong_checksum_of_gzip(tmp_path, position):
    data = bytearray(gzip.compress(oracle.fastq(SEQUENCES).encode()))
    data[position] ^= 1
    path = written(tmp_path / "reads.gz", bytes(data))
    with pytest.raises(DataError, match="damaged gzip data") as caught:
        read_reads(single=[path])
    assert caught.value.place.startswith("after record ")


def test_garbage_after_gzip(tmp_path):
    path = written(tmp_path / "reads.gz", gzip.compress(GOOD.encode()) + b"garbage")
    with pytest.raises(DataError, match="other bytes after the end of the gzip data") as caught:
        read_reads(single=[path])
    assert caught.value.place == "after record 1"


def test_truncated_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = gzip.compress(oracle.fastq(SEQUENCES).encode())[:-20]
    threading.Thread(target=pipe.write_bytes, args=(data,)).start()
    with pytest.raises(DataError, match="gzip data cut off"):
        read_reads(single=[pipe])


@pytest.mark.parametrize("block_bytes", [50, 1 << 20])
@pytest.mark.parametrize(("n_1", "n_2"), [(10, 12), (12, 10), (1, 30)])
def test_unequal_mates(tmp_path, n_1, n_2, block_bytes):
    paths = [
        written(tmp_path / str(n), oracle.fastq(SEQUENCES[:n], names=[f"r{i}" for i in range(n)])) for n in (n_1, n_2)
    ]
    with pytest.raises(DataError, match=f"found {n_1} first and {n_2} second mates; check whether") as caught:
        read_reads(pairs=[paths], block_bytes=block_bytes)
    assert (caught.value.place, caught.value.exit_code) == (f"after record {min(n_1, n_2)}", 65)
    assert all(str(path) in str(caught.value) for path in paths)


@pytest.mark.parametrize("block_bytes", [50, 1 << 20])
@pytest.mark.parametrize("lost", [0, 7, 28])
def test_mates_out_of_step(tmp_path, lost, block_bytes):
    names = [f"run:{i:04d}" for i in range(30)]
    first = written(tmp_path / "1", oracle.fastq(SEQUENCES[:30], names=[f"{name}/1" for name in names]))
    kept = [f"{name}/2" for name in names[:lost] + names[lost + 1 :]]
    second = written(tmp_path / "2", oracle.fastq(SEQUENCES[:29], names=kept))
    message = f"found 'run:{lost:04d}/1' and 'run:{lost + 1:04d}/2'; bring the files back into step"
    with pytest.raises(DataError, match=message) as caught:
        read_reads(pairs=[(first, second)], block_bytes=block_bytes)
    assert caught.value.place == f"record {lost + 1}"


@pytest.mark.parametrize("block_bytes", [1, 35, 50, 1 << 20])
def test_interleaved_out_of_step(tmp_path, block_bytes):
    names = ["a", "a", "b", "b", "c", "d", "d"]
    path = written(tmp_path / "reads", oracle.fastq(["ACGTACGT"] * 7, names=names))
    with pytest.raises(DataError, match="found 'c' and 'd'") as caught:
        read_reads(interleaved=[path], block_bytes=block_bytes)
    assert caught.value.place == "record 6"


@pytest.mark.parametrize("block_bytes", [1, 35, 1 << 20])
def test_interleaved_with_a_mate_missing(tmp_path, block_bytes):
    path = written(tmp_path / "reads", oracle.fastq(["ACGT"] * 3, names=["a", "a", "b"]))
    with pytest.raises(DataError, match="found 2 first and 1 second mates"):
        read_reads(interleaved=[path], block_bytes=block_bytes)


def test_the_same_file_twice(tmp_path):
    path = written(tmp_path / "reads", GOOD)
    link = tmp_path / "link"
    link.symlink_to(path)
    for given in ({"pairs": [(path, link)]}, {"single": [path, path]}, {"single": [path], "interleaved": [link]}):
        with pytest.raises(UsageError, match="the same file; give the file of the other mates") as caught:
            read_reads(**given)
        assert caught.value.exit_code == 2
    with pytest.raises(UsageError, match="every input file once"):
        read_reads(pairs=[("-", "-")])


def test_no_files():
    with pytest.raises(UsageError, match="found none"):
        read_reads()


def test_files_that_are_not_there(tmp_path, monkeypatch):
    good = written(tmp_path / "reads", GOOD)
    for path, found in ((tmp_path / "missing", "no such file"), (tmp_path, "a folder")):
        for given in ({"single": [path]}, {"bam": [path]}, {"pairs": [(good, path)]}):
            with pytest.raises(NoInputError, match=f"{path}: expected a readable file, found {found}") as caught:
                read_reads(**given)
            assert caught.value.exit_code == 66
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(NoInputError, match="without permission"):
        read_reads(single=[good])


def test_a_file_that_disappears_or_cannot_be_opened(tmp_path, monkeypatch):
    good = written(tmp_path / "reads", GOOD)
    monkeypatch.setattr(sources, "check_inputs", lambda paths: None)
    for error, found in ((PermissionError(13, "no"), "without permission"), (OSError(5, "I/O error"), "I/O error")):

        def fail(*args, error=error, **kwargs):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(sources, "open", fail, raising=False)
            with pytest.raises(NoInputError, match=found):
                read_reads(single=[good])


def test_a_read_that_fails(tmp_path, monkeypatch):
    class BrokenDisk:
        def read(self, n):
            raise OSError(5, "Input/output error")

        def __enter__(self):
            return self

        def __exit__(self, *args):
            pass

    monkeypatch.setattr(sources, "open_input", lambda path: BrokenDisk())
    path = written(tmp_path / "reads", GOOD)
    with pytest.raises(ReadWriteError, match="Input/output error") as caught:
        read_reads(single=[path])
    assert caught.value.exit_code == 74


def test_a_terminal_as_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115 - closed by the collector
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    with pytest.raises(NoInputError, match="a terminal"):
        read_reads(single=["-"])


def test_threads_end_after_an_error(tmp_path):
    bad = written(tmp_path / "bad", "@a\nACGT\n")
    good = written(tmp_path / "good", oracle.fastq(SEQUENCES * 20))
    with pytest.raises(DataError):
        read_reads(pairs=[(bad, good)], block_bytes=100)
    for thread in threading.enumerate():
        if thread.name == "gpuasm-io":
            thread.join(timeout=10)
            assert not thread.is_alive()


MEGABYTE = 1 << 20
LONG_RECORDS = {
    "a wrong separator": (f"@b\n{'A' * (2 * MEGABYTE)}\n-\n{'I' * (2 * MEGABYTE)}\n", "found '-'"),
    "a wrong separator after lines": ("@b\n" + "ACGT\n" * MEGABYTE + "-\n" + "IIII\n" * MEGABYTE, "found '-'"),
    "another number of qualities": (
        f"@b\n{'A' * (2 * MEGABYTE)}\n+\n{'I' * (2 * MEGABYTE - 5)}\n{GOOD}",
        f"qualities as bases ({2 * MEGABYTE}), found {2 * MEGABYTE - 5}",
    ),
    "NULs": (f"@b\nACGT{chr(0) * (2 * MEGABYTE)}\n+\n", "found 0; copy"),
    "NULs for a header": (f"{chr(0) * (2 * MEGABYTE)}\n{GOOD}", "found a run of NUL bytes"),
    "NULs for the separator": (f"@b\nACGT\n{chr(0) * (2 * MEGABYTE)}\nIIII\n", "found a run of NUL bytes"),
}


@pytest.mark.parametrize("case", LONG_RECORDS)
def test_malformed_records_over_a_megabyte(tmp_path, case):
    text, found = LONG_RECORDS[case]
    with pytest.raises(DataError) as caught:
        read_reads(single=[written(tmp_path / "reads.fq", GOOD + text)])
    assert found in str(caught.value)
    assert len(str(caught.value)) <= 400


@pytest.mark.parametrize("outer", [gzip.compress, bz2.compress])
@pytest.mark.parametrize(("inner", "name"), [(gzip.compress, "gzip"), (lzma.compress, "xz"), (bz2.compress, "bzip2")])
def test_compressed_twice(tmp_path, outer, inner, name):
    with pytest.raises(DataError, match=f"found {name} data within other compressed data; unpack it once"):
        read_reads(single=[written(tmp_path / "reads", outer(inner(GOOD.encode())))])


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_tar_archive(tmp_path, compress):
    with tarfile.open(tmp_path / "reads.tar", "w") as archive:
        archive.add(written(tmp_path / "@reads", GOOD), "@reads")
    path = written(tmp_path / "reads", compress((tmp_path / "reads.tar").read_bytes()))
    with pytest.raises(DataError, match=r"found a tar archive; unpack it first \(tar -xf\)"):
        read_reads(single=[path])


@pytest.mark.parametrize("unit", [b"A", b">\nA\n", b"@r\nACGTACGTACGT\n+\nIIIIIIIIIIII\n"])
def test_few_bytes_that_unpack_to_many(tmp_path, unit):
    path, text, n = tmp_path / "reads.zst", unit * ((1 << 20) // len(unit)), 300
    head = b">a\n" if unit == b"A" else b""
    packer = zstandard.ZstdCompressor().compressobj(size=len(head) + n * len(text))
    path.write_bytes(packer.compress(head) + b"".join(packer.compress(text) for _ in range(n)) + packer.flush())
    before = resident_bytes()
    reasons = r"a budget of|at most 200 times"
    with limited_memory(before + (100 << 20)), pytest.raises(ResourceError, match=reasons) as caught:
        read_reads(single=[path])
    assert (caught.value.path, caught.value.exit_code) == (str(path), 75)
    assert resident_bytes() < before + (200 << 20)


@pytest.mark.parametrize("kind", ["single", "interleaved"])
@pytest.mark.parametrize("empty", [b"", b"\n", gzip.compress(b"", mtime=0)])
def test_an_empty_file_next_to_others(tmp_path, kind, empty):
    texts = oracle.fastq(SEQUENCES), oracle.fastq([sequence[::-1] for sequence in SEQUENCES])
    pair = [written(tmp_path / str(number), text) for number, text in enumerate(texts)]
    found = read_reads(pairs=[pair], **{kind: [written(tmp_path / "empty", empty)]})
    assert (found.n_pairs, found.reads.paired, found.files[-1].n_reads) == (200, True, 0)
    with pytest.raises(DataError, match="an empty file"):
        read_reads(pairs=[(pair[0], tmp_path / "empty")])


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_first_mates_given_twice(tmp_path, compress):
    pair = [written(tmp_path / "1", oracle.fastq(SEQUENCES)), tmp_path / "2"]
    written(pair[1], compress(oracle.fastq([sequence[:80] for sequence in SEQUENCES], quality="F").encode()))
    with pytest.raises(DataError, match="expected first and second mates, found the same reads in both files"):
        read_reads(pairs=[pair])


def test_equal_ends_of_some_mates_are_no_reason(tmp_path):
    other = SEQUENCES[:50] + [sequence[::-1] for sequence in SEQUENCES[50:]]
    pair = [written(tmp_path / str(number), oracle.fastq(texts)) for number, texts in enumerate((SEQUENCES, other))]
    assert read_reads(pairs=[pair]).n_pairs == 200
    same = ["A" * 100, "G" * 100, "ACGT", "N" * 30]
    pair = [written(tmp_path / str(number), oracle.fastq(same)) for number in range(2)]
    assert read_reads(pairs=[pair]).n_pairs == 4


NAMES_OF_MATES = [
    ("r{}/1", "r{}/2"), ("r{}.1", "r{}.2"), ("r{}_1", "r{}_2"), ("r{}:1", "r{}:2"), ("r{}-1", "r{}-2"),
    ("r{}_R1", "r{}_R2"), ("r{}.R1", "r{}.R2"), ("r{}.f", "r{}.r"), ("r{}/F", "r{}/R"),
    ("r{}_1:N:0", "r{}_2:N:0"), ("r{}_1:N:0:ACGT", "r{}_2:N:0:ACGT"),
]  # fmt: skip
NAMES_OF_OTHERS = [
    ("r{}/2", "r{}/1"), ("r{}1", "r{}2"), ("1", "2"), ("r{}/1x", "r{}/2x"), ("a{}/1", "b{}/2"), ("r{}f", "r{}r"),
    ("r{}_1:N:0", "r{}_2:N:1"), ("R1", "R2"), ("r{}/3", "r{}/4"), ("1:N:0", "2:N:0"),
]  # fmt: skip


def test_second_mates_given_as_the_first(tmp_path):
    pair = [
        written(tmp_path / str(mate), oracle.fastq(SEQUENCES[:9], names=[f"r{i}/{mate}" for i in range(9)]))
        for mate in (2, 1)
    ]
    with pytest.raises(DataError, match="found 'r0/2' and 'r0/1'; give the first mates first"):
        read_reads(pairs=[pair])


@pytest.mark.parametrize(("first", "second", "are_mates"), [
    *[(*names, True) for names in NAMES_OF_MATES], *[(*names, False) for names in NAMES_OF_OTHERS],
])  # fmt: skip
def test_names_of_mates(tmp_path, first, second, are_mates):
    names = [[form.format(i) for i in range(20)] for form in (first, second)]
    texts = SEQUENCES[:20], SEQUENCES[20:40]
    pair = [written(tmp_path / str(i), oracle.fastq(texts[i], names=names[i])) for i in range(2)]
    mixed = [list(zip(*both, strict=True)) for both in (names, texts)]
    both = oracle.fastq([text for two in mixed[1] for text in two], names=[name for two in mixed[0] for name in two])
    for given in ({"pairs": [pair]}, {"interleaved": [written(tmp_path / "both", both)]}):
        with nullcontext() if are_mates else pytest.raises(DataError, match="mates with the same name"):
            assert read_reads(**given).n_pairs == 20
