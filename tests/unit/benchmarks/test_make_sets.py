"""Simulated sets agree with the results; reads and sheets are made from their table; GC contents are raised."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import hashlib
import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from gpuasm.io.genomes import read_genome
from gpuasm.sequence.encoding import decode, reverse_complement

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
DRAWN = ("unseen", "fresh", "again", "later", "newest")
ART = """#!/bin/sh
while [ $# -gt 0 ]; do case $1 in -i) genome=$2;; -o) prefix=$2;; -rs) seed=$2;; esac; shift; done
for mate in 1 2; do { echo "@$mate seed $seed"; tail -n 1 "$genome"; } > "$prefix$mate.fq"; done
"""


@pytest.fixture
def modules(monkeypatch):
    """The scripts import each other by their bare names, as they are run."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return {
        name: importlib.import_module(name)
        for name in ("make_sets", "raise_gc", "assembler_runs", "assemblers", "run_files")
    }


@pytest.fixture
def simulations(modules):
    return modules["make_sets"].read_simulations()


@pytest.fixture
def entries():
    return json.loads((BENCHMARKS / "results" / "assemblers.json").read_text())["entries"]


def of_series(simulations, *names):
    return [of for of in simulations if of.series in names and not of.community]


def test_each_row_of_the_table_is_complete(modules, simulations):
    assert len({(of.series, of.community, of.name) for of in simulations}) == len(simulations)
    drawn = of_series(simulations, *DRAWN)
    assert len({of.seed for of in drawn}) == len(drawn)
    for of in simulations:
        assert float(of.fold) > 0
        assert all(len(bytes.fromhex(text)) == 32 for text in (of.genome_sha256, *of.sums)), of.name
        assert bool(of.what) != bool(of.community)
        if of.profile not in modules["make_sets"].KINDS:
            assert of.profile in {"HS20", "HS25", "HSXt", "MSv3", "NS50"}
            assert int(of.length) <= int(of.insert)
            assert all(int(text) >= 0 for text in (of.seed, of.sd))


def test_unseen_reads_differ_from_those_that_rules_were_made_with(simulations):
    unseen, known = of_series(simulations, "unseen"), [of for of in simulations if of.series == "sets"]
    assert not {of.seed for of in unseen} & {of.seed for of in known}
    assert not {found for of in unseen for found in of.sums} & {found for of in known for found in of.sums}
    assert {of.genome_sha256 for of in unseen} <= {of.genome_sha256 for of in known}
    for of in unseen:
        assert f", {of.fold}-fold, 2 x {of.length}, insert {of.insert} ± {of.sd}, " in of.what
        assert of.what.endswith(f", seed {of.seed}")


@pytest.mark.parametrize("series", ["sets", *DRAWN, "libraries"])
def test_sets_of_the_results_are_those_of_the_table(simulations, entries, series):
    known = {of.name: of.what for of in of_series(simulations, series)}
    sets = {name: about["what"] for name, about in entries[series]["parameters"]["sets"].items()}
    assert sets.items() <= known.items()
    assert {row["set"] for row in entries[series]["rows"]} == sets.keys()
    if series != "sets":
        assert sets == known


def test_reads_of_the_results_have_the_checksums_of_the_table(simulations, entries):
    for series, entry in entries.items():
        table = {of.name: of for of in of_series(simulations, series)}
        assert all(row["reads_sha256"] == table[row["set"]].sums for row in entry["rows"] if row["set"] in table)


def test_keys_of_kept_figures_are_made_from_checksums_of_the_table(modules, simulations, entries):
    table = {of.name: of for of in of_series(simulations, "sets") if not of.gc}  # with gc, its genome is another file
    for row in (row for row in entries["sets"]["rows"] if row["set"] in table):
        of = table[row["set"]]
        key = modules["assembler_runs"].key_of_checksums(
            row["assembler"], row["version"], of.sums, [of.genome_sha256], []
        )
        assert row["key"] == key, row["set"]


def test_contigs_of_gpuasm_have_a_checksum_in_the_results(entries):
    rows = [row for entry in entries.values() for row in entry["rows"] if row["assembler"] == "gpuasm"]
    assert all(len(bytes.fromhex(row["sha256"])) == 32 for row in rows if not row["failed"])


def test_real_sets_of_the_results_are_in_the_sheet_of_real_sets(entries):
    with (BENCHMARKS / "real_sets.tsv").open(newline="") as file:
        known = {row["name"]: row["what"] for row in csv.DictReader(file, delimiter="\t")}
    sets = entries["real"]["parameters"]["sets"].items()
    assert {name: about["what"] for name, about in sets}.items() <= known.items()


@pytest.mark.parametrize("name", ["community_of_ten", "community_of_eight", "community_of_strains"])
def test_genomes_of_communities_are_those_of_the_results(simulations, name):
    entries = json.loads((BENCHMARKS / "results" / "community.json").read_text())["entries"]
    members = [(of.name, float(of.fold)) for of in simulations if of.community == name]
    assert members == [(row["genome"], row["fold"]) for row in entries[name]["rows"][0]["genomes"]]


@pytest.fixture
def bench(modules, tmp_path, monkeypatch):
    """Two genomes, a substitute for ART, a table of three sets and a community, and a function to run the script."""
    make_sets, genomes, out = modules["make_sets"], tmp_path / "genomes", tmp_path / "out"
    genomes.mkdir()
    for name, text in (("one", "ACGT"), ("two", "GGCC")):
        (genomes / f"{name}.fa.gz").write_bytes(gzip.compress(f">{name}\n{text}\n".encode()))
    art = tmp_path / "bin" / "art_illumina"
    art.parent.mkdir()
    art.write_text(ART)
    art.chmod(0o755)
    monkeypatch.setenv("PATH", f"{art.parent}:/usr/bin:/bin")

    def entry(genome, community="", text="", series="sets"):
        sums = [hashlib.sha256(f"@{mate} seed 42\n{text}\n".encode()).hexdigest() for mate in (1, 2)]
        whole = hashlib.sha256((genomes / f"{genome}.fa.gz").read_bytes()).hexdigest()
        return make_sets.Simulation(
            series,
            genome,
            community,
            genome,
            "5",
            "42",
            "150",
            "350",
            "50",
            "HS25",
            "",
            whole,
            *sums,
            "" if community else "x",
        )

    table = [
        entry("one", "", "ACGT"),
        entry("two", "", "GGCC"),
        entry("one", "both", "ACGT"),
        entry("two", "both", "GGCC"),
        entry("one", "", "ACGT", "other"),
    ]
    sets = tmp_path / "sets.tsv"
    monkeypatch.setattr(make_sets, "SETS", sets)

    def run(*options):
        rows = [dataclasses.asdict(of) for of in table]
        sets.write_text("\n".join("\t".join(row) for row in (rows[0], *(row.values() for row in rows))) + "\n")
        return CliRunner().invoke(make_sets.main, [str(genomes), str(out), *options], catch_exceptions=False)

    return table, out, run


def test_reads_are_made_and_named_by_a_sheet_that_the_benchmark_reads(modules, bench):
    _, out, run = bench
    assert run("--sets", "two").exit_code == 0
    assert run("--sets", "one").exit_code == 0
    sets = modules["assembler_runs"].read_sheet(out / "sheet.tsv")
    assert [(reads.name, reads.layout, reads.kind, reads.what) for reads in sets] == [
        ("two", "pairs", "simulated", "x"),
        ("one", "pairs", "simulated", "x"),
    ]
    assert sets[1].reads[1].read_text() == "@2 seed 42\nACGT\n"
    assert sets[1].reference.name == "one.fa.gz"


def test_sets_of_another_series_are_made_by_its_name(bench):
    _, out, run = bench
    assert run("--series", "other").exit_code == 0
    assert {path.name for path in out.iterdir()} == {"ablation.tsv", "sheet.tsv", "one_1.fq", "one_2.fq"}
    refused = run("--series", "other", "--sets", "two")
    assert refused.exit_code == 1
    assert "no such sets: two; there are one" in refused.output


def test_reads_with_other_checksums_are_reported(bench):
    table, out, run = bench
    table[1] = dataclasses.replace(table[1], reads_1_sha256="0" * 64)
    done = run("--jobs", "2")
    assert done.exit_code == 1
    assert "two: other reads than the table has" in done.output
    assert (out / "two_1.fq").exists()


def test_a_drawn_series_replaces_an_earlier_one_of_its_name(bench, tmp_path, monkeypatch):
    table, _, run = bench
    run("--check")
    draw_sets = importlib.import_module("draw_sets")
    monkeypatch.setattr(draw_sets, "read_rows", lambda: [{"genome": "two", "what": "T. wo"}])
    options = [
        "--series",
        "other",
        "--random",
        "3",
        "--first",
        "50",
        "--times",
        "2",
        "--table",
        str(tmp_path / "sets.tsv"),
    ]
    assert (
        CliRunner().invoke(draw_sets.main, [str(tmp_path / "genomes"), *options], catch_exceptions=False).exit_code == 0
    )
    found = importlib.import_module("make_sets").read_simulations(tmp_path / "sets.tsv")
    assert found[:4] == table[:4]
    assert [(of.series, of.genome, of.seed) for of in found[4:]] == [("other", "two", "50"), ("other", "two", "51")]
    assert all(float(of.insert) >= 1.25 * float(of.length) for of in found[4:])


def test_a_check_keeps_reads_and_writes_none(bench):
    _, out, run = bench
    assert run("--sets", "two").exit_code == 0
    assert run("--check").exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["ablation.tsv", "sheet.tsv", "two_1.fq", "two_2.fq"]


def test_the_reads_of_a_community_are_those_of_its_members_in_their_order(modules, bench):
    _, out, run = bench
    assert run("--community").exit_code == 0
    (reads,) = modules["assembler_runs"].read_sheet(out / "ablation.tsv")
    assert reads.reads[0].read_text() == "@1 seed 42\nACGT\n@1 seed 42\nGGCC\n"
    with reads.reference.open(newline="") as file:
        members = list(csv.DictReader(file, delimiter="\t"))
    assert [(row["genome"], Path(row["reference"]).name, row["fold"]) for row in members] == [
        ("one", "one.fa.gz", "5"),
        ("two", "two.fa.gz", "5"),
    ]


def test_copies_of_a_repeat_are_changed_alike_on_both_strands(modules, tmp_path):
    rng = np.random.default_rng(3)
    repeat, *unique = (rng.choice(4, n, p=(0.3, 0.2, 0.2, 0.3)).astype(np.uint8) for n in (500, 2000, 2000))
    parts = [unique[0], repeat, unique[1], reverse_complement(repeat)]
    (tmp_path / "genome.fa").write_text(f">a\n{decode(np.concatenate(parts))}\n>short\nACNT\n")
    out = modules["raise_gc"].raise_gc(tmp_path / "genome.fa", tmp_path / "out.fa", percent=60)
    changed, short = (molecule.codes for molecule in read_genome(out))
    assert np.isin(changed, (1, 2)).mean() == pytest.approx(0.6, abs=0.002)
    first, second = changed[2000:2500], changed[4500:]
    assert not np.array_equal(first, repeat)
    assert np.array_equal(first[4:-4], reverse_complement(second)[4:-4])
    assert decode(short) == "ACNT"
    assert hashlib.sha256(out.read_bytes()).hexdigest().startswith("90901d2ffecf8590")


def test_a_genome_that_cannot_hold_so_much_gc_is_refused(modules, tmp_path):
    (tmp_path / "genome.fa").write_text(f">a\n{'AC' * 50}\n")
    with pytest.raises(ValueError, match="cannot be reached"):
        modules["raise_gc"].raise_gc(tmp_path / "genome.fa", tmp_path / "out.fa", percent=40)


@pytest.mark.parametrize("broken", [{}, {"discordant_pairs": 2, "joins_broken": 3}])
def test_a_row_of_gpuasm_has_the_counts_of_the_verification(modules, tmp_path, broken):
    """Rules that did nothing, other counts and other stages are left out."""
    stage = modules["run_files"].VERIFICATION
    counts = {"reads": 9, "joins_broken": 0, "discordant_pairs": 0, **broken}
    stages = [{"name": "clean graph", "counts": {"discordant_pairs": 7}}, {"name": stage, "counts": counts}]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"stages": stages}))
    assert modules["run_files"].counts_of_check(path) == broken
    path.write_text(json.dumps({"stages": []}))
    assert modules["run_files"].counts_of_check(path) == {}


def test_sets_missing_from_the_sheet_are_kept_and_renamed_ones_are_not_duplicated(modules):
    def row(name, key):
        return {"set": name, "key": key}

    known = {"1": [row("old", "1")], "2": [row("kept", "2")], "3": [row("other", "3")]}
    made = {"new": [row("new", "1")], "other": [row("other", "4")]}
    rows = modules["assemblers"].rows_in_order(["old", "kept", "other", "new"], made, known)
    assert rows == [row("kept", "2"), row("other", "4"), row("new", "1")]


def test_assemblies_are_distributed_to_the_gpus(modules, tmp_path):
    runs = modules["assembler_runs"]
    places = runs.places_of(3, 2)
    assert [places.get_nowait() for _ in range(3)] == [0, 1, 0]
    assert places.empty()
    reads = runs.ReadSet("one", (tmp_path / "1.fq", tmp_path / "2.fq"))
    command = runs.command_of("gpuasm", reads, tmp_path, threads=2)
    on_gpu = runs.on_device(command, 1)
    assert on_gpu.arguments[:2] == ["env", "CUDA_VISIBLE_DEVICES=1"]
    assert on_gpu.arguments[on_gpu.arguments.index("--device") + 1] == "cuda"
    assert on_gpu.contigs == command.contigs
    assert runs.on_device(command, runs.places_of(1, 0).get_nowait()) == command
