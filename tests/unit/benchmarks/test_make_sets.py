"""The table of simulated sets beside the results, how reads and sheets are made by it, and genomes of more G and C."""

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
ART = """#!/bin/sh
while [ $# -gt 0 ]; do case $1 in -i) genome=$2;; -o) prefix=$2;; -rs) seed=$2;; esac; shift; done
for mate in 1 2; do { echo "@$mate seed $seed"; tail -n 1 "$genome"; } > "$prefix$mate.fq"; done
"""


@pytest.fixture
def modules(monkeypatch):
    """The scripts import each other by their bare names, as they are run."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return {name: importlib.import_module(name) for name in ("make_sets", "raise_gc", "assembler_runs", "assemblers")}


@pytest.fixture
def simulations(modules):
    return modules["make_sets"].read_simulations()


@pytest.fixture
def unseen(modules):
    return modules["make_sets"].read_simulations(BENCHMARKS / "unseen.tsv")


@pytest.fixture
def result():
    return json.loads((BENCHMARKS / "results" / "assemblers.json").read_text())


def test_each_row_of_all_tables_is_whole(modules, simulations, unseen):
    drawn = [modules["make_sets"].read_simulations(BENCHMARKS / f"{name}.tsv") for name in ("fresh", "again", "later")]
    by_chance = [*unseen, *(of for own in drawn for of in own)]
    rows = [*simulations, *by_chance]
    assert len({(of.community, of.name) for of in rows}) == len(rows)
    assert len({of.seed for of in by_chance}) == len(by_chance)
    for of in rows:
        assert float(of.fold) > 0
        assert int(of.length) <= int(of.insert)
        assert of.profile in {"HS20", "HS25", "HSXt", "MSv3", "NS50"}
        assert all(int(text) >= 0 for text in (of.seed, of.sd))
        assert all(len(bytes.fromhex(text)) == 32 for text in (of.genome_sha256, *of.sums)), of.name
        assert bool(of.what) != bool(of.community)


def test_no_unseen_reads_are_those_of_a_set_that_rules_were_made_with(simulations, unseen):
    assert not {of.seed for of in unseen} & {of.seed for of in simulations}
    assert not {found for of in unseen for found in of.sums} & {found for of in simulations for found in of.sums}
    assert {of.genome_sha256 for of in unseen} <= {of.genome_sha256 for of in simulations}
    for of in unseen:
        assert f", {of.fold}-fold, 2 x {of.length}, insert {of.insert} ± {of.sd}, " in of.what
        assert of.what.endswith(f", seed {of.seed}")


def test_each_simulated_set_of_the_results_is_in_the_table(simulations, result):
    told = {of.name: of.what for of in simulations if not of.community}
    sets = {name: about["what"] for name, about in result["parameters"]["sets"].items() if about["kind"] == "simulated"}
    assert {name: told.get(name) for name in sets} == sets


def test_checksums_of_the_table_are_those_that_figures_are_kept_under(modules, simulations, result):
    table = {of.name: of for of in simulations if not of.community}
    for row in result["rows"]:
        if of := table.get(row["set"]):
            assert of.sums == row["reads_sha256"]
            if of.gc:  # its genome is made from the one that the table has the checksum of
                continue
            key = modules["assembler_runs"].key_of_checksums(
                row["assembler"], row["version"], of.sums, [of.genome_sha256], []
            )
            assert row["key"] == key, row["set"]


def test_each_real_set_of_the_results_is_in_the_sheet_of_real_sets(result):
    with (BENCHMARKS / "real_sets.tsv").open(newline="") as file:
        told = {row["name"]: row["what"] for row in csv.DictReader(file, delimiter="\t")}
    sets = result["parameters"]["sets"].items()
    assert {name: about["what"] for name, about in sets if about["kind"] == "real"}.items() <= told.items()


def test_members_of_the_community_of_ten_are_those_of_the_results(simulations):
    genomes = json.loads((BENCHMARKS / "results" / "community.json").read_text())["rows"][0]["genomes"]
    members = [(of.name, float(of.fold)) for of in simulations if of.community == "community_of_ten"]
    assert members == [(row["genome"], row["fold"]) for row in genomes]


@pytest.fixture
def bench(modules, tmp_path, monkeypatch):
    """Two genomes, a program that goes for ART, a table of two sets and a community of both, and how it is called."""
    make_sets, genomes, out = modules["make_sets"], tmp_path / "genomes", tmp_path / "out"
    genomes.mkdir()
    for name, text in (("one", "ACGT"), ("two", "GGCC")):
        (genomes / f"{name}.fa.gz").write_bytes(gzip.compress(f">{name}\n{text}\n".encode()))
    art = tmp_path / "bin" / "art_illumina"
    art.parent.mkdir()
    art.write_text(ART)
    art.chmod(0o755)
    monkeypatch.setenv("PATH", f"{art.parent}:/usr/bin:/bin")

    def entry(genome, community="", text=""):
        sums = [hashlib.sha256(f"@{mate} seed 42\n{text}\n".encode()).hexdigest() for mate in (1, 2)]
        whole = hashlib.sha256((genomes / f"{genome}.fa.gz").read_bytes()).hexdigest()
        return make_sets.Simulation(
            genome, community, genome, "5", "42", "150", "350", "50", "HS25", "", whole, *sums, "" if community else "x"
        )

    table = [
        entry("one", "", "ACGT"),
        entry("two", "", "GGCC"),
        entry("one", "both", "ACGT"),
        entry("two", "both", "GGCC"),
    ]
    monkeypatch.setattr(make_sets, "read_simulations", lambda path: table if path.name == "sets.tsv" else table[:1])
    run = CliRunner().invoke
    return table, out, lambda *words: run(make_sets.main, [str(genomes), str(out), *words], catch_exceptions=False)


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


def test_sets_of_another_table_are_made_of_it(tmp_path, bench):
    _, out, run = bench
    other = tmp_path / "other.tsv"
    other.touch()
    assert run("--table", str(other)).exit_code == 0
    assert {path.name for path in out.iterdir()} == {"ablation.tsv", "sheet.tsv", "one_1.fq", "one_2.fq"}
    refused = run("--table", str(other), "--sets", "two")
    assert refused.exit_code == 1
    assert "no such sets: two; there are one" in refused.output


def test_other_reads_than_those_of_the_table_are_told(bench):
    table, out, run = bench
    table[1] = dataclasses.replace(table[1], reads_1_sha256="0" * 64)
    done = run("--jobs", "2")
    assert done.exit_code == 1
    assert "two: other reads than the table has" in done.output
    assert (out / "two_1.fq").exists()


def test_a_check_leaves_reads_as_they_are_and_makes_none(bench):
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


@pytest.mark.parametrize("broken", [{}, {"compressed": 2, "joins_broken": 3}])
def test_a_row_of_gpuasm_tells_what_its_check_did(modules, tmp_path, broken):
    """Rules that did nothing are not told, nor what is no rule's work, nor other stages'."""
    counts = {"reads": 9, "joins_broken": 0, "compressed": 0, "rival_ends": 0, **broken}
    stages = [{"name": "clean graph", "counts": {"compressed": 7}}, {"name": "lay reads back", "counts": counts}]
    manifest = tmp_path / "run.json"
    manifest.write_text(json.dumps({"stages": stages}))
    assert modules["assemblers"].checked(manifest) == broken
    manifest.write_text(json.dumps({"stages": []}))
    assert modules["assemblers"].checked(manifest) == {}


def test_sets_that_the_sheet_does_not_have_stay_and_renamed_ones_are_not_doubled(modules):
    def row(name, key):
        return {"set": name, "key": key}

    known = {"1": [row("old", "1")], "2": [row("kept", "2")], "3": [row("other", "3")]}
    made = {"new": [row("new", "1")], "other": [row("other", "4")]}
    rows = modules["assemblers"].rows_in_order(["old", "kept", "other", "new"], made, known)
    assert rows == [row("kept", "2"), row("other", "4"), row("new", "1")]


def test_assemblies_are_shared_out_to_the_gpus(modules, tmp_path):
    runs = modules["assembler_runs"]
    places = runs.places_of(3, 2)
    assert [places.get_nowait() for _ in range(3)] == [0, 1, 0]
    assert places.empty()
    reads = runs.ReadSet("one", (tmp_path / "1.fq", tmp_path / "2.fq"))
    command = runs.command_of("gpuasm", reads, tmp_path, threads=2)
    on_gpu = runs.on_device(command, 1)
    assert on_gpu.words[:2] == ["env", "CUDA_VISIBLE_DEVICES=1"]
    assert on_gpu.words[on_gpu.words.index("--device") + 1] == "cuda"
    assert on_gpu.contigs == command.contigs
    assert runs.on_device(command, runs.places_of(1, 0).get_nowait()) == command
