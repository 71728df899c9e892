"""Bins on the page of an assembly, and on a page of their own."""

from __future__ import annotations

import json
import shutil

import pytest

from gpuasm.report import add_bins, read_bin_run, read_run, render
from tests.report_files import CONTIGS, MANIFEST, parse

TABLES = {
    "bins.tsv": "bin\tcontigs\tbases\tn50\tlongest\tgc\tcircular\tsureness\tsilhouette\tborder\tapart\tdepth\n"
    "bin_001\t1\t5386\t5386\t5386\t0.447\t1\t0.9999\t0.71\t0.012\t0\t40.1\n"
    "bin_002\t1\t500\t500\t500\t0.5\t0\t0.99\t\t0\t500\t80\n",
    "contigs.tsv": "contig\tlength\tbin\tunit_row\tunit_column\n"
    "c1\t5386\tbin_001\t0\t0\nc2\t500\tbin_002\t1\t2\nc3\t114\t\t1\t1\n",
    "map.tsv": "row\tcolumn\theight\tpieces\tbin\n"
    + "".join(f"{r}\t{c}\t{r + c}\t1\tbin_001\n" for r in range(2) for c in range(3)),
    "training.tsv": "epoch\tquantisation\ttopographic\n0\t5\t0.5\n1\t2\t0.25\n",
}


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a sample with an assembly and bins."""
    assembly, bins = tmp_path / "soil" / "assembly", tmp_path / "soil" / "bins"
    for path in (assembly, bins):
        path.mkdir(parents=True)
    (assembly / "run.json").write_text(json.dumps(MANIFEST))
    (assembly / "contigs.tsv").write_text(CONTIGS)
    (bins / "run.json").write_text(json.dumps({**MANIFEST, "command": "bin", "inputs": [{"path": "contigs.fasta"}]}))
    for name, text in TABLES.items():
        (bins / name).write_text(text)
    return tmp_path / "soil"


def page_of(folder):
    run = read_run(folder / "assembly")
    add_bins([run], [folder / "bins"])
    return render([run])


def test_bins_are_on_the_page_of_the_assembly(folder):
    page = page_of(folder)
    parse(page)
    for text in ("<h3>Bins</h3>", "bin_001", "0.71", "Map of contigs", "Training of the map", "Nx curve"):
        assert text in page
    assert "114 of 6,000 bases are in no bin." in page


def test_one_contig_has_no_map(folder):
    (folder / "bins" / "contigs.tsv").write_text("\n".join(TABLES["contigs.tsv"].splitlines()[:2]) + "\n")
    page = page_of(folder)
    assert "<h3>Bins</h3>" in page
    assert "Map of contigs" not in page


def test_a_binning_has_a_page_of_its_own(folder):
    run = read_bin_run(folder / "bins")
    assert run.status == "ok"
    page = render([run])
    parse(page)
    assert "<h1>Bins of soil</h1>" in page
    assert "<h3>Reads</h3>" not in page
    assert "assembled" not in page


def test_a_binning_without_bins_gives_the_reason(folder):
    for name, text in TABLES.items():
        (folder / "bins" / name).write_text(text.splitlines(keepends=True)[0])
    manifest = {**MANIFEST, "command": "bin", "status": "no bin: there is no contig"}
    (folder / "bins" / "run.json").write_text(json.dumps(manifest))
    run = read_bin_run(folder / "bins")
    assert (run.status, run.reason) == ("empty", "no bin: there is no contig")
    parse(render([run]))
    assert "<h3>Bins</h3>" not in page_of(folder)


def test_damaged_and_missing_tables_are_noted(folder):
    (folder / "bins" / "contigs.tsv").write_text("contig\tlength\n")
    (folder / "bins" / "map.tsv").write_text("row\tcolumn\theight\n0\t0\thigh\n")
    assert "the tables of bins are missing or damaged" in page_of(folder)
    shutil.rmtree(folder / "bins")
    assert "the tables of bins are missing or damaged" in page_of(folder)


def test_folders_of_unknown_samples_are_passed_over(folder):
    run = read_run(folder / "assembly", "another")
    add_bins([run], [folder / "bins"])
    assert run.binning is None
    assert "damaged" not in " ".join(run.notes).replace("spectrum.tsv", "")
