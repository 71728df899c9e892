"""gpuasm check: table, JSON and exit codes."""

from __future__ import annotations

import json

import pytest

from tests.oracles import reads as oracle

SEQUENCES = oracle.random_sequences(11, 30)


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
