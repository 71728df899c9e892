"""Read the files of a run for a report; a missing, empty or damaged file is noted, not fatal."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpuasm.report.binned_contigs import BinnedContigs

STEPS = ("check_reads", "count_kmers", "de_bruijn_graph", "assemble_contigs", "train_som", "bin_contigs")
"""The steps of the workflow whose status is known, in order."""

SCHEMA_VERSION = 2
"""Of run.json: that of gpuasm.cli.manifest."""

_TRUE = {"yes", "true", "1"}


@dataclass(frozen=True)
class ContigRow:
    """A line of contigs.tsv: bases, mean depth, estimated copies, whether circular, share of G and C."""

    name: str
    length: int
    depth: float
    copies: float
    circular: bool
    gc: float


@dataclass
class Run:
    """What is known of one run.

    Attributes
    ----------
    name : str
        Of the sample.
    folder : Path
        Where its files are.
    manifest : dict
        run.json, empty if there is none.
    contigs : list of ContigRow
        Longest first.
    spectrum : list of (multiplicity, distinct k-mers)
    notes : list of str
        Which files are missing, empty or damaged.
    steps : list of dict
        The status of the workflow's steps: sample, step, status, exit_code, message.
    benchmarks : list of dict
        Snakemake's benchmark rows of the sample, each with its rule.
    binning : BinnedContigs or None
        What ``gpuasm bin`` made of the contigs.
    check : dict
        What ``gpuasm check --json`` found in the reads, empty if that is not known.
    pages : list of Path
        Pages about this run alone, if they are there.
    """

    name: str
    folder: Path
    manifest: dict[str, Any] = field(default_factory=dict)
    contigs: list[ContigRow] = field(default_factory=list)
    spectrum: list[tuple[int, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    benchmarks: list[dict[str, Any]] = field(default_factory=list)
    binning: BinnedContigs | None = None
    check: dict[str, Any] = field(default_factory=dict)
    pages: list[Path] = field(default_factory=list)

    @property
    def status(self) -> str:
        """One of ok, empty (nothing could be assembled, or binned if this is a binning) and failed."""
        if any(step["status"] == "failed" for step in self.steps) or not self.manifest:
            return "failed"
        is_binning = self.manifest.get("command") == "bin"
        return "ok" if self.contigs or (is_binning and self.binning) else "empty"

    @property
    def reason(self) -> str:
        """Why the run is not ok, in one sentence; empty if it is."""
        if self.status == "ok":
            return ""
        failed = [f"{step['step']}: {step['message']}" for step in self.steps if step["status"] == "failed"]
        reasons = [text for text in (str(self.manifest.get("status", "")),) if text not in ("", "done", "ok")]
        return "; ".join(failed or reasons or self.notes[:1] or ["no contigs"])

    def result(self, name: str) -> Any:
        """Return the result of a name, at any level of nesting; None if there is none."""
        return _find(self.manifest.get("results"), name)


def read_run(folder: str | Path, name: str | None = None) -> Run:
    """Read what there is of run.json, contigs.tsv and spectrum.tsv in a folder.

    Parameters
    ----------
    folder
        The folder that ``gpuasm assemble -o`` wrote.
    name
        What to call it; if None, the folder's name, or that of the folder around one named "assembly".
    """
    folder = Path(folder)
    run = Run(_as_text(name) if name else name_of_run(folder), folder)
    run.manifest = _read(run, "run.json", _manifest, {})
    _note_older_schema(run)
    run.contigs = _read(run, "contigs.tsv", _contigs, [])
    run.spectrum = _read(run, "spectrum.tsv", _spectrum, [])
    run.pages = [path for path in (folder / "report.html",) if path.is_file()]
    return run


def name_of_run(folder: str | Path, within: str = "assembly") -> str:
    """Return what a run is called: as its folder, or as that of the folder around one named ``within``."""
    path = Path(os.path.normpath(Path(folder).absolute()))  # a link keeps its own name
    return _as_text((path.parent if path.name == within else path).name)


def _as_text(name: str) -> str:
    """Return a name with the bytes that are no text in UTF-8, as old files have, written as \\udcXX."""
    return name.encode("utf-8", "backslashreplace").decode()


def add_status(runs: Iterable[Run], paths: Iterable[str | Path]) -> None:
    """Give each run the status files of its sample; a sample without a run is passed over."""
    by_name = {run.name: run for run in runs}
    for path in paths:
        try:
            status = json.loads(Path(path).read_text(encoding="utf-8"))
            by_name[status["sample"]].steps.append({"exit_code": 0, "message": "", **status})
        except (OSError, ValueError, KeyError, TypeError):
            continue
    for run in by_name.values():
        run.steps.sort(key=lambda step: STEPS.index(step["step"]) if step["step"] in STEPS else len(STEPS))


def add_checks(runs: Iterable[Run], paths: Iterable[str | Path]) -> None:
    """Give each run what ``gpuasm check --json SAMPLE/check.json`` found; a file that cannot be read is passed over."""
    by_name = {run.name: run for run in runs}
    for path in map(Path, paths):
        run = by_name.get(path.parent.name)
        if run is None:
            continue
        try:
            run.check = dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            continue


def add_benchmarks(runs: Iterable[Run], paths: Iterable[str | Path]) -> None:
    """Give each run the rows of Snakemake's benchmark files SAMPLE/benchmarks/RULE.tsv."""
    by_name = {run.name: run for run in runs}
    for path in map(Path, paths):
        run = by_name.get(path.parent.parent.name)
        if run is None or not path.is_file():
            continue
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        run.benchmarks += [{"rule": path.stem, **{key: _number(value) for key, value in row.items()}} for row in rows]


def _read(run: Run, name: str, parse: Any, nothing: Any) -> Any:
    path = run.folder / name
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        run.notes.append(f"{name} is missing")
        return nothing
    if not text.strip():
        run.notes.append(f"{name} is empty")
        return nothing
    try:
        return parse(text)
    except (ValueError, KeyError, TypeError, AttributeError):
        run.notes.append(f"{name} is damaged")
        return nothing


def _manifest(text: str) -> dict[str, Any]:
    return dict(json.loads(text))


def _note_older_schema(run: Run) -> None:
    schema = run.manifest.get("schema_version", SCHEMA_VERSION)
    if isinstance(schema, int) and schema < SCHEMA_VERSION:
        run.notes.append(f"run.json has the older schema {schema}: figures whose keys were renamed are missing")


def _contigs(text: str) -> list[ContigRow]:
    rows = [
        ContigRow(
            row["name"],
            int(row["length"]),
            float(row["depth"]),
            float(row["copies"]),
            row["circular"].lower() in _TRUE,
            float(row["gc"]),
        )
        for row in csv.DictReader(text.splitlines(), delimiter="\t")
    ]
    return sorted(rows, key=lambda row: -row.length)


def _spectrum(text: str) -> list[tuple[int, int]]:
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    return [(int(row["multiplicity"]), int(row["kmers"])) for row in rows]


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def _find(tree: Any, name: str) -> Any:
    """Look for a key in nested mappings, the outermost first."""
    if not isinstance(tree, Mapping):
        return None
    if tree.get(name) is not None:
        return tree[name]
    return next((found for value in tree.values() if (found := _find(value, name)) is not None), None)
