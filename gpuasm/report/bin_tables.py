"""Read the tables that ``gpuasm bin`` wrote."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gpuasm.errors import DataError, GpuasmError
from gpuasm.io.text_tables import Row, read_table
from gpuasm.report.binned_contigs import BinnedContigs, PlacedContig
from gpuasm.report.inputs import MANIFEST, Run, read_object
from gpuasm.report.run_names import name_of_run
from gpuasm.report.shapes import as_text


def read_bin_run(folder: str | Path, name: str | None = None) -> Run:
    """Read a folder that ``gpuasm bin`` wrote as a run of its own, called as its folder if no name is given."""
    folder = Path(folder)
    run = Run(as_text(name) if name else name_of_run(folder, within="bins"), folder)
    run.manifest = read_object(folder / "run.json", MANIFEST, run.notes)
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
            run.binning, run.bins_folder = _binning(folder), folder
            run.pages += [path for path in (folder / "report.html",) if path.is_file()]
        except GpuasmError:
            run.notes.append("the tables of bins are missing or damaged")


def _binning(folder: Path) -> BinnedContigs | None:
    """Read the tables; None if nothing was binned."""
    bins = [_checked(row) for row in read_table(folder / "bins.tsv")]
    if not bins:
        return None
    placed = [
        PlacedContig(row.whole("length"), row.whole("unit_row"), row.whole("unit_column"), as_text(row.text("bin")))
        for row in read_table(folder / "contigs.tsv")
    ]
    height: list[list[float]] = []
    for row in read_table(folder / "map.tsv"):
        if row.text("column") == "0" or not height:
            height.append([])
        height[-1].append(row.real("height"))
    if len(set(map(len, height))) > 1:
        raise DataError("as many units in each row of the map", "others", "write it anew", path=folder / "map.tsv")
    training = [
        (row.real("quantisation"), row.real("topographic", most=1.0)) for row in read_table(folder / "training.tsv")
    ]
    return BinnedContigs(
        bins,
        sorted(placed, key=lambda contig: -contig.length),
        height,
        training,
        sum(int(row["bases"]) for row in bins),
        sum(contig.length for contig in placed),
    )


def _checked(row: Row) -> dict[str, str]:
    """Return the cells of a bin, all of which are as a page shows them."""
    row.text("bin")
    for column in ("contigs", "bases", "n50", "circular", "apart"):
        row.whole(column)
    for column in ("sureness", "border"):
        row.real(column)
    for column, least in (("gc", 0.0), ("silhouette", -1.0)):
        if row.text(column):
            row.real(column, least=least)
    for column in row.cells:
        if column.startswith("depth"):
            row.real(column)
    return row.cells
