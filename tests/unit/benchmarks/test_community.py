"""A community is assembled and judged: the figures of the whole and of each genome, and which bytes they are of."""

from __future__ import annotations

import hashlib
import importlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
CONTIGS = ">c\nACGTACGTA\n"
METAQUAST = """#!/bin/sh
while [ $# -gt 1 ]; do
  case "$1" in -o) out=$2 ;; -r) genomes=$2 ;; esac
  shift
done
report() {
  mkdir -p "$1"
  printf 'Assembly\\tcontigs\\n# misassemblies\\t%s\\nNGA50\\t%s\\n' "$2" "$3" > "$1/report.tsv"
}
report "$out/combined_reference" 2 -
for genome in $(echo "$genomes" | tr , ' '); do
  name=$(basename "$genome" .fa)
  [ "$name" = lost ] || report "$out/runs_per_reference/$name" 0 $(grep -c . "$genome")
done
"""


@pytest.fixture
def community(monkeypatch, tmp_path):
    """Run the benchmark on three genomes, with substitutes for gpuasm and MetaQUAST."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    program = tmp_path / "gpuasm.py"
    program.write_text(
        "import pathlib, sys\n"
        "arguments = sys.argv[1:]\n"
        "out = pathlib.Path(arguments[arguments.index('-o') + 1]); out.mkdir(parents=True)\n"
        f"if 'fails' in arguments: sys.exit(1)\n(out / 'contigs.fasta').write_text({CONTIGS!r})\n"
    )
    command = importlib.import_module("processes").GPUASM[0], str(program)
    monkeypatch.setattr(importlib.import_module("assembler_runs"), "GPUASM", command)
    quast, found = tmp_path / "metaquast", tmp_path / "found.json"
    quast.write_text(METAQUAST)
    quast.chmod(0o755)
    for name, text in (
        ("one.fa", ">a\nA\n"),
        ("two.fa", ">a\nA\nC\n"),
        ("lost.fa", ">a\n"),
        ("1.fq", ""),
        ("2.fq", ""),
    ):
        (tmp_path / name).write_text(text)
    sheet = tmp_path / "sheet.tsv"
    sheet.write_text("genome\treference\tfold\none\tone.fa\t9\ntwo\ttwo.fa\t3.5\nlost\tlost.fa\t1\n")
    given = [
        str(sheet),
        *(str(tmp_path / f"{mate}.fq") for mate in (1, 2)),
        "--quast",
        str(quast),
        "--json",
        str(found),
    ]

    def run(*options):
        done = CliRunner().invoke(importlib.import_module("community").main, [*given, "--only", "gpuasm", *options])
        assert done.exit_code == 0, done.output
        return json.loads(found.read_text())["entries"]["sheet"]["rows"]

    return run


def test_a_row_has_figures_of_all_genomes_and_the_checksum_of_contigs(community):
    (row,) = community()
    assert row["contigs_sha256"] == hashlib.sha256(CONTIGS.encode()).hexdigest()
    assert row["quast"]["misassemblies"] == 2
    assert [(own["genome"], own["fold"], own.get("nga50")) for own in row["genomes"]] == [
        ("one", 9.0, 2),
        ("two", 3.5, 3),
        ("lost", 1.0, None),  # no contig fits it best
    ]


def test_a_failed_run_is_recorded_without_figures(community):
    (row,) = community("--options", "fails")
    assert row["failed"]
    assert not {"quast", "contigs_sha256"} & row.keys()
