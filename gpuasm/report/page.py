"""One self-contained HTML page about one or more runs, and the summary table of many."""

from __future__ import annotations

import csv
import functools
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gpuasm.report import figures, map_figures, tables, world
from gpuasm.report.bin_tables import read_bin_run
from gpuasm.report.inputs import Run, read_run
from gpuasm.report.remarks import aligned_share, remarks
from gpuasm.report.shapes import as_text
from gpuasm.report.statistics import mean_depth, mean_gc, summarise_lengths
from gpuasm.report.world import LocatedSamples

if TYPE_CHECKING:
    from jinja2 import Template

SUMMARY_COLUMNS = (
    "sample", "status", "contigs", "bases", "longest", "n50", "l50", "gc", "circular", "depth", "reads",
    "reads_aligned", "bins", "remarks", "reason",
)  # fmt: skip
MAX_DRAWN = 40
"""The most runs whose figures are drawn in one page; of more each one's own page has them."""


def write_run_report(run_dir: str | Path, name: str | None = None) -> Path:
    """Write report.html of one run into its folder, from run.json, contigs.tsv and spectrum.tsv there.

    Parameters
    ----------
    run_dir
        The folder that ``gpuasm assemble -o`` writes.
    name
        What to call the run; if None, as `gpuasm.report.inputs.name_of_run` does.

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
        What to call the run; if None, as `gpuasm.report.inputs.name_of_run` does.

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
    lengths = summarise_lengths([contig.length for contig in run.contigs])
    values = {
        "sample": run.name,
        "status": run.status,
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
        "bins": len(run.binning.bins) if run.binning else None,
        "remarks": "; ".join(remarks(run)),
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
    return _template().render(
        title=_title(one) if one else "Assemblies of several samples",
        subtitle=_subtitle(runs),
        summary_headers=tables.SUMMARY_HEADERS,
        runs=[_described(run, folder or Path(), brief=len(runs) > MAX_DRAWN) for run in runs],
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
    return {
        "name": run.name,
        "status": run.status,
        "reason": run.reason,
        "notes": [] if run.status == "failed" else run.notes,
        "warnings": list(dict.fromkeys(map(str, warnings))),
        "remarks": "; ".join([*remarks(run), run.reason] if run.reason else remarks(run)),
        "command": run.manifest.get("command_line", ""),
        "cells": tables.summary_cells(run),
        "tiles": tables.tiles(run) if run.manifest else [],
        "figures": [] if brief else _figures(run),
        "pages": [_link(page, folder) for page in run.pages] if brief else [],
        "tables": tables.tables(run, brief=brief),
    }


def _link(page: Path, folder: Path) -> dict[str, str]:
    """Return the title of a page, that of its folder, and how one comes to it from ``folder``."""
    link = Path(os.path.relpath(page, folder))
    return {"title": as_text(page.absolute().parent.name), "href": quote(os.fsencode(link.as_posix()))}


def _figures(run: Run) -> list[dict[str, Any]]:
    made = []
    if any(kmers > 0 and times <= figures.MOST_TIMES for times, kmers in run.spectrum):
        threshold, peak = run.amount("threshold"), run.amount("peak")
        svg = figures.spectrum_figure(run.spectrum, run.name, threshold=threshold, peak=peak)
        reason = run.result("threshold_reason") or threshold
        made.append(("k-mer spectrum", svg, f"Least count of a solid k-mer: {reason}." if reason else ""))
    if run.contigs:
        caption = "How long the contigs are that hold so many percent of all bases."
        made.append(("Nx curve", figures.nx_figure(run.contigs, run.name), caption))
        made.append(
            (
                "Depth and length",
                figures.depth_figure(run.contigs, run.name),
                "Repeats and plasmids lie above the rest.",
            )
        )
    if run.binning and run.binning.height:
        caption = "Each genome is a plain between ridges. Dots are contigs, crosses those in no bin, numbers name bins."
        made.append(("Map of contigs", map_figures.map_figure(run.binning, run.name), caption))
    if run.binning and run.binning.training:
        caption = "Distance of windows to their units, and the share whose two best units do not touch."
        made.append(("Training of the map", map_figures.training_figure(run.binning, run.name), caption))
    return [_figure(*figure) for figure in made]


def _places(located: LocatedSamples) -> dict[str, Any]:
    """Return the map of the samples and their table, those whose place was not given first."""
    order = ("inferred", "unknown", "known")
    rows = sorted(located.samples, key=lambda sample: order.index(sample.status))
    right = ("latitude", "longitude", "radius in km")
    return {
        "note": located.note,
        "figure": _figure("Map of samples", world.world_figure(located, "samples"), world.CAPTION) if rows else None,
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


def _figure(title: str, svg: str, caption: str) -> dict[str, Any]:
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    is_wide = title.startswith("Map of")
    return {"title": title, "svg": Markup(svg), "caption": caption, "wide": is_wide}  # noqa: S704 - ours


def _write(path: str | Path, text: str) -> None:
    from gpuasm.io import atomic_output  # noqa: PLC0415 - io needs numpy and compression libraries

    with atomic_output(path, "w") as file:
        file.write(text)
