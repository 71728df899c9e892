"""The table for MultiQC: comments that are YAML, titles, and a line for each run."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
import yaml

from gpuasm.report import read_run
from gpuasm.report.multiqc import write_multiqc
from gpuasm.report.page import SUMMARY_COLUMNS, summary_line
from tests.report_files import CONTIGS, MANIFEST, SPECTRUM


@pytest.fixture
def runs(tmp_path):
    """Return a run, and one whose name and reason have characters that a table has no room for."""
    for name, text in {"run.json": json.dumps(MANIFEST), "contigs.tsv": CONTIGS, "spectrum.tsv": SPECTRUM}.items():
        (tmp_path / name).write_text(text)
    missing = read_run(tmp_path / "nothing", "no\tgood")
    missing.steps.append({"step": "check_reads", "status": "failed", "message": "first\nsecond"})
    return [read_run(tmp_path, "phage"), missing]


def parts_of(path):
    """Return the section of the comments as MultiQC reads them, and the cells of the other lines."""
    lines = path.read_text().splitlines()
    comments = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    return yaml.safe_load("\n".join(comments)), [line.split("\t") for line in lines[len(comments) :]]


def test_each_run_has_a_line_below_the_section(runs, tmp_path):
    write_multiqc(runs, tmp_path / "gpuasm_mqc.tsv")
    section, (titles, good, bad) = parts_of(tmp_path / "gpuasm_mqc.tsv")
    assert (section["plot_type"], section["id"]) == ("table", "gpuasm_assemblies")
    assert tuple(titles) == SUMMARY_COLUMNS == ("sample", *section["headers"])
    assert good == list(summary_line(runs[0]))
    row = dict(zip(titles, bad, strict=True))
    assert (row["sample"], row["status"], row["reason"]) == ("no good", "failed", "check_reads: first second")


def test_numbers_have_formats_and_the_status_has_colours(runs, tmp_path):
    write_multiqc(runs, tmp_path / "gpuasm_mqc.tsv")
    section, (titles, good, _) = parts_of(tmp_path / "gpuasm_mqc.tsv")
    headers = section["headers"]
    numbers = [title for title, cell in zip(titles, good, strict=True) if cell.replace(".", "").isdigit()]
    assert {"contigs", "n50", "gc", "depth"} <= set(numbers)
    assert all(headers[title]["format"].format(0.5) for title in numbers)
    statuses = [rule["s_eq"] for rules in headers["status"]["cond_formatting_rules"].values() for rule in rules]
    assert set(statuses) == {"ok", "empty", "failed"}


def test_the_command_writes_it_under_a_name_that_multiqc_finds(run_cli, runs, tmp_path):
    page = tmp_path / "page.html"
    code, _, err = run_cli("report", tmp_path, "--multiqc", tmp_path / "table.tsv", "-o", page)
    assert code == 2
    assert "expected a name that ends in _mqc.tsv, found 'table.tsv'; rename it" in err
    assert not page.exists()
    assert run_cli("report", f"a={tmp_path}", "--multiqc", tmp_path / "a_mqc.tsv", "-o", page)[0] == 0
    assert parts_of(tmp_path / "a_mqc.tsv")[1][1][0] == "a"


@pytest.mark.skipif(shutil.which("multiqc") is None, reason="MultiQC is not installed")
def test_multiqc_shows_a_section_with_each_run(runs, tmp_path):
    (tmp_path / "results").mkdir()
    write_multiqc(runs, tmp_path / "results" / "gpuasm_mqc.tsv")
    command = ["multiqc", "--outdir", tmp_path / "out", tmp_path / "results"]
    subprocess.run(command, check=True, capture_output=True, timeout=200)
    assert "gpuasm: assemblies" in (tmp_path / "out" / "multiqc_report.html").read_text()
    table = tmp_path / "out" / "multiqc_data" / "multiqc_gpuasm_assemblies_table.txt"
    titles, *rows = [line.split("\t") for line in table.read_text().splitlines()]
    assert titles == ["Sample", *SUMMARY_COLUMNS[1:]]
    assert sorted(row[:2] for row in rows) == [["no good", "failed"], ["phage", "ok"]]
