"""The reading of QUAST's reports, and the rules that gpuasm's contigs are judged by."""

from __future__ import annotations

import gzip

import pytest

from benchmarks.quast import parse_report, run_metaquast
from benchmarks.verdict import judge, ratio

REPORT = """Assembly\tcontigs
# contigs (>= 0 bp)\t139
# contigs\t86
Largest contig\t327139
Total length\t4575095
N50\t133182
NGA50\t133182
LGA50\t11
auNGA\t153822.2
# misassemblies\t1
Genome fraction (%)\t98.516
Duplication ratio\t1.001
# mismatches per 100 kbp\t2.58
# indels per 100 kbp\t0.28
# N's per 100 kbp\t0.00
# unaligned contigs\t0 + 0 part
Unaligned length\t0
"""
GOOD = {
    "nga50": 100,
    "aunga": 100.0,
    "misassemblies": 0,
    "mismatches_per_100k": 0.5,
    "indels_per_100k": 0.5,
    "genome_fraction": 98.4,
    "duplication": 1.002,
}


METAQUAST = """#!/bin/sh
while [ $# -gt 1 ]; do case $1 in -r) files=$2;; -o) out=$2;; esac; shift; done
for file in $(echo "$files" | tr , ' '); do
  mkdir -p "$out/runs_per_reference/$(basename "$file" .fa)" "$out/combined_reference"
  for to in combined_reference runs_per_reference/$(basename "$file" .fa); do
    printf 'Assembly\\tcontigs\\nNGA50\\t%s\\n' "$(tail -n 1 "$file")" > "$out/$to/report.tsv"
  done
done
"""


def test_packed_genomes_are_unpacked_for_metaquast(tmp_path):
    program = tmp_path / "metaquast.py"
    program.write_text(METAQUAST)
    program.chmod(0o755)
    (tmp_path / "one.fa").write_text(">one\n11\n")
    (tmp_path / "two.fa.gz").write_bytes(gzip.compress(b">two\n22\n"))
    references = {"a": tmp_path / "one.fa", "b": tmp_path / "two.fa.gz"}
    _, each = run_metaquast([str(program)], tmp_path / "contigs", references, folder=tmp_path / "out", threads=1)
    assert [each[name]["nga50"] for name in "ab"] == [11, 22]


def test_a_report_is_read_by_its_labels():
    figures = parse_report(REPORT)
    assert (figures["contigs"], figures["nga50"], figures["aunga"], figures["misassemblies"]) == (
        86,
        133182,
        153822.2,
        1,
    )
    assert figures["genome_fraction"] == pytest.approx(98.516)
    assert figures["local_misassemblies"] is None


def test_a_genome_that_little_aligns_to_has_no_nga50():
    assert parse_report("Assembly\tcontigs\nNGA50\t-\n")["nga50"] is None


@pytest.mark.parametrize("text", ["", "Assembly\ta\tb\n", "name\tvalue\n"])
def test_what_is_no_report_on_one_assembly_is_refused(text):
    with pytest.raises(ValueError, match="report"):
        parse_report(text)


def test_contigs_as_good_as_the_best_of_each_peer_pass():
    peers = [GOOD | {"nga50": 90, "misassemblies": 3}, GOOD | {"aunga": 80.0, "genome_fraction": 98.6}]
    assert all(judge(GOOD, peers, "simulated").values())


@pytest.mark.parametrize(
    ("worse", "failed"),
    [
        ({"nga50": 96}, 1),
        ({"nga50": 94}, 2),
        ({"nga50": None}, 2),
        ({"misassemblies": 1}, 1),
        ({"mismatches_per_100k": 0.51}, 1),
        ({"genome_fraction": 98.1}, 1),
        ({"duplication": 1.003}, 1),
    ],
)
def test_each_shortfall_fails_its_rule(worse, failed):
    passed = judge(GOOD | worse, [GOOD], "simulated")
    assert sum(not ok for ok in passed.values()) == failed


def test_errors_in_real_reads_are_compared_with_the_best_peer():
    noisy = GOOD | {"mismatches_per_100k": 300.0}
    assert all(judge(noisy, [noisy], "real").values())
    assert not all(judge(noisy, [noisy, GOOD], "real").values())


def test_no_contigs_fail_every_rule():
    assert not any(judge({}, [GOOD], "simulated").values())


def test_there_is_no_ratio_where_no_peer_reached_half_of_the_genome():
    assert ratio({"nga50": 5}, [{"nga50": None}], "nga50") is None
