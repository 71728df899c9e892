"""``gpuasm simulate``: sizes beyond memory, copies beyond the disk, and copies that are no number are refused."""

from __future__ import annotations

import pytest

GENOME = ">a circular=yes copies={}\n" + "ACGTTGCATTGACC" * 20 + "\n"


@pytest.mark.parametrize(("copies", "code"), [("3", 0), ("9223372036854775807", 75), ("9" * 400, 65), ("1.2.3", 65)])
@pytest.mark.parametrize("end", ["fq", "fq.gz"])
def test_copies_beyond_the_disk_or_no_number_are_refused(run_cli, tmp_path, copies, code, end):
    genome = tmp_path / "genome.fasta"
    genome.write_text(GENOME.format(copies))
    outputs = ["-1", tmp_path / f"1.{end}", "-2", tmp_path / f"2.{end}"]
    assert run_cli("simulate", "reads", genome, "--fold", 2, "--length", 50, *outputs)[0] == code
    assert (tmp_path / f"1.{end}").exists() == (code == 0)


@pytest.mark.parametrize("sizes", [["--length", 10**12], ["--length", 100, "--plasmid", 10**12]])
def test_genomes_beyond_the_memory_are_refused(run_cli, tmp_path, sizes):
    code, _, said = run_cli("simulate", "genome", *sizes, "-o", tmp_path / "genome.fasta")
    assert code == 75
    assert "shorter" in said
