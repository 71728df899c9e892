"""The tables and key numbers of a page, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gpuasm.report.inputs import Run
from gpuasm.report.remarks import aligned_share
from gpuasm.report.statistics import mean_depth, mean_gc, summarise_lengths

MAX_CONTIGS = 25
"""Rows of the contig table; contigs.tsv has them all."""

_NOTHING = "\N{EN DASH}"
_MOST_LEVELS = 20


@dataclass(frozen=True)
class Header:
    """A column's title, and whether it holds numbers, labels that do not break, or bars (widths in percent)."""

    text: str
    number: bool = False
    label: bool = False
    bar: bool = False


@dataclass(frozen=True)
class Table:
    """A titled table of texts; ``rest`` describes the rows that were left out."""

    title: str
    headers: Sequence[Header]
    rows: Sequence[Sequence[str]] = field(default_factory=list)
    rest: str = ""


def number(value: Any, digits: int = 0, unit: str = "") -> str:
    """Write a number with thousands apart, or a dash for none."""
    return _NOTHING if value is None else f"{value:,.{digits}f}{unit}"


def percent(share: float | None, unit: str = "") -> str:
    """Write a share from 0 to 1 in percent, or a dash for none."""
    return number(None if share is None else 100 * share, 1, unit)


def bases(value: float | None) -> str:
    """Write an amount of bases in bp, kb, Mb or Gb, to three digits from 10 kb on."""
    if value is None:
        return _NOTHING
    for size, unit in ((1e9, "Gb"), (1e6, "Mb"), (1e3, "kb")):
        if value >= max(size, 1e4):
            scaled = value / size
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {unit}"
    return f"{value:,.0f} bp"


def mebibytes(value: float | None) -> str:
    """Write bytes as MiB."""
    return _NOTHING if not value else f"{value / 2**20:,.0f}"


def seconds(value: float | None) -> str:
    """Write seconds, with more digits the fewer they are."""
    return _NOTHING if value is None else f"{value:,.{2 if value < 10 else 1 if value < 100 else 0}f}"


def tiles(run: Run) -> list[dict[str, str]]:
    """Return the key numbers of a run."""
    shown = _bin_tiles(run) if run.binning else []
    if run.manifest.get("command") != "bin":
        shown += _assembly_tiles(run)
    shown.append(("wall time", seconds(run.manifest.get("wall_s")) + " s"))
    return [{"label": label, "value": value} for label, value in shown if not value.startswith(_NOTHING)]


def _bin_tiles(run: Run) -> list[tuple[str, str]]:
    assert run.binning is not None
    share = 100 * run.binning.binned / max(1, run.binning.total)
    return [("bins", number(len(run.binning.bins))), ("bases in bins", number(share, 1, " %"))]


def _assembly_tiles(run: Run) -> list[tuple[str, str]]:
    lengths = summarise_lengths([contig.length for contig in run.contigs])
    few = [("contigs", number(lengths.n)), ("assembled", bases(lengths.total))]
    if not run.contigs:
        return few
    return [
        *few,
        ("longest contig", bases(lengths.longest)),
        ("N50", bases(lengths.n50)),
        ("circular", number(sum(contig.circular for contig in run.contigs))),
        ("mean depth", number(mean_depth(run), 1, "\N{MULTIPLICATION SIGN}")),
        ("G and C", percent(mean_gc(run), " %")),
        ("reads aligned", percent(aligned_share(run), " %")),
        ("estimated size", bases(run.amount("genome_size"))),
    ]


SUMMARY_HEADERS = ("contigs", "bases", "longest", "N50", "GC %", "circular", "depth", "reads aligned %", "seconds")
"""Titles of what ``summary_cells`` returns."""


def summary_cells(run: Run) -> list[str]:
    """Return the numbers of a run's line in the summary: see ``SUMMARY_HEADERS``."""
    lengths = summarise_lengths([contig.length for contig in run.contigs])
    return [
        *(number(value) for value in (lengths.n, lengths.total, lengths.longest, lengths.n50)),
        percent(mean_gc(run)),
        number(sum(contig.circular for contig in run.contigs)),
        number(mean_depth(run), 1),
        percent(aligned_share(run)),
        seconds(run.manifest.get("wall_s")),
    ]


def tables(run: Run, *, brief: bool = False) -> list[Table]:
    """Return the tables of a run that have anything to show; if brief, those that its own page does not have."""
    parts = [_bins, _inputs, _steps, _benchmarks]
    if not brief:
        parts = [_bins, _contigs, _inputs, _stages, _steps, _benchmarks, _environment]
    return [table for part in parts if (table := part(run)).rows]


def _contigs(run: Run) -> Table:
    names = ("length (bases)", "depth", "copies", "GC %")
    rows = [
        (
            c.name,
            number(c.length),
            number(c.depth, 1),
            f"{c.copies:g}",
            f"{100 * c.gc:.1f}",
            "yes" if c.circular else "no",
        )
        for c in run.contigs[:MAX_CONTIGS]
    ]
    left = len(run.contigs) - MAX_CONTIGS
    rest = f"{left:,} shorter contigs are in contigs.tsv." if left > 0 else ""
    return Table(
        "Contigs", [Header("contig"), *(Header(name, number=True) for name in names), Header("circular")], rows, rest
    )


def _bins(run: Run) -> Table:
    if not run.binning:
        return Table("Bins", [])
    rows = [
        (
            row["bin"],
            *(number(int(row[name])) for name in ("contigs", "bases", "n50")),
            f"{100 * float(row['gc'] or 0):.1f}",
            " / ".join(f"{float(row[name]):.1f}" for name in row if name.startswith("depth")) or _NOTHING,
            number(int(row["circular"])),
            f"{100 * float(row['sureness']):.1f}",
            f"{float(row['silhouette']):.2f}" if row["silhouette"] else _NOTHING,
            f"{100 * float(row['border']):.1f}",
            number(int(row["apart"])),
        )
        for row in run.binning.bins
    ]
    names = ("contigs", "bases", "N50", "GC %", "depth", "circular", "sure %", "silhouette", "border %", "apart")
    rest = f"{number(run.binning.total - run.binning.binned)} of {number(run.binning.total)} bases are in no bin."
    return Table("Bins", [Header("bin"), *(Header(name, number=True) for name in names)], rows, rest)


def _inputs(run: Run) -> Table:
    rows = [
        (
            str(entry.get("path", _NOTHING)),
            " ".join(str(entry[key]) for key in ("format", "compression") if entry.get(key) not in (None, "none")),
            number(entry.get("n_reads")),
            number(entry.get("n_bases")),
            number(entry.get("mean_quality"), 1),
            str(entry.get("sha256") or _NOTHING)[:16],
        )
        for entry in run.manifest.get("inputs", [])
        if isinstance(entry, dict) and "n_reads" in entry
    ]
    numbers = (Header(name, number=True) for name in ("reads", "bases", "mean quality"))
    return Table("Reads", [Header("file"), Header("format"), *numbers, Header("sha256 begins")], rows)


def _stages(run: Run) -> Table:
    stages = [stage for stage in run.manifest.get("stages", []) if isinstance(stage, dict)]
    longest = max((stage.get("wall_s") or 0 for stage in stages), default=0)
    rows = [
        (
            "\u2003" * min(int(stage.get("depth") or 0), _MOST_LEVELS) + _stage_name(stage),
            seconds(stage.get("wall_s")),
            f"{100 * (stage.get('wall_s') or 0) / longest:.1f}" if longest else "0",
            seconds(stage.get("cpu_s")),
            mebibytes(stage.get("peak_rss_bytes")),
            mebibytes(stage.get("device_bytes")),
            _counts(stage.get("counts") or {}),
        )
        for stage in stages
    ]
    headers = [
        Header("stage", label=True),
        Header("seconds", number=True),
        Header("", bar=True),
        Header("CPU seconds", number=True),
        Header("memory (MiB)", number=True),
        Header("GPU memory (MiB)", number=True),
        Header("result"),
    ]
    return _without_empty(Table("Stages", headers, rows), column=5)


def _without_empty(table: Table, column: int) -> Table:
    """Drop a column in which there is nothing: that of GPU memory, for one, without a GPU."""
    if any(row[column] != _NOTHING for row in table.rows):
        return table
    headers = [*table.headers[:column], *table.headers[column + 1 :]]
    rows = [[*row[:column], *row[column + 1 :]] for row in table.rows]
    return Table(table.title, headers, rows, table.rest)


def _counts(counts: dict[str, Any]) -> str:
    """Write what a stage counted; what it did not find, and memory, are left out."""
    shown = [(key.replace("_", " "), value) for key, value in counts.items() if value and not key.endswith("_bytes")]
    return ", ".join(f"{number(value) if isinstance(value, int) else value} {key}" for key, value in shown)


def _stage_name(stage: dict[str, Any]) -> str:
    settings = ", ".join(f"{key} = {value}" for key, value in (stage.get("parameters") or {}).items())
    return f"{stage.get('name', _NOTHING)}{f' ({settings})' if settings else ''}"


def _steps(run: Run) -> Table:
    rows = [(str(step["step"]), str(step["status"]), str(step["message"])) for step in run.steps]
    return Table("Steps of the workflow", [Header("step"), Header("status"), Header("message")], rows)


def _benchmarks(run: Run) -> Table:
    longest = max((row.get("s") or 0 for row in run.benchmarks), default=0)
    rows = [
        (
            row["rule"],
            seconds(row.get("s")),
            f"{100 * (row.get('s') or 0) / longest:.1f}" if longest else "0",
            seconds(row.get("cpu_time")),
            number(row.get("max_rss")),
            number(row.get("io_in")),
            number(row.get("io_out")),
        )
        for row in run.benchmarks
    ]
    names = ("CPU seconds", "memory (MiB)", "read (MiB)", "written (MiB)")
    numbers = (Header(name, number=True) for name in names)
    return Table(
        "Rules", [Header("rule", label=True), Header("seconds", number=True), Header("", bar=True), *numbers], rows
    )


def _environment(run: Run) -> Table:
    machine, versions = run.manifest.get("machine", {}), run.manifest.get("versions", {})
    device = machine.get("device") or {}
    rows = [
        ("device", str(device.get("name") or device.get("device") or "")),
        ("CPU", str(machine.get("cpu") or "")),
        ("threads", str(machine.get("threads") or "")),
        ("system", str(machine.get("system") or "")),
        ("versions", ", ".join(f"{name} {value}" for name, value in versions.items())),
        ("finished", str(run.manifest.get("finished") or "")),
    ]
    return Table("Where it ran", [Header("what"), Header("which")], [row for row in rows if row[1]])
