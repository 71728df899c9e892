"""The table of effects of rules, and the runs of the ablation benchmark."""

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


def cells(modules, *rows):
    """The cells of the table by rule and heading."""
    text = modules["ablation_tables"].ablation([result(*rows), {"benchmark": "other"}])
    head, _, *lines = text.split("\n\n")[-1].splitlines()
    heads = [cell.strip() for cell in head.strip("|").split("|")]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {line[0]: dict(zip(heads[1:], line[1:], strict=True)) for line in table}


def test_effects_of_a_rule_are_summed_over_sets_with_a_reference(modules):
    unknown = {"genome_fraction": None, "nga50": None, "aunga": None, "misassemblies": None}
    of = cells(
        modules,
        *(row(name, "nothing") for name in "ab"),
        row("c", "nothing", aunga=None),
        row("d", "nothing", n50=9, **unknown),
        row("a", "tips", aunga=450.2, misassemblies=2, genome_fraction=96.0, sha="other"),
        row("b", "tips", aunga=990.44, misassemblies=1, mismatches_per_100k=0.25, sha="other"),
        row("c", "tips", aunga=None, indels_per_100k=1.0),
        row("d", "tips", n50=5, **unknown),
        row("d", "joins", n50=5, sha="other", **unknown),
    )
    assert of["tips"] == {
        "sets": "4",
        "sets that change": "2",
        "auNGA, mean": "-20.00 %",
        "misassemblies, sum": "+3",
        "mismatches and indels / 100 kbp, sum": "+0.50",
        "genome %, mean": "-1.000",
    }
    assert [*of["joins"].values()] == ["1", "1", "", "", "", ""]


def test_rules_without_an_effect_and_failed_runs_are_left_out(modules):
    failed = {"set": "a", "without": "tips", "failed": True, "quast": {}}
    rows = [row("a", "nothing"), failed, row("a", "joins"), row("a", "bubbles", sha="other")]
    assert list(cells(modules, *rows)) == ["bubbles"]


def test_rows_of_rules_that_are_no_more_are_left_out(modules):
    rows = [row("a", "nothing"), row("a", "a-former-rule", sha="other"), row("a", "tips", sha="other")]
    assert list(cells(modules, *rows)) == ["tips"]


def test_figures_show_changes_where_a_checksum_is_missing(modules):
    old, new = row("a", "nothing"), row("a", "tips", nga50=900)
    del old["contigs_sha256"]
    assert cells(modules, old, new)["tips"]["sets that change"] == "1"


def test_a_set_in_several_entries_counts_once(modules):
    rows = [row("a", "nothing"), row("a", "tips", sha="other")]
    text = modules["ablation_tables"].ablation([result(*rows), result(*rows)])
    assert text.splitlines()[-1].startswith("| tips | 1 | 1 |")


def test_rows_without_a_baseline_are_left_out(modules):
    assert cells(modules, row("a", "tips")) == {}


@pytest.fixture
def bench(modules, monkeypatch, tmp_path):
    """A sheet of one set with substitutes for programs: contigs depend on the rule tips, QUAST counts its runs."""
    program = tmp_path / "gpuasm.py"
    program.write_text(
        "import os, pathlib, sys\n"
        "arguments = sys.argv[1:]\n"
        "out = pathlib.Path(arguments[arguments.index('-o') + 1]); out.mkdir(parents=True)\n"
        "device = [arguments[arguments.index('--device') + 1], os.environ.get('CUDA_VISIBLE_DEVICES', '')]\n"
        f"pathlib.Path({str(tmp_path)!r}, 'devices').open('a').write(' '.join(device) + '\\n')\n"
        "(out / 'contigs.fasta').write_text('>c\\n' + ('A' if 'tips' in arguments else 'C') * 9 + '\\n')\n"
    )
    command = modules["processes"].GPUASM[0], str(program)
    monkeypatch.setattr(importlib.import_module("assembler_runs"), "GPUASM", command)
    quast, log = tmp_path / "quast", tmp_path / "quast.log"
    quast.write_text(QUAST.replace("{log}", str(log)).replace("{report}", REPORT.format(n=3, n50=70)))
    quast.chmod(0o755)
    for name in ("a_1.fq", "a_2.fq", "a.fa"):
        (tmp_path / name).touch()
    (tmp_path / "sheet.tsv").write_text("name\treads_1\treads_2\treference\na\ta_1.fq\ta_2.fq\ta.fa\n")

    def run(*options):
        given = [str(tmp_path / "sheet.tsv"), "--quast", str(quast), "--json", str(tmp_path / "found.json"), *options]
        done = CliRunner().invoke(modules["ablation"].main, given)
        rows = (
            json.loads((tmp_path / "found.json").read_text())["entries"]["isolates"]["rows"]
            if done.exit_code == 0
            else []
        )
        return done, {row["without"]: row for row in rows}, len(log.read_text().split()) if log.exists() else 0

    return run


def test_quast_runs_once_on_equal_contigs(modules, bench, tmp_path):
    options = [own for rule in ("nothing", "tips", "bubbles", "joins") for own in ("--without", rule)]
    done, rows, n_judged = bench(*options, "--gpus", "2", "--jobs", "3")
    assert done.exit_code == 0, done.output
    assert set(rows) == {"nothing", "tips", "bubbles", "joins"}
    assert {row["quast"]["contigs_all"] for row in rows.values()} == {3}
    assert {key for row in rows.values() for key in row["quast"]} <= {*modules["ablation_tables"].KEPT}
    assert n_judged == 2
    assert len({row["contigs_sha256"] for row in rows.values()}) == 2
    assert {line.split()[0] for line in (tmp_path / "devices").read_text().splitlines()} == {"cuda"}
    assert {line.split()[1] for line in (tmp_path / "devices").read_text().splitlines()} <= {"0", "1"}


def test_pairs_run_in_their_order_after_all_rules(bench, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("set\twithout\na\ttips\na\tjoins\na\ttips\n")
    done, rows, _ = bench("--pairs", str(pairs))
    assert (done.exit_code, list(rows)) == (0, ["nothing", "tips", "joins"])
    pairs.write_text("set\twithout\nb\ttips\n")
    assert "no such set or rule: ('b', 'tips')" in bench("--pairs", str(pairs))[0].output


@pytest.mark.parametrize("text", ["", "a\ttips\n", "set\trule\na\ttips\n"])
def test_pairs_without_a_header_are_refused(bench, tmp_path, text):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(text)
    done, _, _ = bench("--pairs", str(pairs))
    assert done.exit_code == 1
    assert "pairs.tsv: line 1: expected a header with the columns set and without" in done.output


def test_only_missing_rows_are_made(bench):
    assert bench("--without", "nothing", "--without", "tips")[2] == 2
    done, rows, n_judged = bench("--without", "nothing", "--without", "tips", "--without", "joins", "--missing")
    assert (done.exit_code, set(rows), n_judged) == (0, {"nothing", "tips", "joins"}, 2)


def test_no_run_begins_after_the_deadline(bench):
    done, _, n_judged = bench("--without", "nothing", "--without", "tips", "--deadline", "-1")
    assert done.exit_code == 1
    assert "2 assemblies not begun" in done.output
    assert n_judged == 0
