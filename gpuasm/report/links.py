"""Links from a page to the files of a run."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from gpuasm.report.inputs import Run
from gpuasm.report.shapes import as_text

_FILES = (
    "contigs.fasta", "scaffolds.fasta", "scaffolds.agp", "gaps.tsv", "graph.gfa", "contigs.tsv", "depth.tsv",
    "depth_windows.tsv", "spectrum.tsv", "insert_sizes.tsv", "*.bam", "bins.tsv", "contigs2bin.tsv", "bins/*.fasta",
    "unbinned.fasta", "map.tsv", "training.tsv", "map.npz", "run.json", "assemble.log",
)  # fmt: skip
"""In the order of the page; names or patterns of files that a run may have written."""
_MOST_FILES = 60


def files_of(run: Run, folder: Path) -> list[dict[str, str]]:
    """Return the titles of the files of a run, and how one comes to them from ``folder``."""
    found = [
        path for name in _FILES for path in (sorted(run.folder.glob(name)) if "*" in name else [run.folder / name])
    ]
    return [link_to(path, folder, title=path.name) for path in found[:_MOST_FILES] if path.is_file()]


def link_to(path: Path, folder: Path, *, title: str) -> dict[str, str]:
    """Return a title and how one comes to a file from ``folder``."""
    link = Path(os.path.relpath(path, folder))
    return {"title": as_text(title), "href": quote(os.fsencode(link.as_posix()))}
