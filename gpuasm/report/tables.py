"""The tables and key numbers of a page, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gpuasm.report.inputs import Run
from gpuasm.report.statistics import aligned_share, mean_depth, mean_gc, summarise_lengths

MAX_CONTIGS = 25
"""Rows of the contig table; contigs.tsv has them all."""

_NOTHING = "\N{EN DASH}"
_MOST_LEVELS = 20


@dataclass(frozen=True)
class Header:
    """A column's title, and whether it has numbers, labels that do not break, bars (in percent) or long texts."""

    text: str
    number: bool = False
    label: bool = False
    bar: bool = False
    wrapped: bool = False


@dataclass(frozen=True)
class Table:
    """A titled table of texts.

    Attributes
    ----------
    title, headers, rows
        What it holds.
    rest
        Describes the rows that were left out.
    folded
        Whether it is shown on request only.
    sortable
        Whether its titles sort it.
    """

    title: str
    headers: Sequence[Header]
    rows: Sequence[Sequence[str]] = field(default_factory=list)
    rest: str = ""
    folded: bool = False
    sortable: bool = False


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


SUMMARY_HEADERS = (
    "contigs", "bases", "longest", "N50", "GC %", "circular", "bins", "depth", "reads aligned %", "adapters %",
    "duplicates %", "Q30 %", "seconds",
)  # fmt: skip
"""Titles of what ``summary_cells`` returns."""


def summary_cells(run: Run, known: Mapping[str, float]) -> list[str]:
    """Return the numbers of a run's line in the summary: see ``SUMMARY_HEADERS``.

    Parameters
    ----------
    run
        The run.
    known
        Values of `gpuasm.report.verdict_evidence`.
    """
    lengths = summarise_lengths([contig.length for contig in run.contigs])
    return [
        *(number(value) for value in (lengths.n, lengths.total, lengths.longest, lengths.n50)),
        percent(mean_gc(run)),
        number(sum(contig.circular for contig in run.contigs)),
        number(len(run.binning.bins) if run.binning else None),
        number(mean_depth(run), 1),
        percent(aligned_share(run)),
        *(percent(known.get(name)) for name in ("adapters", "duplicates")),
        percent(_q30_share(run)),
        seconds(run.manifest.get("wall_s")),
    ]


def filled_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns in which a row has something."""
    return [column for column, cells in enumerate(zip(*rows, strict=True)) if any(cell != _NOTHING for cell in cells)]


def _q30_share(run: Run) -> float | None:
    """Return the share of bases with a quality of at least 30, of all files that have qualities."""
    files = [file for file in run.manifest.get("inputs", []) if isinstance(file, dict)]
    known = [(file["q30_share"], file["n_bases"]) for file in files if {"q30_share", "n_bases"} <= file.keys()]
    total = sum(n_bases for _, n_bases in known)
    return sum(share * n_bases for share, n_bases in known) / total if total else None


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
    headers = [Header("contig", label=True), *(Header(name, number=True) for name in names), Header("circular")]
    return Table("Contigs", headers, rows, rest, sortable=True)


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
    return Table("Bins", [Header("bin"), *(Header(name, number=True) for name in names)], rows, rest, sortable=True)


def _inputs(run: Run) -> Table:
    checked = {str(file.get("path")): file for file in run.check.get("files", []) if isinstance(file, dict)}
    rows = [
        (
            str(entry.get("path", _NOTHING)),
            " ".join(str(entry[key]) for key in ("format", "compression") if entry.get(key) not in (None, "none")),
            number(entry.get("n_reads")),
            number(entry.get("n_bases")),
            number(entry.get("mean_quality"), 1),
            percent(entry.get("q30_share")),
            *(percent(checked.get(str(entry.get("path")), {}).get(f"{kind}_fraction")) for kind in _SHARES_OF_READS),
            str(entry.get("sha256") or _NOTHING)[:16],
        )
        for entry in run.manifest.get("inputs", [])
        if isinstance(entry, dict) and "n_reads" in entry
    ]
    titles = ("reads", "bases", "mean quality", "Q30 %", "adapters %", "duplicates %", "PhiX %")
    numbers = [Header(name, number=True) for name in titles]
    table = Table("Reads", [Header("file"), Header("format"), *numbers, Header("sha256 begins")], rows)
    for column in reversed(range(5, 5 + 1 + len(_SHARES_OF_READS))):
        table = _without_empty(table, column)
    return table


_SHARES_OF_READS = ("adapter", "duplicate", "phix")
"""Of check.json, each with the ending _fraction."""


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
        Header("share", bar=True),
        Header("CPU seconds", number=True),
        Header("memory (MiB)", number=True),
        Header("GPU memory (MiB)", number=True),
        Header("result", wrapped=True),
    ]
    return _without_empty(Table("Stages", headers, rows, folded=True), column=5)


def _without_empty(table: Table, column: int) -> Table:
    """Drop a column in which there is nothing: that of GPU memory, for one, without a GPU."""
    if any(row[column] != _NOTHING for row in table.rows):
        return table
    headers = [*table.headers[:column], *table.headers[column + 1 :]]
    rows = [[*row[:column], *row[column + 1 :]] for row in table.rows]
    return replace(table, headers=headers, rows=rows)


def _counts(counts: dict[str, Any]) -> str:
    """Write what a stage counted; what it did not find, and memory, are left out."""
    shown = [(key.replace("_", " "), value) for key, value in counts.items() if value and not key.endswith("_bytes")]
    return ", ".join(f"{number(value) if isinstance(value, int) else value} {key}" for key, value in shown)


def _stage_name(stage: dict[str, Any]) -> str:
    settings = ", ".join(f"{key} = {value}" for key, value in (stage.get("parameters") or {}).items())
    return f"{stage.get('name', _NOTHING)}{f' ({settings})' if settings else ''}"


def _steps(run: Run) -> Table:
    rows = [(str(step["step"]), str(step["status"]), str(step["message"])) for step in run.steps]
    headers = [Header("step", label=True), Header("status"), Header("message", wrapped=True)]
    return Table("Steps of the workflow", headers, rows, folded=all(row[1] == "ok" for row in rows))


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
    headers = [Header("rule", label=True), Header("seconds", number=True), Header("share", bar=True), *numbers]
    return Table("Rules", headers, rows, folded=True)


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
    shown = [row for row in rows if row[1]]
    return Table("Where it ran", [Header("what", label=True), Header("which", wrapped=True)], shown, folded=True)
