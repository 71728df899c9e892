"""What ``gpuasm assemble`` writes of contigs and of the reads that lie on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gpuasm.assembly.coverage.contig_depth import window_means
from gpuasm.cli.naming import PLAIN, Naming
from gpuasm.io import write_fasta, write_tsv

if TYPE_CHECKING:
    from gpuasm.assembly import Contig
    from gpuasm.assembly.verification.contig_checks import Checked

WINDOW = 1000
"""Bases of a window of depth_windows.tsv."""


def writers_of_checked(folder: Path, checked: Checked, naming: Naming) -> list[Callable[[], None]]:
    """Return what writes contigs.fasta, depth.tsv and depth_windows.tsv, one each."""
    return [
        partial(write_contigs, folder / "contigs.fasta", checked.contigs, naming),
        partial(write_depth, folder / "depth.tsv", checked, sample=naming.sample),
        partial(write_windows, folder / "depth_windows.tsv", checked),
    ]


def write_contigs(path: Path | str, contigs: list[Contig], naming: Naming = PLAIN) -> None:
    """Write contigs as FASTA: ``>contig_000001 length=327139 depth=58.3 copies=1 circular=no``."""
    descriptions = [
        f"length={c.length} depth={c.depth:.1f} copies={c.copies} {naming.shape(is_circular=c.is_circular)}"
        for c in contigs
    ]
    write_fasta(path, [c.name for c in contigs], descriptions, [c.codes for c in contigs])


def write_contig_table(path: Path | str, checked: Checked) -> None:
    """Write a row for each contig: name, length, depth, copies, circular, gc, median and least depth, breadth."""
    contigs, table = checked.contigs, checked.table
    write_tsv(
        path,
        {
            "name": [c.name for c in contigs],
            "length": [c.length for c in contigs],
            "depth": [f"{c.depth:.1f}" for c in contigs],
            "copies": [c.copies for c in contigs],
            "circular": [c.is_circular for c in contigs],
            "gc": [f"{c.gc:.4f}" for c in contigs],
            "median_depth": table.median,
            "least_depth": table.least,
            "breadth": [f"{share:.4f}" for share in table.breadth.tolist()],
        },
    )


def write_depth(path: Path | str, checked: Checked, *, sample: str) -> None:
    """Write the depth of each contig in the columns of jgi_summarize_bam_contig_depths for one sample: for binners."""
    depth = [f"{c.depth:.4f}" for c in checked.contigs]
    write_tsv(
        path,
        {
            "contigName": [c.name for c in checked.contigs],
            "contigLen": [c.length for c in checked.contigs],
            "totalAvgDepth": depth,
            sample: depth,
            f"{sample}-var": [f"{variance:.4f}" for variance in checked.table.variance.tolist()],
        },
    )


def write_windows(path: Path | str, checked: Checked) -> None:
    """Write the mean depth of each thousand bases; start counts from 0, end is the base after the last."""
    contig, begin, mean = window_means(checked.depth, checked.bounds, WINDOW)
    names = [c.name for c in checked.contigs]
    ends = [min(b + WINDOW, checked.contigs[c].length) for c, b in zip(contig.tolist(), begin.tolist(), strict=True)]
    write_tsv(
        path,
        {
            "contig": [names[c] for c in contig.tolist()],
            "start": begin,
            "end": ends,
            "depth": [f"{depth:.1f}" for depth in mean.tolist()],
        },
    )
