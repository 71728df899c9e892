"""What the tables tell of rules left out, and how a set without one is assembled and judged."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
REPORT = (
    "Assembly\tcontigs\n# contigs (>= 0 bp)\t{n}\n# contigs\t{n}\nLargest contig\t90\n"
    "N50\t{n50}\nNGA50\t{n50}\nauNGA\t{n50}.5\n"
)
QUAST = """#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
mkdir -p "$out"; echo run >> "{log}"
printf '{report}Genome fraction (%%)\\t99.5\\n# misassemblies\\t0\\n' > "$out/report.tsv"
"""


@pytest.fixture
def modules(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return {name: importlib.import_module(name) for name in ("ablation", "ablation_tables", "processes")}


def row(name, without, **figures):
    genomes = figures.pop("genomes", None)
    sha = figures.pop("sha", "same")
    quast = {"nga50": 1000, "aunga": 900.4, "misassemblies": 0, "mismatches_per_100k": 0.5, "indels_per_100k": 0.25,
             "genome_fraction": 99.0, "duplication": 1.001, "contigs": 4, "contigs_all": 7}  # fmt: skip
    made = {"set": name, "without": without, "failed": False, "contigs_sha256": sha, "quast": quast | figures}
    return made | ({"genomes": genomes} if genomes else {})


def result(*rows):
    machine = {"cpu": "a CPU", "cpus": 2, "device": {"device": "cpu"}}
    return {"benchmark": "ablation", "date": "2026-01-01", "machine": machine, "parameters": {}, "rows": list(rows)}


def cells(modules, *rows, table=-2):
    """The cells of the second table, or of another, by rule and heading."""
    text = modules["ablation_tables"].ablation([result(*rows), {"benchmark": "other"}])
    head, _, *lines = text.split("\n\n")[table].splitlines()
    heads = [cell.strip() for cell in head.strip("|").split("|")]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {line[0]: dict(zip(heads[1:], line[1:], strict=True)) for line in table}


def test_a_rule_has_the_worst_and_the_best_that_leaving_it_out_does(modules):
    of = cells(
        modules,
        *(row(name, "nothing") for name in "abc"),
        row("a", "tips", nga50=900, misassemblies=2),
        row("b", "tips", nga50=800, aunga=900.8, contigs_all=6),
        row("c", "tips", nga50=1100, mismatches_per_100k=0.25),
        row("a", "joins"),
        row("b", "joins", sha="other"),
        row("c", "bubbles"),
    )
    assert of["tips"] == {
        "sets that change": "3 of 3",
        "NGA50": "-20 % b and 1 more; better: +10 % c",
        "auNGA": "better: +0.0444 % b",
        "misassemblies": "+2 a",
        "mismatches and indels / 100 kbp": "better: -0.25 c",
        "genome %": "",
        "duplication": "",
        "contigs": "better: -1 b",
    }
    for rule, changed in (("joins", "1 of 2"), ("bubbles", "0 of 1")):
        assert of[rule]["sets that change"] == changed
        assert not any(text for heading, text in of[rule].items() if heading != "sets that change")


def test_what_a_rule_does_to_all_sets_with_a_reference_is_added_up(modules):
    unknown = {"genome_fraction": None, "nga50": None, "aunga": None, "misassemblies": None}
    of = cells(
        modules,
        *(row(name, "nothing") for name in "ab"),
        row("c", "nothing", aunga=None),
        row("d", "nothing", n50=9, **unknown),
        row("a", "tips", aunga=450.2, misassemblies=2, genome_fraction=96.0),
        row("b", "tips", aunga=990.44, misassemblies=1, mismatches_per_100k=0.25),
        row("c", "tips", aunga=None, indels_per_100k=1.0),
        row("d", "tips", n50=5, **unknown),
        row("d", "joins", n50=5, **unknown),
        table=-1,
    )
    assert of["tips"] == {
        "sets with a reference": "3",
        "auNGA, mean": "-20.00 %",
        "misassemblies, sum": "+3",
        "mismatches and indels / 100 kbp, sum": "+0.50",
        "genome %, mean": "-1.000",
    }
    assert [*of["joins"].values()] == ["0", "", "", "", ""]


def test_what_failed_is_not_judged(modules):
    failed = {"set": "a", "without": "tips", "failed": True, "quast": {}}
    assert cells(modules, row("a", "nothing"), failed)["tips"]["sets that change"] == "not measured"


def test_rules_are_told_in_their_order_and_those_never_left_out_are_not(modules):
    rows = [row("a", "nothing"), row("a", "tips"), row("a", "joins")]
    found = result(*rows) | {"parameters": {"rules": ["joins", "bridges", "tips"]}}
    lines = modules["ablation_tables"].ablation([found]).split("\n\n")[-2].splitlines()[2:]
    assert [line.split("|")[1:3] for line in lines] == [[" joins ", " 0 of 1 "], [" tips ", " 0 of 1 "]]


def test_without_a_set_with_all_rules_there_is_no_table(modules):
    assert modules["ablation_tables"].ablation([result(row("a", "tips"))]) == ""


def test_members_of_a_community_are_told_by_name_and_count_as_one_set(modules):
    members = [{"genome": "x", "nga50": 50, "genome_fraction": 90.0}, {"genome": "y", "nga50": 80}]
    fewer = [{"genome": "x", "nga50": None, "genome_fraction": 90.0}, {"genome": "y", "nga50": 80}]
    of = cells(modules, row("all", "nothing", genomes=members), row("all", "tips", genomes=fewer))
    assert of["tips"]["sets that change"] == "1 of 1"
    assert of["tips"]["NGA50"] == "-100 % all: x"


def test_without_a_reference_n50_is_compared(modules):
    unknown = {"genome_fraction": None, "nga50": None, "aunga": None}
    of = cells(modules, row("a", "nothing", n50=400, **unknown), row("a", "tips", n50=100, **unknown))
    assert of["tips"]["NGA50"] == "-75 % a"


@pytest.fixture
def bench(modules, monkeypatch, tmp_path):
    """A sheet of one set, with stand-ins: contigs depend on whether tips are left out, QUAST counts its runs."""
    program = tmp_path / "gpuasm.py"
    program.write_text(
        "import os, pathlib, sys\n"
        "words = sys.argv[1:]\n"
        "out = pathlib.Path(words[words.index('-o') + 1]); out.mkdir(parents=True)\n"
        "told = [words[words.index('--device') + 1], os.environ.get('CUDA_VISIBLE_DEVICES', '')]\n"
        f"pathlib.Path({str(tmp_path)!r}, 'devices').open('a').write(' '.join(told) + '\\n')\n"
        "(out / 'contigs.fasta').write_text('>c\\n' + ('A' if 'tips' in words else 'C') * 9 + '\\n')\n"
    )
    command = modules["processes"].GPUASM[0], str(program)
    monkeypatch.setattr(importlib.import_module("assembler_runs"), "GPUASM", command)
    quast, log = tmp_path / "quast", tmp_path / "quast.log"
    quast.write_text(QUAST.replace("{log}", str(log)).replace("{report}", REPORT.format(n=3, n50=70)))
    quast.chmod(0o755)
    for name in ("a_1.fq", "a_2.fq", "a.fa"):
        (tmp_path / name).touch()
    (tmp_path / "sheet.tsv").write_text("name\treads_1\treads_2\treference\na\ta_1.fq\ta_2.fq\ta.fa\n")

    def run(*words):
        given = [str(tmp_path / "sheet.tsv"), "--quast", str(quast), "--json", str(tmp_path / "found.json"), *words]
        done = CliRunner().invoke(modules["ablation"].main, given)
        rows = json.loads((tmp_path / "found.json").read_text())["rows"] if done.exit_code == 0 else []
        return done, {row["without"]: row for row in rows}, len(log.read_text().split()) if log.exists() else 0

    return run


def test_contigs_of_the_same_bytes_are_judged_once(modules, bench, tmp_path):
    words = [word for rule in ("nothing", "tips", "bubbles", "joins") for word in ("--without", rule)]
    done, rows, n_judged = bench(*words, "--gpus", "2", "--jobs", "3")
    assert done.exit_code == 0, done.output
    assert set(rows) == {"nothing", "tips", "bubbles", "joins"}
    assert {row["quast"]["contigs_all"] for row in rows.values()} == {3}
    assert {key for row in rows.values() for key in row["quast"]} <= {*modules["ablation_tables"].KEPT}
    assert n_judged == 2
    assert len({row["contigs_sha256"] for row in rows.values()}) == 2
    assert {line.split()[0] for line in (tmp_path / "devices").read_text().splitlines()} == {"cuda"}
    assert {line.split()[1] for line in (tmp_path / "devices").read_text().splitlines()} <= {"0", "1"}


def test_pairs_are_made_in_their_order_after_all_rules(bench, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("set\twithout\na\ttips\na\tjoins\na\ttips\n")
    done, rows, _ = bench("--pairs", str(pairs))
    assert (done.exit_code, list(rows)) == (0, ["nothing", "tips", "joins"])
    pairs.write_text("set\twithout\nb\ttips\n")
    assert "no such set or rule: ('b', 'tips')" in bench("--pairs", str(pairs))[0].output


@pytest.mark.parametrize("text", ["", "a\ttips\n", "set\trule\na\ttips\n"])
def test_pairs_without_their_header_are_told_so(bench, tmp_path, text):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(text)
    done, _, _ = bench("--pairs", str(pairs))
    assert done.exit_code == 1
    assert "pairs.tsv: line 1: expected a header with the columns set and without" in done.output


def test_only_what_is_missing_is_made(bench):
    assert bench("--without", "nothing", "--without", "tips")[2] == 2
    done, rows, n_judged = bench("--without", "nothing", "--without", "tips", "--without", "joins", "--missing")
    assert (done.exit_code, set(rows), n_judged) == (0, {"nothing", "tips", "joins"}, 2)


def test_nothing_begins_after_the_deadline(bench):
    done, _, n_judged = bench("--without", "nothing", "--without", "tips", "--deadline", "-1")
    assert done.exit_code == 1
    assert "2 assemblies not begun" in done.output
    assert n_judged == 0
