"""Links from a page to the files of a run."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from gpuasm.report.inputs import Run
from gpuasm.report.shapes import as_text

_BINS = ("bins.tsv", "contigs2bin.tsv", "bins/*.fasta", "unbinned.fasta")
_LOG = "assemble.log"
_FILES = (
    "contigs.fasta", "scaffolds.fasta", "scaffolds.agp", "gaps.tsv", "graph.gfa", "contigs.tsv", "depth.tsv",
    "depth_windows.tsv", "spectrum.tsv", "insert_sizes.tsv", "*.bam", *_BINS, "map.tsv", "training.tsv", "map.npz",
    "run.json",
)  # fmt: skip
"""In the order of the page; names or patterns of files that a run may have written."""
_MOST_FILES = 60
_INCOMPLETE = ".incomplete"
"""`gpuasm.cli.run_folder.INCOMPLETE`, around the folder in which a run makes its files and its page."""


def files_of(run: Run, folder: Path) -> list[dict[str, str]]:
    """Return the titles of the files of a run, and how one comes to them from ``folder``."""
    found = _found(run.folder, _FILES)
    if run.bins_folder:
        found += _found(run.bins_folder, _BINS)
    links = [link_to(path, folder, title=path.name) for path in found[:_MOST_FILES]]
    return [*links, link_to(run.folder / _LOG, folder, title=_LOG)] if _has_log(run.folder) else links


def _found(folder: Path, names: tuple[str, ...]) -> list[Path]:
    paths = [path for name in names for path in (sorted(folder.glob(name)) if "*" in name else [folder / name])]
    return [path for path in paths if path.is_file()]


def _has_log(folder: Path) -> bool:
    """Return whether the log is there; while the run lasts, it is already where the other files will be."""
    places = [folder, folder.parent.parent] if folder.parent.name == _INCOMPLETE else [folder]
    return any((place / _LOG).is_file() for place in places)


def link_to(path: Path, folder: Path, *, title: str) -> dict[str, str]:
    """Return a title and how one comes to a file from ``folder``."""
    link = Path(os.path.relpath(path, folder))
    return {"title": as_text(title), "href": quote(os.fsencode(link.as_posix()))}
