"""The summary of runs as a section of MultiQC: a table of custom content, which MultiQC finds by its name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpuasm.report.inputs import Run
from gpuasm.report.page import SUMMARY_COLUMNS, summary_line

MULTIQC_SUFFIX = "_mqc.tsv"
"""The end of the names of tables that MultiQC reads."""

_WHOLE, _BASES = {"format": "{:,.0f}"}, {"format": "{:,.0f}", "suffix": " bp"}
_SHARE = {"format": "{:.2%}", "min": 0, "max": 1}
_FORMATS: dict[str, dict[str, Any]] = {
    "contigs": _WHOLE, "bases": _BASES, "longest": _BASES, "n50": _BASES, "l50": _WHOLE, "gc": _SHARE,
    "circular": _WHOLE, "depth": {"format": "{:,.1f}", "suffix": "x"}, "reads": _WHOLE, "reads_aligned": _SHARE,
    "adapters": _SHARE, "duplicates": _SHARE, "mixed_bases": {"format": "{:.4%}", "min": 0, "max": 1}, "bins": _WHOLE,
}  # fmt: skip
_TITLES = {"n50": "N50", "l50": "L50", "gc": "GC"}
_COLOURS = {
    "status": {"pass": "ok", "warn": "empty", "fail": "failed"},
    "verdict": {"pass": "pass", "warn": "warn", "fail": "fail"},
}
"""Texts of columns by the colour that MultiQC gives them."""


def write_multiqc(runs: Sequence[Run], path: str | Path) -> None:
    """Write a line for each run, below comments that give MultiQC the section, its plot and its columns.

    Parameters
    ----------
    runs
        The runs.
    path
        The file; MultiQC reads it if its name ends in ``MULTIQC_SUFFIX``.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        If the file cannot be written.
    """
    from gpuasm.io import atomic_output  # noqa: PLC0415 - io needs numpy and compression libraries

    section = {
        "id": "gpuasm_assemblies",
        "section_name": "gpuasm: assemblies",
        "description": "Contigs of each sample, and what to look at.",
        "plot_type": "table",
        "pconfig": {"id": "gpuasm_assemblies_table", "title": "gpuasm: assemblies", "namespace": "gpuasm"},
        "headers": {column: _header(column) for column in SUMMARY_COLUMNS[1:]},
    }
    with atomic_output(path) as file:
        file.writelines(f"# {key}: {json.dumps(value)}\n" for key, value in section.items())  # JSON is YAML
        file.writelines("\t".join(map(_cell, line)) + "\n" for line in (SUMMARY_COLUMNS, *map(summary_line, runs)))


def _header(column: str) -> dict[str, Any]:
    title = _TITLES.get(column, column.replace("_", " "))
    rules = {colour: [{"s_eq": text}] for colour, text in _COLOURS.get(column, {}).items()}
    coloured = {"cond_formatting_rules": rules} if rules else {}
    return {"title": title, "scale": False, **_FORMATS.get(column, {}), **coloured}


def _cell(text: str) -> str:
    """Return a text without tabs and line breaks."""
    return " ".join(text.split())
