"""Bad input: the exit code, the record and the remedy of each."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import threading

import pytest
import zstandard

from gpuasm.errors import DataError, NoInputError, ReadWriteError, UsageError
from gpuasm.io import read_reads, sources
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
    "space": ("@a\nAC GT\n+\nIIIII\n", "record 1", "found an empty line in the sequence", "nucleotides"),
    "FASTA after FASTQ": (f"{GOOD}>b\nACGT\n", "record 2", "found '>b'", "lost or an extra line"),
    "text": ("name,sequence\n", "record 1", "found 'name,sequence'", "check that this is a file of reads"),
    "web page": ("<!DOCTYPE html>", "", "found a web page", "download the file itself"),
    "archive": ("PK\x03\x04", "", "found a ZIP archive", "unpack it first"),
    "SAM": ("@HD\tVN:1.6\n", "", "found SAM", "--bam"),
    "empty": ("", "", "found an empty file", "check how the file was made"),
    "blank": ("\n\n", "", "found an empty file", "check how the file was made"),
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
