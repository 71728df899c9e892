"""The table of sets that were run without peers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
FIGURES = {
    "nga50": 1234,
    "aunga": 5678.9,
    "misassemblies": 1,
    "mismatches_per_100k": 0.5,
    "indels_per_100k": 0.25,
    "genome_fraction": 98.7654,
    "duplication": 1.0,
}


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import tables

    return tables


def result(*assemblers):
    rows = [{"set": "u1", "assembler": name, "sequences": "contigs", "quast": FIGURES} for name in assemblers]
    machine = {"cpu": "a CPU", "cpus": 2, "device": {}}
    parameters = {"sets": {"u1": {"what": "some reads", "kind": "simulated"}}}
    return {"benchmark": "assemblers", "date": "2026-01-01", "machine": machine, "parameters": parameters, "rows": rows}


def test_sets_run_alone_have_a_table_of_their_own(tables):
    alone, beside = result("gpuasm"), result("gpuasm", "skesa")
    assert tables.unseen([alone]).endswith("| some reads | 1,234 | 5,679 | 1 | 0.75 | 98.77 | 1.000 |")
    assert tables.unseen([beside]) == ""
    assert tables.assemblers([alone, beside]) == tables.assemblers([beside]) != ""


def test_a_table_with_peers_on_a_few_sets_only_shows_what_gpuasm_did_on_all(tables):
    few = result("gpuasm", "skesa")
    few["rows"] += [{**few["rows"][0], "set": name} for name in ("u2", "u3")]
    few["parameters"]["sets"] |= {name: {"what": name, "kind": "simulated"} for name in ("u2", "u3")}
    of_few = tables.unseen([few]).splitlines()[-3:]
    assert [line.split("|")[1].strip() for line in of_few] == ["some reads", "u2", "u3"]
    assert tables.assemblers([few]) == tables.assemblers([])


def test_every_unseen_set_is_in_the_table(tables):
    names = [line.split("\t")[0] for line in (BENCHMARKS / "unseen.tsv").read_text().splitlines()[1:]]
    rows = json.loads((BENCHMARKS / "results" / "unseen.json").read_text())["rows"]
    assert [row["set"] for row in rows] == names
