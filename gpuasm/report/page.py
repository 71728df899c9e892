"""One self-contained HTML page about one or more runs, and the summary table of many."""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuasm.report import figures, tables, world
from gpuasm.report.bin_tables import read_bin_run
from gpuasm.report.cleaned_reads import tables_of_cleaning
from gpuasm.report.identities import tables_of_identities
from gpuasm.report.inputs import Run, read_run
from gpuasm.report.links import files_of, link_to
from gpuasm.report.remarks import remarks
from gpuasm.report.run_figures import Figure, figures_of
from gpuasm.report.statistics import aligned_share, mean_depth, mean_gc, summarise_lengths
from gpuasm.report.verdict import verdict_of
from gpuasm.report.verdict_shown import shown_verdict, table_of_checks
from gpuasm.report.world import LocatedSamples

if TYPE_CHECKING:
    from jinja2 import Template

SUMMARY_COLUMNS = (
    "sample", "status", "verdict", "contigs", "bases", "longest", "n50", "l50", "gc", "circular", "depth", "reads",
    "reads_aligned", "adapters", "duplicates", "mixed_bases", "bins", "mode", "remarks", "reason",
)  # fmt: skip
MAX_DRAWN = 12
"""The most runs whose figures are drawn in one page; of more each one's own page has them."""


def write_run_report(run_dir: str | Path, name: str | None = None) -> Path:
    """Write report.html of one run into its folder, from run.json, contigs.tsv and spectrum.tsv there.

    Parameters
    ----------
    run_dir
        The folder that ``gpuasm assemble -o`` writes.
    name
        What to call the run; if None, as `gpuasm.report.run_names.name_of_run` does.

    Returns
    -------
    The page's path.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        If the page cannot be written.
    """
    path = Path(run_dir) / "report.html"
    write_report([read_run(run_dir, name)], path)
    return path


def load_libraries() -> None:
    """Import now what a page will need."""
    _template()
    figures.load_library()


def write_bin_report(folder: str | Path, name: str | None = None) -> Path:
    """Write report.html of a binning into its folder, from what ``gpuasm bin`` wrote there.

    Parameters
    ----------
    folder
        The folder that ``gpuasm bin -o`` writes.
    name
        What to call the run; if None, as `gpuasm.report.run_names.name_of_run` does.

    Returns
    -------
    The page's path.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        If the page cannot be written.
    """
    path = Path(folder) / "report.html"
    write_report([read_bin_run(folder, name)], path)
    return path


def write_report(runs: Sequence[Run], path: str | Path, *, located: LocatedSamples | None = None) -> None:
    """Write the page about ``runs``, and where their samples are, to ``path``.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        If the page cannot be written.
    """
    _write(path, render(runs, located=located, folder=Path(path).parent))


def write_summary(runs: Sequence[Run], path: str | Path) -> None:
    """Write a tab-separated line for each run: see ``SUMMARY_COLUMNS``; lengths in bases, shares from 0 to 1.

    The table is for spreadsheets too: a text that such a program would take for a formula begins with an apostrophe.
    """
    from gpuasm.io.tables import for_spreadsheet  # noqa: PLC0415 - as in _write

    text = io.StringIO()
    rows = csv.writer(text, delimiter="\t", lineterminator="\n")
    rows.writerows(map(for_spreadsheet, line) for line in (SUMMARY_COLUMNS, *map(summary_line, runs)))
    _write(path, text.getvalue())


def summary_line(run: Run) -> tuple[str, ...]:
    """Return the cells of a run in the summary: see ``SUMMARY_COLUMNS``."""
    lengths, verdict = summarise_lengths([contig.length for contig in run.contigs]), verdict_of(run)
    known = verdict.evidence.values
    values = {
        "sample": run.name,
        "status": run.status,
        "verdict": verdict.level,
        "contigs": lengths.n,
        "bases": lengths.total,
        "longest": lengths.longest,
        "n50": lengths.n50,
        "l50": lengths.l50,
        "gc": _rounded(mean_gc(run), 4),
        "circular": sum(contig.circular for contig in run.contigs),
        "depth": _rounded(mean_depth(run), 1),
        "reads": run.amount("reads"),
        "reads_aligned": _rounded(aligned_share(run), 4),
        "adapters": _rounded(known.get("adapters"), 4),
        "duplicates": _rounded(known.get("duplicates"), 4),
        "mixed_bases": _rounded(known.get("mixed_bases"), 6),
        "bins": len(run.binning.bins) if run.binning else None,
        "mode": verdict.evidence.mode.partition(",")[0],
        "remarks": "; ".join(remark for remark in remarks(run, verdict) if remark != run.reason),
        "reason": " ".join(run.reason.split()),
    }
    return tuple("" if values[name] is None else str(values[name]) for name in SUMMARY_COLUMNS)


def _rounded(value: float | None, digits: int) -> str | None:
    return None if value is None else f"{value:.{digits}f}"


@functools.cache
def _template() -> Template:
    """Return the page's template; to compile it takes as long as to fill it in ten times."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - only where a page is made

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def render(runs: Sequence[Run], *, located: LocatedSamples | None = None, folder: Path | None = None) -> str:
    """Return the page about ``runs``, and where their samples are, as text.

    Of more than ``MAX_DRAWN`` runs it has no figures, and links to the pages of each, relative to ``folder``, where it
    is to lie.
    """
    one = runs[0] if len(runs) == 1 else None
    described = [_described(run, folder or Path(), brief=len(runs) > MAX_DRAWN) for run in runs]
    filled = tables.filled_columns([run["cells"] for run in described])
    for run in described:
        run["cells"] = [run["cells"][column] for column in filled]
    return _template().render(
        title=_title(one) if one else "Assemblies of several samples",
        subtitle=_subtitle(runs),
        summary_headers=[tables.SUMMARY_HEADERS[column] for column in filled],
        runs=described,
        n_failed=sum(run.status != "ok" for run in runs),
        places=_places(located) if located and (located.samples or located.note) else None,
    )


def _title(run: Run) -> str:
    return f"{'Bins' if run.manifest.get('command') == 'bin' else 'Assembly'} of {run.name}"


def _subtitle(runs: Sequence[Run]) -> str:
    versions = sorted({run.manifest.get("versions", {}).get("gpuasm", "") for run in runs} - {""})
    return " ".join(["gpuasm", *versions[:1], "·", f"{len(runs)} sample{'s' if len(runs) != 1 else ''}"])


def _described(run: Run, folder: Path, *, brief: bool) -> dict[str, Any]:
    warnings = [*run.manifest.get("warnings", []), *run.check.get("warnings", [])]
    verdict = verdict_of(run) if run.manifest.get("command") != "bin" else None
    drawn = [] if brief else [_figure(figure) for figure in figures_of(run)]  # notes what is damaged
    return {
        "name": run.name,
        "status": run.status,
        "reason": run.reason,
        "notes": [] if run.status == "failed" else run.notes,
        "warnings": list(dict.fromkeys(map(str, warnings))),
        "verdict": shown_verdict(run, verdict) if verdict else None,
        "remarks": "; ".join(remarks(run, verdict)) if verdict else run.reason,
        "command": run.manifest.get("command_line", ""),
        "cells": tables.summary_cells(run, verdict.evidence.values if verdict else {}),
        "tiles": tables.tiles(run) if run.manifest else [],
        "figures": drawn,
        "files": files_of(run, folder),
        "pages": [link_to(page, folder, title=page.absolute().parent.name) for page in run.pages] if brief else [],
        "tables": [
            *([table_of_checks(verdict)] if verdict else []),
            *([] if brief else tables_of_identities(run) + tables_of_cleaning(run)),
            *tables.tables(run, brief=brief),
        ],
    }


def _places(located: LocatedSamples) -> dict[str, Any]:
    """Return the map of the samples and their table, those whose place was not given first."""
    order = ("inferred", "unknown", "known")
    rows = sorted(located.samples, key=lambda sample: order.index(sample.status))
    right = ("latitude", "longitude", "radius in km")
    return {
        "note": located.note,
        "figure": _figure(Figure("Map of samples", world.world_figure(located, "samples"), world.CAPTION, is_wide=True))
        if rows
        else None,
        "sortable": True,
        "headers": [
            tables.Header(title, number=title in right, label=title == "sample")
            for title in ("sample", "latitude", "longitude", "status", "radius in km")
        ],
        "rows": [
            (s.name, *(f"{x:.4f}" if x is not None else "" for x in (s.latitude, s.longitude)), s.status,
             "" if s.radius_km is None else f"{s.radius_km:,.0f}")
            for s in rows[:world.MAX_ROWS]
        ],
        "rest": f"and {len(rows) - world.MAX_ROWS:,} more" if len(rows) > world.MAX_ROWS else "",
    }  # fmt: skip


def _figure(figure: Figure) -> dict[str, Any]:
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    return {**figure._asdict(), "svg": Markup(figure.svg)}  # noqa: S704 - ours


def _write(path: str | Path, text: str) -> None:
    from gpuasm.io import atomic_output  # noqa: PLC0415 - io needs numpy and compression libraries

    with atomic_output(path, "w") as file:
        file.write(text)
