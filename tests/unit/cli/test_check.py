"""gpuasm check: table, JSON and exit codes."""

from __future__ import annotations

import json

import pytest

from gpuasm.assembly.parameters import ITERATION
from gpuasm.io.adapters import ADAPTERS
from gpuasm.io.phix import phix_genome
from gpuasm.io.usability import SHORTEST_READ
from tests.oracles import reads as oracle

SEQUENCES = 2 * oracle.random_sequences(11, 15)


@pytest.fixture
def pair(tmp_path):
    paths = tmp_path / "reads_1.fq", tmp_path / "reads_2.fq"
    for path, step in zip(paths, (1, -1), strict=True):
        path.write_text(oracle.fastq([sequence[::step] for sequence in SEQUENCES]))
    return paths


def test_usable_reads(run_cli, pair):
    code, out, err = run_cli("check", "-q", "-1", pair[0], "-2", pair[1])
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["file", "format", "reads", "bases"]
    row = lines[1].split()
    expected = ["fastq", "30", "3,000", "100", "100", "100", "40.0", "Phred+33", "0", "0.00%", "0.00%"]
    assert row == [str(pair[0]), *expected]
    assert "pairs: 30" in lines
    assert lines[-1] == "usable"


def test_json(run_cli, pair, tmp_path):
    path = tmp_path / "check.json"
    code, out, _ = run_cli("check", "-q", *pair, "--json", path)
    assert code == 0
    assert out.endswith("usable\n")
    found = json.loads(path.read_text())
    assert found["usable"] is True
    assert [file["n_reads"] for file in found["files"]] == [30, 30]
    code, out, _ = run_cli("check", "-q", pair[0], "--json", "-")
    assert json.loads(out)["files"][0]["path"] == str(pair[0])


def test_reads_that_are_not_usable(run_cli, pair, tmp_path):
    pair[1].write_text(oracle.fastq(SEQUENCES[:20]))
    path = tmp_path / "check.json"
    code, out, err = run_cli("check", "-q", "-1", pair[0], "-2", pair[1], "--json", path)
    assert code == 65
    assert "problem: " in out
    assert out.endswith("not usable\n")
    assert "found 30 first and 20 second mates" in err
    assert len(err.splitlines()) == 1
    assert json.loads(path.read_text())["problems"][0]["place"] == "after record 20"


def test_a_file_without_a_single_good_record(run_cli, tmp_path):
    path = tmp_path / "empty"
    path.write_text("")
    code, out, err = run_cli("check", "-q", path)
    assert (code, out.splitlines()[-1]) == (65, "not usable")
    assert "empty file" in err


@pytest.mark.parametrize(("arguments", "expected"), [(["missing.fq"], 66), ([], 2), (["-1", "a.fq"], 2)])
def test_wrong_arguments(run_cli, arguments, expected):
    code, out, err = run_cli("check", "-q", *arguments)
    assert (code, out) == (expected, "")
    assert "gpuasm: error:" in err


def test_the_same_file_as_both_mates(run_cli, pair):
    code, _, err = run_cli("check", "-q", "-1", pair[0], "-2", pair[0])
    assert code == 2
    assert "the same file" in err


def test_too_little_memory_is_a_warning(run_cli, pair):
    code, out, _ = run_cli("check", "-q", *pair, "--memory", "100M")
    assert code == 0
    assert "warning: an assembly is likely to need" in out


def test_help_shows_an_example(run_cli):
    code, out, _ = run_cli("check", "--help")
    assert code == 0
    assert "gpuasm check -1 reads_1.fastq.gz -2 reads_2.fastq.gz" in out


def test_the_shortest_reads_are_those_of_the_first_k():
    assert ITERATION.first_k_least == SHORTEST_READ


@pytest.fixture
def samples(tmp_path, monkeypatch):
    """Files of reads, and whether they can be assembled."""
    monkeypatch.chdir(tmp_path)
    genome = oracle.random_sequences(3, 1, 2000)[0]
    parts = [genome[at : at + 100] for at in range(0, 1900, 5)]
    adapters = [f"{ADAPTERS['Illumina TruSeq'][mate]}{'A' * 100}"[:100] for mate in range(2)]
    texts = {
        "N": ["N" * 100] * 50, "A_1": adapters[:1] * 500, "A_2": adapters[1:] * 500, "E_1": [""] * len(parts),
        "E_2": parts, "short": [part[:28] for part in parts], "shortest": [part[:10] for part in parts],
        "once": oracle.random_sequences(4, 5),
    }  # fmt: skip
    for name, sequences in texts.items():
        (tmp_path / name).write_text(oracle.fastq(sequences))


@pytest.mark.parametrize(
    ("arguments", "expected", "found"),
    [
        (["N"], 65, "N: expected reads of at least k = 11 bases, found N and other letters that are no bases"),
        (["-1", "A_1", "-2", "A_2"], 65, "found nothing but adapters; check the library"),
        (["-1", "E_1", "-2", "E_2"], 0, ""),
        (["short"], 0, ""),
        (["shortest"], 65, "no read longer than 10"),
        (["once"], 65, "k-mers that occur at least 2 times"),
    ],
)
def test_what_can_be_assembled_is_usable(run_cli, samples, arguments, expected, found):
    code, out, err = run_cli("check", "-q", *arguments)
    assert (code, found in err) == (expected, True)
    assert "warning: E_1: a file of reads without bases" in out or "E_1" not in arguments
    code, _, err = run_cli("assemble", "-q", "--device", "cpu", *arguments, "-o", "out")
    assert (code, found in err) == (expected, True)


def test_nothing_but_phix(run_cli, tmp_path):
    path = tmp_path / "reads"
    path.write_text(oracle.fastq([phix_genome()[i : i + 100] for i in range(200)]))
    code, _, err = run_cli("count", "-q", path, "--remove-phix")
    assert (code, "found nothing but PhiX174" in err) == (65, True)


def test_files_without_permission(run_cli, pair, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    for arguments in (["check", pair[0]], ["count", "--bam", pair[0]], ["assemble", pair[0], "-o", tmp_path / "out"]):
        code, _, err = run_cli(*arguments, "-q")
        assert (code, "no permission to read it" in err) == (66, True)
