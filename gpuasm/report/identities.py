"""Species of contigs, bins and reads by ``gpuasm identify``: read for a report, and shown as a table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gpuasm.errors import GpuasmError
from gpuasm.io.signature_databases import NO_DATABASE
from gpuasm.report.inputs import Run, read_object
from gpuasm.report.shapes import ANY, NUMBER, TEXT, Shape, is_number
from gpuasm.report.tables import Header, Table

MOST_MATCHES = 5
"""Matches of a subject that a page shows."""
_MATCH: Shape = {"name": TEXT, **dict.fromkeys(("share", "ani", "genome_share", "genome_size"), NUMBER)}
_SUBJECT: Shape = {"name": TEXT, "unknown_share": NUMBER, "share_of_reads": NUMBER, "matches": [_MATCH]}
_SHAPE: Shape = {
    "command": TEXT,
    "results": {"species": TEXT, "expected_genome_size": NUMBER, "subjects": [_SUBJECT], "*": ANY},
    "*": ANY,
}
_TITLES = ("share", "identity", "of the genome", "genome")


def add_identities(runs: Iterable[Run], paths: Iterable[str | Path]) -> None:
    """Give each run what ``gpuasm identify -o SAMPLE/identity`` found; what is damaged is noted."""
    by_name = {run.name: run for run in runs}
    for folder in map(Path, paths):
        path, run = folder / "run.json", by_name.get(folder.parent.name)
        if run is None or not path.is_file() or not path.stat().st_size:  # empty after a failed step
            continue
        try:
            found = read_object(path, _SHAPE, run.notes).get("results")
        except GpuasmError:
            run.notes.append(f"{folder.name}/run.json is damaged")
            continue
        run.identity = found if isinstance(found, dict) else {}


def expected_genome_size(run: Run) -> float | None:
    """Return the size of the genome of the species of the contigs, in bases; None if it is not known."""
    size = run.identity.get("expected_genome_size")
    return size if is_number(size) and size > 0 else None


def tables_of_identities(run: Run) -> list[Table]:
    """Return a table of the species of each subject; without a database one that states this, for bins none."""
    if run.manifest.get("command") != "assemble":
        return []
    headers = [Header("what"), Header("species", wrapped=True), *(Header(title, number=True) for title in _TITLES)]
    rows = [row for subject in _items(run.identity.get("subjects")) for row in _rows(subject)]
    return [Table("Species", headers, rows or [("contigs", NO_DATABASE, "", "", "", "")])]


def _rows(subject: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each of the best matches, and one for what is unknown."""
    matches = _items(subject.get("matches"))
    rows = [
        (
            match.get("name", ""),
            _percent(match.get("share")),
            _percent(match.get("ani"), digits=2),
            _percent(match.get("genome_share")),
            f"{match['genome_size']:,.0f}" if match.get("genome_size") else "",
        )
        for match in matches[:MOST_MATCHES]
    ]
    if len(matches) > MOST_MATCHES:
        rest = sum(match.get("share") or 0.0 for match in matches[MOST_MATCHES:])
        rows.append((f"{len(matches) - MOST_MATCHES} more", _percent(rest), "", "", ""))
    rows.append(("unknown", _percent(subject.get("unknown_share")), "", "", ""))
    share = subject.get("share_of_reads")
    name = subject.get("name", "") + (f" ({_percent(share)} of all)" if share is not None else "")
    return [(name if number == 0 else "", *row) for number, row in enumerate(rows)]


def _percent(value: float | None, *, digits: int = 1) -> str:
    return "" if value is None else f"{value:.{digits}%}"


def _items(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
