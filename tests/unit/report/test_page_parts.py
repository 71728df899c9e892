"""Parts of a page: links to files, folded tables, figures of reads in the table of inputs, and its own script."""

from __future__ import annotations

import json
import re

import pytest

from gpuasm.cli.run_folder import INCOMPLETE
from gpuasm.report import add_bins, add_checks, read_run, render, write_report, write_run_report
from tests.report_files import MANIFEST, parse, write_files
from tests.unit.report.test_bins import TABLES


@pytest.fixture
def folder(tmp_path):
    write_files(tmp_path / "a b" / "assembly", with_figures=False)
    return tmp_path / "a b" / "assembly"


def test_files_are_linked_from_where_the_page_lies(folder, tmp_path):
    write_report([read_run(folder)], folder / "report.html")
    links = re.findall(r'<a href="([^"]+)">', (folder / "report.html").read_text())
    assert links == ["contigs.tsv", "spectrum.tsv", "run.json"]
    (folder / "reads.bam").touch()
    write_report([read_run(folder)], tmp_path / "all.html")
    links = re.findall(r'<a href="([^"]+)">', (tmp_path / "all.html").read_text())
    assert links == [f"a%20b/assembly/{name}" for name in ("contigs.tsv", "spectrum.tsv", "reads.bam", "run.json")]


def test_files_of_bins_are_linked_too(folder, tmp_path):
    bins = folder.parent / "bins"
    (bins / "bins").mkdir(parents=True)
    for name, text in {**TABLES, "contigs2bin.tsv": "", "bins/bin_001.fasta": "", "unbinned.fasta": ""}.items():
        (bins / name).write_text(text)
    runs = [read_run(folder)]
    add_bins(runs, [bins])
    write_report(runs, tmp_path / "all.html")
    links = re.findall(r'<a href="a%20b/bins/([^"]+)">', (tmp_path / "all.html").read_text())
    assert links == ["bins.tsv", "contigs2bin.tsv", "bins/bin_001.fasta", "unbinned.fasta"]


def test_the_log_is_linked_while_the_other_files_are_made_elsewhere(tmp_path):
    made = tmp_path / INCOMPLETE / "files"
    write_files(made, with_figures=False)
    assert "assemble.log" not in render([read_run(made)])
    (tmp_path / "assemble.log").touch()
    write_run_report(made)
    assert '<a href="assemble.log">' in (made / "report.html").read_text()


def test_stages_and_the_machine_are_folded_away(folder):
    page = render([read_run(folder)])
    parse(page)
    folded = re.findall(r'<details class="folded"><summary><h3>([^<]+)', page)
    assert folded == ["Stages", "Where it ran"]
    assert "<th></th>" not in page
    assert page.index("<main>") < page.index("<h2") < page.index("<h3")


def test_figures_of_reads_are_in_their_table(folder):
    reads = [{**MANIFEST["inputs"][0], "q30_share": 0.912}]
    (folder / "run.json").write_text(json.dumps({**MANIFEST, "inputs": reads}))
    page = render([read_run(folder)])
    assert "Q30 %" in page
    assert "91.2" in page
    assert "adapters %" not in page
    check = folder.parent / "check.json"
    found = {"path": "a_1.fq", "adapter_fraction": 0.031, "duplicate_fraction": 0.107, "phix_fraction": 0.002}
    check.write_text(json.dumps({"warnings": [], "files": [found, {"path": ["a_1.fq"]}]}))
    run = read_run(folder, "a b")
    add_checks([run], [check])
    page = render([run])
    for text in ("adapters %", "3.1", "duplicates %", "10.7", "PhiX %"):
        assert text in page


def test_each_sample_of_a_page_can_be_sorted_and_filtered(folder):
    page = render([read_run(folder, "one"), read_run(folder, "two")])
    parse(page)
    assert page.count("<script") == 1
    assert '<table class="sortable" id="samples">' in page
    assert [page.count(f'<section id="run-{i}">') for i in (1, 2, 3)] == [1, 1, 0]
    for name in ("filter-text", "filter-verdict", "filter-count"):
        assert page.count(f'id="{name}"') == 1


def test_columns_of_the_summary_are_those_that_a_sample_fills(folder):
    runs = [read_run(folder, name) for name in ("one", "two")]
    assert '<th class="n">Q30 %</th>' not in render(runs)
    runs[1].manifest["inputs"] = [
        {"n_bases": 100, "q30_share": 0.5},
        {"n_bases": 300, "q30_share": 0.9},
        {"n_bases": 5},
    ]
    page = render(runs)
    titles = re.findall(r'<th class="n">([^<]+)</th>', page[: page.index("</thead>")])
    rows = re.findall(r'<td class="label"><a href="#run-\d">.*?</tr>', page)
    cells = [re.findall(r'<td class="n">([^<]*)</td>', row) for row in rows]
    assert [row[titles.index("Q30 %")] for row in cells] == ["\N{EN DASH}", "80.0"]
    assert "bins" not in titles
    assert [len(row) for row in cells] == [len(titles)] * 2
