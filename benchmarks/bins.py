"""Bin the contigs of communities and isolates of known genomes with gpuasm and with other binners.

    python benchmarks/bins.py SHEET --json benchmarks/results/bins.json

The sheet has the columns name, contigs and genomes, separated by tabs, and may have depth, a table of several samples
as gpuasm depth writes it, and halves, that table of the contigs cut in two. Contigs without a table have depth in their
headers, as gpuasm assemble writes them. ``genomes`` names a sheet with the columns genome and reference.

Minimap2 finds the true origin of contigs: a contig belongs to the genome that most of its bases match. A genome's
completeness is the share of its bases that contigs of its own cover in one bin, and that bin's contamination the share
of its bases in contigs of others; a contig that nothing matches is of no genome. A genome is good with 90 %
completeness and below 5 % contamination. Its F1 is the harmonic mean of the completeness and purity of the bin in which
that is the greatest. The completeness of all contigs of 500 bases and more is the upper limit. AMBER's F1 compares
contigs alone: the harmonic mean of the mean completeness of genomes and the mean purity of bins.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from bin_truth import (
    LEAST_COMPLETENESS,
    LEAST_LENGTH,
    MOST_CONTAMINATION,
    find_truth,
    judge,
    judge_as_amber,
    nearest_centre,
)  # fmt: skip
from binners import BINNERS, PROGRAMS, Binned
from processes import peer_versions, require_programs
from record import record

from gpuasm.io.contigs import ContigRecord, read_contigs
from gpuasm.io.fasta import write_fasta

_DEFAULT = ("gpuasm", "gpuasm --no-depth", "metabat2")


def write_depth(path: Path, contigs: Sequence[ContigRecord]) -> Path | None:
    """Write the depth of the headers in the columns of jgi_summarize_bam_contig_depths, with variance as by chance."""
    if any(c.depth is None for c in contigs):
        return None
    lines = [f"{c.name}\t{c.codes.size}\t{c.depth}\t{c.depth}\t{c.depth}\n" for c in contigs]
    path.write_text("contigName\tcontigLen\ttotalAvgDepth\treads\treads-var\n" + "".join(lines))
    return path


@click.command(help=__doc__)
@click.argument("sheet", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--only", "names", multiple=True, type=click.Choice(list(BINNERS)), default=_DEFAULT, show_default=True)
@click.option("--threads", "-t", default=2, show_default=True)
@click.option("--json", "path", type=click.Path(dir_okay=False, path_type=Path))
def main(*, sheet: Path, names: tuple[str, ...], threads: int, path: Path | None) -> None:
    peers = [name for name in names if name in PROGRAMS]
    require_programs(["minimap2", *(PROGRAMS[name] for name in peers)])
    parameters = {
        "threads": threads, "least_completeness": LEAST_COMPLETENESS, "most_contamination": MOST_CONTAMINATION,
        "least_length": LEAST_LENGTH, "peers": peer_versions(sorted({name.split()[0] for name in peers})),
    }  # fmt: skip
    rows: list[dict[str, Any]] = []
    with sheet.open(newline="") as file:
        sets = list(csv.DictReader(file, delimiter="\t"))
    for entry in sets:
        file_of = {key: (sheet.parent / entry[key]).resolve(strict=True) for key in ("contigs", "genomes")}
        contigs = read_contigs(file_of["contigs"])
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            plain = folder / "contigs.fasta"  # names alone: MetaBAT takes whole headers for names
            write_fasta(plain, [c.name for c in contigs], [""] * len(contigs), [c.codes for c in contigs])
            truth = find_truth(plain, file_of["genomes"], folder, threads=threads)
            shares = nearest_centre(contigs, truth) if len(truth.length) > 1 else {}
            table, halves = (_table(sheet, entry.get(column)) for column in ("depth", "halves"))
            depth = table or write_depth(folder / "depth.tsv", contigs)
            binned = Binned(file_of["contigs"], plain, depth, is_given=table is not None, halves=halves)
            for name in names:
                work = folder / name.replace(" ", "_")
                work.mkdir()
                usage, files = BINNERS[name](binned, work, threads)
                bins = {file.name: read_contigs(file) for file in files}
                row = {"set": entry["name"], "binner": name, **usage.as_dict(), **judge(bins, contigs, truth)}
                row["amber"] = judge_as_amber(bins, contigs, truth)
                row |= {"nearest_centre": shares} if shares else {}
                rows.append(row)
                record(path, "bins", parameters, rows)  # after each: some take hours
                print(
                    *(row[key] for key in ("set", "binner", "wall_s", "bins", "good")), len(row["genomes"]), flush=True
                )


def _table(sheet: Path, name: str | None) -> Path | None:
    return (sheet.parent / name).resolve(strict=True) if name else None


if __name__ == "__main__":
    main()
