"""What `gpuasm assemble` refuses, or cannot finish: exit code, one line that helps, nothing half-written."""

from __future__ import annotations

import errno
import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.oracles.reads import fastq, random_sequences
from tests.read_files import OUTPUTS, fasta_records, files_in, genome_text, simulated_pairs, write_pairs

READS = random_sequences(3, 50)
NAMES = [f"r{i}" for i in range(50)]
WAITING = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let their background jobs ignore it
from gpuasm.cli import run
from gpuasm.cli.checkpoint import Checkpoint
save = Checkpoint.save
def save_and_wait(*args):
    save(*args)
    print("ready", flush=True)
    time.sleep(60)
Checkpoint.save = save_and_wait
run()
"""


@pytest.fixture
def refused(run_cli, tmp_path):
    """Run the command, which must fail without a result, and return its exit code and its one line."""

    def run(*arguments):
        code, out, err = run_cli("assemble", "-q", *arguments, "-o", tmp_path / "out")
        assert out == ""
        assert err.startswith("gpuasm: error: ")
        assert err.count("\n") == 1
        assert not list(tmp_path.rglob("*.tmp"))
        return code, err

    return run


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def assert_empty_results(folder: Path, reason: str) -> None:
    assert files_in(folder) == OUTPUTS
    assert fasta_records(folder / "contigs.fasta") == []
    assert (folder / "graph.gfa").read_text() == "H\tVN:Z:1.0\n"
    assert (folder / "contigs.tsv").read_text() == (
        "name\tlength\tdepth\tcopies\tcircular\tgc\tmedian_depth\tleast_depth\tbreadth\n"
    )
    assert (folder / "depth.tsv").read_text() == "contigName\tcontigLen\ttotalAvgDepth\treads\treads-var\n"
    assert (folder / "depth_windows.tsv").read_text() == "contig\tstart\tend\tdepth\n"
    assert (folder / "spectrum.tsv").read_text() == "multiplicity\tkmers\n"
    run = json.loads((folder / "run.json").read_text())
    assert run["status"] == reason
    assert run["results"]["contigs"] == 0
    assert "<html" in (folder / "report.html").read_text()


def test_a_missing_file(refused, tmp_path):
    path = tmp_path / "absent.fastq"
    code, err = refused(path)
    assert code == 66
    assert f"{path}: expected a readable file, found no such file; check the path" in err
    assert files_in(tmp_path / "out") == ["assemble.log"]
    assert (tmp_path / "out" / "assemble.log").read_text().rstrip().endswith(err.rstrip())


def test_a_folder_instead_of_a_file(refused, tmp_path):
    code, err = refused(tmp_path)
    assert code == 66
    assert str(tmp_path) in err


DAMAGED = {
    "empty": ("", "found an empty file; check how the file was made"),
    "empty gzip": (gzip.compress(b""), "found an empty file; check how the file was made"),
    "truncated gzip": (gzip.compress(fastq(READS).encode())[:-200], "download the file again"),
    "gzip without its end": (gzip.compress(fastq(READS).encode())[:-4], "download the file again"),
    "short quality": (
        fastq(READS[:3]) + f"@r4\n{READS[4]}\n+\n{'I' * 99}\n" + fastq(READS),
        "record 4: expected as many qualities as bases (100), found 99; ",
    ),
    "cut record": (fastq(READS)[:-30], "record 50: "),
    "not reads": ("name,sequence\nr1,ACGT\n", "record 1: "),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file(refused, tmp_path, case):
    content, text = DAMAGED[case]
    path = written(tmp_path / "reads.fq", content)
    code, err = refused(path)
    assert code == 65
    assert f"error: {path}" in err
    assert text in err
    assert_empty_results(tmp_path / "out", err.removeprefix("gpuasm: error: ").rstrip())


def test_unequal_numbers_of_mates(refused, tmp_path):
    first, second = (written(tmp_path / f"{i}.fq", fastq(READS[: 50 - 20 * i])) for i in range(2))
    code, err = refused("-1", first, "-2", second)
    assert code == 65
    assert "after record 30: " in err
    assert "found 50 first and 30 second mates" in err


def test_mates_out_of_step(refused, tmp_path):
    shifted = NAMES[:20] + NAMES[21:] + NAMES[20:21]
    first, second = (written(tmp_path / f"{i}.fq", fastq(READS, names=n)) for i, n in enumerate((NAMES, shifted)))
    code, err = refused("-1", first, "-2", second)
    assert code == 65
    assert "record 21: " in err
    assert "r20" in err
    assert "r21" in err


def test_an_odd_number_of_interleaved_reads(refused, tmp_path):
    path = written(tmp_path / "reads.fq", fastq(READS[:49], names=[f"r{i // 2}" for i in range(49)]))
    code, err = refused("--interleaved", path)
    assert code == 65
    assert str(path) in err


def test_reads_shorter_than_k(refused, tmp_path):
    path = written(tmp_path / "reads.fq", fastq([read[:30] for read in READS]))
    code, err = refused(path, "-k", "31")
    assert code == 65
    found = "expected reads of at least k = 31 bases, found no read longer than 30"
    reason = f"{path}: {found}; give longer reads, or a smaller -k"
    assert err == f"gpuasm: error: {reason}\n"
    assert_empty_results(tmp_path / "out", reason)


def test_a_later_k_longer_than_every_read(refused, tmp_path):
    first, second = write_pairs(tmp_path, simulated_pairs(genome_text()))
    code, err = refused("-1", first, "-2", second, "-k", "31,61,101")
    assert code == 65
    assert "expected reads of at least k = 101 bases, found no read longer than 100; " in err


def test_reads_without_a_base(refused, tmp_path):
    path = written(tmp_path / "reads.fq", fastq(["N" * 100] * 5))
    code, err = refused(path)
    assert code == 65
    assert "expected reads of at least k = " in err
    assert_empty_results(tmp_path / "out", err.removeprefix("gpuasm: error: ").rstrip())


def test_no_solid_kmer(refused, tmp_path):
    path = written(tmp_path / "reads.fq", fastq(READS))
    code, err = refused(path)
    assert code == 65
    assert "expected k-mers that occur at least 2 times, found none among 3500 distinct 31-mers; " in err
    assert_empty_results(tmp_path / "out", err.removeprefix("gpuasm: error: ").rstrip())
    code, err = refused(path, "--min-count", 300)
    assert code == 65
    assert "at least 300 times" in err


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_an_output_folder_that_cannot_be_made(run_cli, tmp_path, name):
    reads = written(tmp_path / "reads.fq", fastq(READS))
    written(tmp_path / "file", "")
    code, out, err = run_cli("assemble", "-q", reads, "-o", tmp_path / name)
    assert (code, out) == (73, "")
    assert err.startswith(f"gpuasm: error: {tmp_path / name}: expected a folder that can be made, found ")
    assert err.endswith("; name another with -o, or change the permissions\n")
    assert err.count("\n") == 1


def test_an_output_that_is_a_folder(refused, tmp_path):
    (tmp_path / "out" / "contigs.fasta").mkdir(parents=True)
    first, second = write_pairs(tmp_path, simulated_pairs(genome_text()))
    code, err = refused("-1", first, "-2", second)
    assert code == 73
    assert "contigs.fasta" in err


@pytest.mark.parametrize("name", [".checkpoint.npz", *OUTPUTS[1:]])
def test_a_full_disk(refused, tmp_path, monkeypatch, name):
    first, second = write_pairs(tmp_path, simulated_pairs(genome_text()))
    sync = os.fsync

    def fill_up(descriptor):
        if f"/.{name}." in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fill_up)
    code, err = refused("-1", first, "-2", second, "--checkpoint-after", 0)
    assert code == 75
    assert f"{tmp_path / 'out' / name}: expected room on the disk, found none left" in err
    assert set(files_in(tmp_path / "out")) <= {".checkpoint.npz", *OUTPUTS}
    assert name not in files_in(tmp_path / "out")


def test_memory_that_does_not_suffice(refused, run_cli, tmp_path):
    first, second = write_pairs(tmp_path, simulated_pairs(genome_text()))
    code, err = refused("-1", first, "-2", second, "--memory", "100M")
    assert code == 75
    assert "of memory for assembling these reads, found a budget of 100.0 MB; " in err
    enough = err.split("--memory ")[1].strip()
    assert run_cli("assemble", "-q", "-1", first, "-2", second, "--memory", enough, "-o", tmp_path / "out")[0] == 0


def test_a_device_that_is_not_there(refused, tmp_path):
    path = written(tmp_path / "reads.fq", fastq(READS))
    for device in ("cuda:99", "tpu"):
        code, err = refused(path, "--device", device)
        assert code == 69
        assert "; " in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["-k", "32"],
        ["-k", "61,31"],
        ["-k", "31,,61"],
        ["-k", "31,31"],
        ["-k", "x"],
        ["-k", "1"],
        ["-k", "41,61"],
        ["-k", "31,91"],
        ["-k", "21,31"],
        ["-k", "31,²"],
        ["--min-count", "0"],
        ["--min-count", "few"],
        ["--min-count", "²"],
        ["--memory", "much"],
    ],
)
def test_impossible_options_are_refused_before_anything_is_read(refused, tmp_path, arguments):
    code, err = refused(tmp_path / "absent.fastq", *arguments)
    assert code == 2
    assert "; " in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("number", "code", "message"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_ctrl_c_or_termination_during_work(tmp_path, number, code, message):
    first, second = write_pairs(tmp_path, simulated_pairs(genome_text()))
    arguments = ["assemble", "-q", "-1", first, "-2", second, "--checkpoint-after", "0", "-o", tmp_path / "out"]
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, "", f"gpuasm: error: {message}\n")
    assert files_in(tmp_path / "out") == [".checkpoint.npz", "assemble.log"]
    assert (tmp_path / "out" / "assemble.log").read_text().endswith("gpuasm: error: ended by a signal\n")
