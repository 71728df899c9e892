"""The table of what was cut from reads and left out before an assembly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpuasm.report import render
from gpuasm.report.cleaned_reads import tables_of_cleaning
from gpuasm.report.inputs import Run


def stage(name: str, parameters: dict[str, Any] | None = None, **counts: Any) -> dict[str, Any]:
    return {"name": name, "parameters": parameters or {}, "counts": counts}


def run_of(*stages: dict[str, Any]) -> Run:
    return Run("s", Path(), manifest={"command": "assemble", "inputs": [{"n_reads": 600}, {}], "stages": list(stages)})


def test_a_row_for_each_stage_that_changed_reads():
    (table,) = tables_of_cleaning(
        run_of(
            stage("read sequences"),
            stage("trim adapters", trimmed_reads=60, removed_bases=1200, adapter="Illumina TruSeq"),
            stage("cut primers", primers=2, cut_reads=6, removed_bases=144),
            stage("remove duplicates", removed_pairs=15),
            stage("remove PhiX174", removed_reads=0),
            stage("remove reference", {"reference": "refs/<host>.fasta"}, removed_reads=200),
            stage("sub-sample reads", reads=600, kept_reads=150, depth_before=80.0, depth_after=29.96),
        )
    )
    assert table.rows == [
        ("adapters cut", "60", "10.0%", "Illumina TruSeq, 1,200 bases"),
        ("primers cut", "6", "1.0%", "144 bases"),
        ("duplicates removed", "30", "5.0%", ""),
        ("reference removed", "200", "33.3%", "<host>.fasta"),
        ("kept by --depth", "150", "25.0%", "80.0-fold to 30.0-fold"),
    ]


def test_an_unknown_genome_is_named():
    (table,) = tables_of_cleaning(run_of(stage("sub-sample reads", reads=600, kept_reads=600)))
    assert table.rows == [("kept by --depth", "600", "100.0%", "the genome's size is not known")]


@pytest.mark.parametrize("counts", [{"trimmed_reads": 0}, {"trimmed_reads": "many"}, {}])
def test_no_table_where_nothing_was_done(counts):
    assert tables_of_cleaning(run_of(stage("trim adapters", **counts))) == []
    assert tables_of_cleaning(Run("s", Path())) == []


def test_the_page_has_it():
    page = render([run_of(stage("remove reference", {"reference": "<host>.fasta"}, removed_reads=200))])
    assert "Before the assembly" in page
    assert "&lt;host&gt;.fasta" in page
