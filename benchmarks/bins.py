"""Bin the contigs of communities and isolates of known genomes with gpuasm and with MetaBAT 2.

    python benchmarks/bins.py SHEET --json benchmarks/results/bins.json

The sheet has the columns name, contigs and genomes, separated by tabs, and may have depth, a table of several samples
as gpuasm depth writes it. Contigs without a table have depth in their headers, as gpuasm assemble writes them.
``genomes`` names a sheet with the columns genome and reference. Minimap2 finds the true origin of contigs: a contig
belongs to the genome that most of its bases match. A genome's completeness is the share of its bases that contigs of
its own cover in one bin, and that bin's contamination the share of its bases in contigs of others; a contig that
nothing matches is of no genome. A genome is good with 90 % completeness and below 5 % contamination. Its F1 is the
harmonic mean of the completeness and purity of the bin in which that is the greatest. The completeness of all contigs
of 500 bases and more is the upper limit.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from bin_truth import LEAST_COMPLETENESS, LEAST_LENGTH, MOST_CONTAMINATION, find_truth, judge, nearest_centre
from processes import GPUASM, Usage, measure, require_programs
from record import record

from gpuasm.io.contigs import ContigRecord, read_contigs
from gpuasm.io.fasta import write_fasta


def run_gpuasm(contigs: Path, folder: Path, *, threads: int, options: Sequence[str]) -> tuple[Usage, list[Path]]:
    out = folder / "gpuasm"
    command = [*GPUASM, "bin", contigs, "-o", out, "-t", str(threads), "-q", *options]
    usage = measure(command, folder=folder, log=folder / "log")
    return usage, sorted((out / "bins").glob("bin_*.fasta"))


def run_metabat(contigs: Path, folder: Path, *, threads: int, depth: Path | None) -> tuple[Usage, list[Path]]:
    out = folder / "metabat"
    out.mkdir()
    command = ["metabat2", "-i", contigs, "-o", out / "bin", "-t", str(threads), "--seed", "1"]
    command += ["-a", depth] if depth else []
    usage = measure(command, folder=folder, log=folder / "log")
    return usage, sorted(out.glob("bin.*.fa"))


def write_depth(path: Path, contigs: Sequence[ContigRecord]) -> Path | None:
    """Write the depth of the headers in the columns of jgi_summarize_bam_contig_depths, with variance as by chance."""
    if any(c.depth is None for c in contigs):
        return None
    lines = [f"{c.name}\t{c.codes.size}\t{c.depth}\t{c.depth}\t{c.depth}\n" for c in contigs]
    path.write_text("contigName\tcontigLen\ttotalAvgDepth\treads\treads-var\n" + "".join(lines))
    return path


@click.command(help=__doc__)
@click.argument("sheet", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--only", multiple=True, metavar="NAME", help="gpuasm, 'gpuasm --no-depth' or metabat2; repeatable.")
@click.option("--threads", "-t", default=2, show_default=True)
@click.option("--json", "path", type=click.Path(dir_okay=False, path_type=Path))
def main(*, sheet: Path, only: tuple[str, ...], threads: int, path: Path | None) -> None:
    names = only or ("gpuasm", "gpuasm --no-depth", "metabat2")
    require_programs(["minimap2", *(["metabat2"] if "metabat2" in names else [])])
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
            table = (sheet.parent / entry["depth"]).resolve(strict=True) if entry.get("depth") else None
            depth = table or write_depth(folder / "depth.tsv", contigs)
            for name in names:
                work = folder / name.replace(" ", "_")
                work.mkdir()
                if name == "metabat2":
                    usage, files = run_metabat(plain, work, threads=threads, depth=depth)
                else:
                    options = name.split()[1:] or (["--depth", str(table)] if table else [])
                    usage, files = run_gpuasm(file_of["contigs"], work, threads=threads, options=options)
                bins = {file.name: read_contigs(file) for file in files}
                row = {"set": entry["name"], "binner": name, **usage.as_dict(), **judge(bins, contigs, truth)}
                row |= {"nearest_centre": shares} if shares else {}
                rows.append(row)
                print(
                    *(row[key] for key in ("set", "binner", "wall_s", "bins", "good")), len(row["genomes"]), flush=True
                )
    parameters = {
        "threads": threads, "least_completeness": LEAST_COMPLETENESS, "most_contamination": MOST_CONTAMINATION,
        "least_length": LEAST_LENGTH,
    }  # fmt: skip
    record(path, "bins", parameters, rows)


if __name__ == "__main__":
    main()
