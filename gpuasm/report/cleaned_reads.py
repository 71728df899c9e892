"""What was cut from the reads and which reads were left out before an assembly, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from gpuasm.report.inputs import Run
from gpuasm.report.shapes import is_number
from gpuasm.report.tables import Header, Table

_COUNT = {
    "trim adapters": "trimmed_reads",
    "cut primers": "cut_reads",
    "remove duplicates": "removed_pairs",
    "remove PhiX174": "removed_reads",
    "remove reference": "removed_reads",
    "sub-sample reads": "kept_reads",
}
"""Stages that change reads, and the count of each."""


def tables_of_cleaning(run: Run) -> list[Table]:
    """Return a table with a row for each stage that cut or left out reads; none if no stage did."""
    n_reads = sum(file["n_reads"] for file in run.manifest.get("inputs", []) if is_number(file.get("n_reads")))
    rows = [
        (what, f"{n:,.0f}", f"{n / n_reads:.1%}" if n_reads else "", detail)
        for stage in run.manifest.get("stages", [])
        for what, n, detail in _changes(stage)
    ]
    headers = [Header("what"), Header("reads", number=True), Header("of all", number=True), Header("", wrapped=True)]
    return [Table("Before the assembly", headers, rows)] if rows else []


def _changes(stage: Mapping[str, Any]) -> Iterator[tuple[str, float, str]]:
    """Yield what a stage did, the reads, and a detail."""
    counts, parameters, name = stage.get("counts") or {}, stage.get("parameters") or {}, stage.get("name", "")
    n = counts.get(_COUNT.get(name, ""))
    if not is_number(n):
        return
    if name == "sub-sample reads":
        before, after = counts.get("depth_before"), counts.get("depth_after")
        depths = f"{before:.1f}-fold to {after:.1f}-fold" if is_number(before) and is_number(after) else ""
        yield "kept by --depth", n, depths or "the genome's size is not known"
    elif n > 0:
        bases = counts.get("removed_bases")
        size = f"{bases:,.0f} bases" if is_number(bases) else ""
        yield {
            "trim adapters": ("adapters cut", n, ", ".join(filter(None, (str(counts.get("adapter", "")), size)))),
            "cut primers": ("primers cut", n, size),
            "remove duplicates": ("duplicates removed", 2 * n, ""),
            "remove PhiX174": ("PhiX174 removed", n, ""),
            "remove reference": ("reference removed", n, PurePath(str(parameters.get("reference", ""))).name),
        }[name]
