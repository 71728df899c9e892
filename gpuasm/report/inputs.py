"""Read the files of a run for a report; a missing, empty or damaged file is noted, not fatal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from gpuasm.errors import DataError, GpuasmError
from gpuasm.io.json_text import read_json
from gpuasm.io.numbers import real_number
from gpuasm.io.text_tables import read_table
from gpuasm.report.binned_contigs import BinnedContigs
from gpuasm.report.run_names import name_of_run
from gpuasm.report.shapes import ANY, NUMBER, TEXT, Fitting, Shape, as_text, is_number
from gpuasm.report.verdict_thresholds import Threshold

T = TypeVar("T")

STEPS = (
    "check_reads", "count_kmers", "de_bruijn_graph", "assemble_contigs", "depth_of_contigs", "train_som",
    "bin_contigs", "identify_contigs",
)  # fmt: skip
"""The steps of the workflow whose status is known, in order."""

SCHEMA_VERSION = 2
"""Of run.json: that of gpuasm.cli.manifest."""

_TRUE = {"yes", "true", "1"}
_SOME_BYTES = 1 << 16

_OBJECT: Shape = {"*": ANY}
_STAGE: Shape = {
    **dict.fromkeys(("wall_s", "cpu_s", "depth", "peak_rss_bytes", "device_bytes"), NUMBER),
    "name": TEXT, "counts": _OBJECT, "parameters": _OBJECT,
}  # fmt: skip
_INPUT: Shape = dict.fromkeys(("n_reads", "n_bases", "n_non_acgt", "mean_quality", "q30_share"), NUMBER)
MANIFEST: Shape = {
    **dict.fromkeys(("command", "command_line", "status", "finished"), TEXT),
    **dict.fromkeys(("schema_version", "wall_s"), NUMBER),
    "warnings": [TEXT], "versions": {"*": TEXT}, "machine": {"device": _OBJECT}, "results": _OBJECT,
    "parameters": _OBJECT, "stages": [_STAGE], "inputs": [_INPUT],
}  # fmt: skip
"""What a page needs of run.json; keys that are not named may have any value."""

_SHARES = ("n_reads", "phix_fraction", "adapter_fraction", "duplicate_fraction", "duplicates_by_chance")
_CHECK: Shape = {"warnings": [TEXT], "files": [dict.fromkeys(_SHARES, NUMBER)]}
_STATUS: Shape = {"exit_code": NUMBER, **dict.fromkeys(("sample", "step", "status", "message"), TEXT)}


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
    identity : dict
        The results of ``gpuasm identify``, empty if that is not known.
    bins_folder : Path or None
        Where ``gpuasm bin`` wrote them, unless it is the folder of this run.
    pages : list of Path
        Pages about this run alone, if they are there.
    thresholds : tuple of Threshold or None
        By which the sample is judged; None for those of run.json, or else the shipped ones.
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
    identity: dict[str, Any] = field(default_factory=dict)
    bins_folder: Path | None = None
    pages: list[Path] = field(default_factory=list)
    thresholds: tuple[Threshold, ...] | None = None

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

    def amount(self, name: str) -> Any:
        """Return the result of a name if it is a number from 0 on, else None."""
        value = self.result(name)
        return value if is_number(value) and value >= 0 else None


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
    run = Run(as_text(name) if name else name_of_run(folder), folder)
    run.manifest = _read(run, "run.json", lambda path: read_object(path, MANIFEST, run.notes), {})
    _note_older_schema(run)
    run.contigs = _read(run, "contigs.tsv", _contigs, [])
    run.spectrum = _read(run, "spectrum.tsv", _spectrum, [])
    run.pages = [path for path in (folder / "report.html",) if path.is_file()]
    return run


def add_status(runs: Iterable[Run], paths: Iterable[str | Path]) -> None:
    """Give each run the status files of its sample; a sample without a run is passed over, and so is a damaged file."""
    by_name = {run.name: run for run in runs}
    for path in paths:
        with contextlib.suppress(GpuasmError):
            status = {"exit_code": 0, "message": "", **read_object(Path(path), _STATUS, [])}
            if status.get("sample") in by_name and {"step", "status"} <= status.keys():
                by_name[status["sample"]].steps.append(status)
    for run in by_name.values():
        run.steps.sort(key=lambda step: STEPS.index(step["step"]) if step["step"] in STEPS else len(STEPS))


def add_checks(runs: Iterable[Run], paths: Iterable[str | Path]) -> None:
    """Give each run what ``gpuasm check --json SAMPLE/check.json`` found; what is damaged is noted."""
    by_name = {run.name: run for run in runs}
    for path in map(Path, paths):
        run = by_name.get(path.parent.name)
        if run is not None and path.is_file() and path.stat().st_size:  # empty after a failed step
            try:
                run.check = read_object(path, _CHECK, run.notes)
            except GpuasmError:
                run.notes.append(f"{path.name} is damaged")


def add_benchmarks(runs: Iterable[Run], paths: Iterable[str | Path]) -> None:
    """Give each run the rows of Snakemake's benchmark files SAMPLE/benchmarks/RULE.tsv; what is damaged is noted."""
    by_name = {run.name: run for run in runs}
    for path in map(Path, paths):
        run = by_name.get(path.parent.parent.name)
        if run is None or not path.is_file():
            continue
        try:
            rows = [{key: _number(value) for key, value in row.cells.items()} for row in read_table(path)]
        except GpuasmError:
            run.notes.append(f"benchmarks/{path.name} is damaged")
            continue
        run.benchmarks += [{**row, "rule": as_text(path.stem)} for row in rows]


def _read(run: Run, name: str, parse: Callable[[Path], T], nothing: T) -> T:
    path = run.folder / name
    try:
        with path.open("rb") as file:
            if not file.read(_SOME_BYTES).strip():
                run.notes.append(f"{name} is empty")
                return nothing
        return parse(path)
    except OSError:  # of the system's and of ours
        run.notes.append(f"{name} is missing" if not path.is_file() else f"{name} cannot be read")
    except GpuasmError:
        run.notes.append(f"{name} is damaged")
    return nothing


def read_object(path: Path, shape: Shape, notes: list[str]) -> dict[str, Any]:
    """Return the object of a JSON file without what no page can show; a note names what was left out.

    Raises
    ------
    DataError, NoInputError, ReadWriteError, ResourceError
        As `gpuasm.io.json_text.read_json`; DataError also if it holds no object.
    """
    fitting = Fitting()
    found = fitting(read_json(path, remedy="write it anew"), shape)
    if not isinstance(found, dict):
        raise DataError("an object", "another value", "write it anew", path=path)
    if fitting.places:
        notes.append(f"{path.name} is damaged: {fitting.described()}")
    return found


def _note_older_schema(run: Run) -> None:
    schema = run.manifest.get("schema_version", SCHEMA_VERSION)
    if isinstance(schema, int) and schema < SCHEMA_VERSION:
        run.notes.append(f"run.json has the older schema {schema}: figures whose keys were renamed are missing")


def _contigs(path: Path) -> list[ContigRow]:
    rows = [
        ContigRow(
            as_text(row.text("name")),
            row.whole("length", least=1),
            row.real("depth"),
            row.real("copies"),
            row.text("circular").lower() in _TRUE,
            row.real("gc", most=1.0),
        )
        for row in read_table(path)
    ]
    return sorted(rows, key=lambda row: -row.length)


def _spectrum(path: Path) -> list[tuple[int, int]]:
    return [(row.whole("multiplicity"), row.whole("kmers")) for row in read_table(path)]


def _number(text: str) -> float | None:
    value = real_number(text)
    return value if value is not None and is_number(value) else None


def _find(tree: Any, name: str) -> Any:
    """Look for a key in nested mappings, the outermost first."""
    if not isinstance(tree, Mapping):
        return None
    if tree.get(name) is not None:
        return tree[name]
    return next((found for value in tree.values() if (found := _find(value, name)) is not None), None)
