"""Read the tables that ``gpuasm bin`` wrote."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gpuasm.report.binned_contigs import BinnedContigs, PlacedContig
from gpuasm.report.inputs import Run, name_of_run


def read_bin_run(folder: str | Path, name: str | None = None) -> Run:
    """Read a folder that ``gpuasm bin`` wrote as a run of its own, called as its folder if no name is given."""
    folder = Path(folder)
    run = Run(name or name_of_run(folder, within="bins"), folder)
    run.manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    run.binning = _binning(folder)
    return run


def add_bins(runs: Iterable[Run], folders: Iterable[str | Path]) -> None:
    """Give each run the bins of its sample, from folders SAMPLE/bins; what is missing or damaged is noted."""
    by_name = {run.name: run for run in runs}
    for folder in map(Path, folders):
        run = by_name.get(folder.parent.name)
        if run is None or not run.contigs:
            continue
        try:
            run.binning = _binning(folder)
            run.pages += [path for path in (folder / "report.html",) if path.is_file()]
        except (OSError, ValueError, KeyError):
            run.notes.append("the tables of bins are missing or damaged")


def _binning(folder: Path) -> BinnedContigs | None:
    """Read the tables; None if nothing was binned."""
    bins = _rows(folder / "bins.tsv")
    if not bins:
        return None
    contigs = _rows(folder / "contigs.tsv")
    placed = [
        PlacedContig(int(row["length"]), int(row["unit_row"]), int(row["unit_column"]), row["bin"]) for row in contigs
    ]
    height: list[list[float]] = []
    for row in _rows(folder / "map.tsv"):
        if row["column"] == "0":
            height.append([])
        height[-1].append(float(row["height"]))
    training = [(float(row["quantisation"]), float(row["topographic"])) for row in _rows(folder / "training.tsv")]
    return BinnedContigs(
        bins,
        sorted(placed, key=lambda contig: -contig.length),
        height,
        training,
        sum(int(row["bases"]) for row in bins),
        sum(contig.length for contig in placed),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))
