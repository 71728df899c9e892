"""Whatever the files of a run hold, a report about it is written, and notes what is damaged."""

from __future__ import annotations

import csv
import json

import pytest

from gpuasm.cli import main
from gpuasm.errors import DataError
from gpuasm.io.tables import for_spreadsheet
from gpuasm.report import (
    Run,
    add_benchmarks,
    add_checks,
    add_status,
    read_located,
    read_run,
    render,
    write_report,
    write_summary,
)
from gpuasm.report.figures import literal
from gpuasm.report.shapes import ANY, NUMBER, TEXT, Fitting
from tests.report_files import CONTIGS, MANIFEST, SPECTRUM, parse

POINT = {"geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": {"vertex": "a", "status": "known"}}
LINE = {"geometry": {"type": "LineString", "coordinates": [[1, 2], [3, 4]]}, "properties": {}}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "phage"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(MANIFEST))
    (folder / "contigs.tsv").write_text(CONTIGS)
    (folder / "spectrum.tsv").write_text(SPECTRUM)
    return folder


@pytest.mark.parametrize(
    "data",
    [b'{"status":"done\xff"}', b"[" * 100_000, b'{"a":' * 100_000, b"[]", b"7", b"\0", b'{"wall_s": NaN}',
     b'{"wall_s": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
def test_a_manifest_that_is_none_is_noted(folder, data):
    (folder / "run.json").write_bytes(data)
    page = render([read_run(folder)])
    parse(page)
    assert "run.json is damaged" in page


@pytest.mark.parametrize(
    "changes",
    [{"warnings": 5}, {"versions": [1]}, {"machine": "x"}, {"machine": {"device": 3}}, {"stages": 7}, {"wall_s": "x"},
     {"wall_s": 10**400}, {"inputs": {"a": 1}}, {"command": []}, {"status": {}}, {"command_line": 5},
     {"stages": [{"wall_s": [], "depth": 1e18, "counts": 5}]}, {"inputs": [{"n_reads": "x"}]},
     {"results": {"threshold": "x", "peak": []}}],
)  # fmt: skip
def test_values_of_another_shape_are_left_out_and_noted(folder, changes):
    (folder / "run.json").write_text(json.dumps(MANIFEST | changes))
    run = read_run(folder)
    page = render([run])
    parse(page)
    assert "contig_000001" in page
    assert "results" in changes or any("run.json is damaged: " in note for note in run.notes)


def test_odd_text_and_amounts_make_a_page(folder):
    results = {"reads": -5, "reads_aligned": "x", "peak": 1e18, "genome_size": True, "mode": [1]}
    (folder / "run.json").write_text(json.dumps(MANIFEST | {"results": results, "status": "\ud800", "command": "bin"}))
    (folder / "spectrum.tsv").write_text(SPECTRUM + "999999999999999\t5\n")
    (folder / "contigs.tsv").write_text(CONTIGS + "$x_$\t7\t0\t0\tno\t1\n")
    write_report([read_run(folder)], folder / "page.html")
    parse((folder / "page.html").read_text())


@pytest.mark.parametrize(
    "row", ["c\t0\t1\t1\tno\t0.5", "c\t5\tnan\t1\tno\t0.5", "c\t5\t1\t1e999\tno\t0.5", "c\t5\t1\t1\tno\t2", "c\t5",
            "c\t²\t1\t1\tno\t0.5", '"c\t5\t1\t1\tno\t0.5', "c\t" + "9" * 5000 + "\t1\t1\tno\t0.5"]
)  # fmt: skip
def test_a_damaged_row_of_contigs_is_noted(folder, row):
    (folder / "contigs.tsv").write_text(CONTIGS + row + "\n")
    assert "contigs.tsv is damaged" in read_run(folder).notes


def test_damaged_files_of_the_workflow_are_noted_or_passed_over(tmp_path):
    run = Run("a", tmp_path / "a")
    (tmp_path / "a" / "benchmarks").mkdir(parents=True)
    check, status, rule = (tmp_path / "a" / name for name in ("check.json", "status.json", "benchmarks/rule.tsv"))
    check.write_bytes(b"\xff")
    rule.write_bytes(b"s\xff\n1\n")
    for data in (b"\xff", b"[]", b"[" * 50_000, b'{"sample": [1]}', b'{"sample": "a", "step": "x"}'):
        status.write_bytes(data)
        add_status([run], [status])
    add_checks([run], [check])
    add_benchmarks([run], [rule])
    assert run.steps == []
    assert run.notes == ["check.json is damaged", "benchmarks/rule.tsv is damaged"]


@pytest.mark.parametrize(
    "features",
    [5, None, [5], [{}], [{"properties": {"status": "known"}}], [POINT | {"geometry": 5}],
     [POINT | {"geometry": {"coordinates": [1, "x"]}}], [POINT | {"geometry": {"coordinates": [500, 2]}}],
     [POINT | {"properties": {"vertex": "a", "status": "lost"}}],
     [POINT | {"properties": {"vertex": [], "status": "known"}}],
     [POINT | {"properties": {"vertex": "a", "status": "inferred", "radius_km": "x"}}],
     [LINE | {"geometry": {"type": "LineString", "coordinates": []}}],
     [LINE | {"geometry": {"type": "MultiLineString", "coordinates": [[1, 2]]}}]],
)  # fmt: skip
def test_geojson_with_other_values_is_noted_on_the_page(folder, tmp_path, features):
    path = tmp_path / "places.geojson"
    path.write_text(json.dumps({"features": features}))
    with pytest.raises(DataError):
        read_located(path)
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder), "--locations", str(path), "-o", str(tmp_path / "page.html")])
    assert ended.value.code == 0
    page = (tmp_path / "page.html").read_text()
    parse(page)
    assert "places.geojson" in page


def test_a_name_breaks_no_row_of_the_summary_and_is_no_formula(tmp_path):
    names = ["a\tb", "c\nd", '"e', "=1+1", "@x", "-2.5", "f\u2028g", "h\x0bi"]
    write_summary([Run(name, tmp_path) for name in names], tmp_path / "s.tsv")
    text = (tmp_path / "s.tsv").read_text()
    with (tmp_path / "s.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(text.splitlines()) == 1 + len(names)
    assert [row["sample"] for row in rows] == ["a b", "c d", '"e', "'=1+1", "'@x", "-2.5", "f g", "h i"]


def test_cells_for_spreadsheets():
    assert [for_spreadsheet(text) for text in ("+1", "+a", " =b", "a=b", "")] == ["+1", "'+a", "' =b", "a=b", ""]


def test_text_is_no_formula_for_matplotlib():
    assert literal("$x_$\t") == r"\$x_\$ "


def test_fitting_names_what_it_leaves_out():
    fitting = Fitting()
    value = {"a": [1, "x", None], "b": {"c": True}, "d": 5}
    assert fitting(value, {"a": [NUMBER], "b": {"c": TEXT}, "*": ANY}) == {"a": [1], "b": {}, "d": 5}
    assert fitting.described() == "a.1, b.c"
