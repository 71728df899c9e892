"""The workflow with batches of samples in one job."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

pytest.importorskip("snakemake")

ROOT = Path(__file__).parents[2]


def test_a_batch_makes_the_files_of_each_sample(tmp_path, monkeypatch):
    from snakemake.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").mkdir()
    text = (ROOT / "config" / "config.yaml").read_text()
    (tmp_path / "config" / "config.yaml").write_text(text.replace("batch_size: 1", "batch_size: 2"))
    for name in ("a_1", "a_2", "b x"):
        (tmp_path / f"{name}.fq").touch()
    genome = ROOT / "config" / "example" / "phix174.fasta.gz"
    lines = ["sample\treads_1\treads_2\tgenome\tlatitude\tlongitude", "a\ta_1.fq\ta_2.fq", "b\tb x.fq"]
    (tmp_path / "config" / "samples.tsv").write_text("\n".join([*lines, f"c\t\t\t{genome}"]) + "\n")
    out, err = io.StringIO(), io.StringIO()
    command = ["-s", ROOT / "Snakefile", "--cores", "2", "-n", "-p", "--until", "assemble_batch_1", "assemble_batch_2"]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as end:
        main(list(map(str, command)))
    assert not end.value.code, err.getvalue()
    shells = sorted(set(re.findall(r"guarded_batch .*", out.getvalue())))
    assert len(shells) == 2
    assert "-- 'a\ta_1.fq\ta_2.fq' 'b\tb x.fq' -- " in shells[0]
    assert "-- 'c\tresults/c/reads/reads_1.fastq.gz\tresults/c/reads/reads_2.fastq.gz' -- " in shells[1]
    assert "rule assemble_contigs" not in out.getvalue()
    rule = (ROOT / "workflow" / "rules" / "assembly.smk").read_text().partition("rule assemble_contigs")[2]
    files = re.findall(r'"results/\{sample\}/(assembly/[^"]*|status/assemble_contigs.json)"', rule)
    made = re.findall(r"output: (.*)", out.getvalue())
    for sample in "abc":
        assert any(all(f"results/{sample}/{file}" in outputs for file in files) for outputs in made), sample
