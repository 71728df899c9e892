"""How contigs of real reads are counted, and which columns their table has."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def modules(monkeypatch):
    """The scripts import each other by their bare names, as they are run."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("real_reads"), importlib.import_module("assembler_tables")


def test_short_pieces_set_the_n50_of_all_contigs_but_not_of_long_ones(modules, tmp_path):
    contigs = tmp_path / "contigs.fasta"
    lengths = [2000, 900, 500, *[499] * 10, *[250] * 90, 199]
    contigs.write_text("".join(f">c{i}\n{'A' * n}\n" for i, n in enumerate(lengths)))
    found = modules[0].describe(contigs)
    assert (found["total"], found["contigs"], found["n50"]) == (3400 + 4990 + 22_500, 103, 250)
    assert (found["total_long"], found["n50_long"]) == (3400, 2000)


@pytest.mark.parametrize(("lengths", "n50"), [([], 0), ([7], 7), ([5, 5], 5), ([6, 5, 4], 5), ([10, 1, 1], 10)])
def test_n50(modules, lengths, n50):
    assert modules[0].n50(lengths) == n50


@pytest.mark.parametrize("has_long", [False, True])
def test_columns_without_figures_are_left_out(modules, has_long):
    row = {"sample": "a", "assembler": "gpuasm", "total": 9, **({"total_long": 8} if has_long else {})}
    machine = {"cpu": "x", "cpus": 2, "device": {}}
    result = {"benchmark": "real_reads", "date": "2026-01-01", "machine": machine, "parameters": {}, "rows": [row]}
    table = modules[1].real_reads([result])
    assert ("bases in >= 500" in table) == has_long
    assert "NGA50" not in table
