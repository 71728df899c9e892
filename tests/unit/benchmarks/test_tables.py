"""Tables of benchmarks: rules and ratios by series, communities, time, and the text between markers of a document."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
FIGURES = {
    "nga50": 1200,
    "aunga": 5600.9,
    "misassemblies": 1,
    "mismatches_per_100k": 0.5,
    "indels_per_100k": 0.25,
    "genome_fraction": 98.0,
    "duplication": 1.0,
}


@pytest.fixture
def modules(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("tables", "assembler_tables", "community_tables", "speed_tables", "result_files")
    return {name: importlib.import_module(name) for name in names}


def result(benchmark, rows, **about):
    machine = {"cpu": "a CPU", "cpus": 2, "device": {}}
    return {
        "benchmark": benchmark,
        "key": "x",
        "date": "2026-01-01",
        "machine": machine,
        "parameters": about,
        "rows": rows,
    }


def series(*rows):
    sets = {name: {"what": name, "kind": "simulated"} for name, _, _ in rows}
    contigs = [
        {"set": name, "assembler": by, "sequences": "contigs", "quast": FIGURES | more} for name, by, more in rows
    ]
    return result("assemblers", contigs, sets=sets)


def last_cells(table, n=1):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[-n:]]


def test_rules_are_counted_over_sets_with_a_peer(modules):
    found = series(
        ("a", "gpuasm", {}), ("a", "skesa", {"nga50": 1100}),
        ("b", "gpuasm", {}), ("b", "skesa", {"nga50": 1210}),
        ("c", "gpuasm", {}),
    )  # fmt: skip
    lines = modules["assembler_tables"].assemblers([found]).splitlines()
    assert "| NGA50 at least the best peer's | 1 of 2 |" in lines
    assert "| NGA50 at least 0.95 of the best peer's | 2 of 2 |" in lines
    assert lines[-2:] == ["| sets with SKESA | 2 |", "| sets with SPAdes | 0 |"]


def test_ratios_are_geometric_means_over_sets_with_both(modules):
    found = series(
        ("a", "gpuasm", {"nga50": 400}), ("a", "megahit", {"nga50": 100, "misassemblies": 3}),
        ("b", "gpuasm", {}), ("b", "megahit", {"genome_fraction": 97.0}),
        ("c", "gpuasm", {}), ("c", "megahit", {"genome_fraction": None}),
    )  # fmt: skip
    (row,) = last_cells(modules["assembler_tables"].assembler_ratios([found]))
    assert row == ["x", "MEGAHIT", "2", "2.000", "1.000", "2", "4", "0.75", "0.75", "+0.50"]


def test_a_series_without_peers_has_only_its_own_figures(modules):
    found = series(("a", "gpuasm", {}), ("b", "gpuasm", {"nga50": 300, "misassemblies": 0, "duplication": 1.1}))
    assert modules["assembler_tables"].assemblers([found]) == ""
    (row,) = last_cells(modules["assembler_tables"].series([found]))
    assert row == ["x", "2", "600", "5,601", "1", "1", "0.75", "98.00", "1.100"]


def test_genomes_of_a_community_count_for_the_assembler_with_the_longest_nga50(modules):
    rows = [
        {"nga50": [5, 7, None], "by": "gpuasm"},
        {"nga50": [4, 7, 1], "by": "megahit"},
    ]
    made = [
        {"failed": False, "assembler": row["by"], "quast": FIGURES | {"aligned": 9},
         "genomes": [{"fold": 2.0 + i, "nga50": length} for i, length in enumerate(row["nga50"])]}
        for row in rows
    ]  # fmt: skip
    found = last_cells(modules["community_tables"].community([result("community", made)]), 2)
    assert [(row[2], row[3], row[-1]) for row in found] == [("2 to 4", "gpuasm", "2"), ("2 to 4", "megahit", "2")]


def test_the_fastest_run_of_each_device_is_shown(modules):
    run = {"device": "cpu", "threads": 2, "order": "as given", "cpu_s": 9.0, "peak_rss_mb": 5}
    runs = [run | {"wall_s": 4.0}, run | {"wall_s": 3.0}, run | {"wall_s": 1.0, "order": "shuffled"}]
    (row,) = last_cells(modules["speed_tables"].speed([result("assemble", runs)]))
    assert row[3:] == ["gpuasm", "cpu", "2", "3.0", "9", "5"]


def test_different_outputs_are_counted(modules):
    run = {"device": "cpu", "threads": 1, "order": "as given", "graph_sha256": "a", "scaffolds_sha256": "b"}
    runs = [run | {"sha256": "c"}, run | {"sha256": "d", "threads": 2}]
    found = last_cells(modules["speed_tables"].same_bytes([result("assemble", runs)]), 2)
    assert found[0] == ["a CPU, 2 cores", "cpu", "1, 2", "as given", "2", "2", "1", "1"]
    assert found[1][1:] == found[0][1:]


def test_text_between_markers_is_replaced(modules):
    text = "x\n<!-- table: community -->\nold\n<!-- end table -->\ny\n"
    assert modules["tables"].filled(text, []) == text.replace("old", "Not measured yet.")
    with pytest.raises(SystemExit, match="no table is called 'other'"):
        modules["tables"].filled(text.replace("community", "other"), [])


def test_entries_of_results_are_read_as_written(modules, tmp_path):
    files, path = modules["result_files"], tmp_path / "one.json"
    entries = {"a": {"date": "2026-01-01", "rows": [{"x": 1}, {"x": 2}]}, "b": {"date": "2026-01-02", "rows": []}}
    assert files.read_entries(path) == {}
    files.write_entries(path, "one", entries)
    assert files.read_entries(path) == entries
    assert json.loads(path.read_text())["benchmark"] == "one"
    assert [own["key"] for own in modules["tables"].read_results(tmp_path)] == ["a", "b"]


def test_every_file_of_results_has_one_benchmark_and_is_named_by_it():
    for path in (BENCHMARKS / "results").iterdir():
        content = json.loads(path.read_text())
        assert path.name == f"{content['benchmark']}.json"
        assert all(entry["rows"] and entry["date"] and entry["machine"] for entry in content["entries"].values())
