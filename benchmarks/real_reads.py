"""Assemble real reads with gpuasm and MEGAHIT, and compare the contigs.

    python benchmarks/real_reads.py sheet.tsv --quast 'bash evaluate.sh' --json results/real_reads.json

The sheet has the columns sample, reads_1, reads_2, layout (pairs or single) and, if there is one, reference. Both
assemblers run with their defaults. ``--quast`` is a command that takes REFERENCE CONTIGS NAME and prints a header line
after ``--header``, and a row of tab-separated figures otherwise.
"""

from __future__ import annotations

import argparse
import csv
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from processes import GPUASM, measure, peer_versions, require_programs
from record import record
from result_files import host_of, read_entries
from unitig_sets import read_fasta

from gpuasm.cli.manifest import machine

PROGRAMS = ("gpuasm", "megahit")
LEAST_LENGTH = 200
"""Shorter contigs are not counted; both assemblers leave them out."""
LONG = 500
"""Least length of contigs that are compared, as for QUAST: in samples of low coverage the number of short contigs
sets the N50 of all."""
_QUAST_FIGURES = {
    "NGA50": "nga50",
    "misasm": "misassemblies",
    "genome_pct": "genome_fraction",
    "mism_100k": "mismatches_per_100k",
    "indel_100k": "indels_per_100k",
    "dup_ratio": "duplication",
}
_SHOWN = ("sample", "assembler", "total", "largest", "n50", "total_long", "n50_long", "contigs", "circular",
          "nga50", "misassemblies", "genome_fraction", "mismatches_per_100k", "wall_s", "peak_rss_mb")  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """A row of the sheet."""

    name: str
    reads: tuple[Path, Path]
    layout: str
    reference: Path | None

    def arguments(self, program: str) -> list[str | Path]:
        """Return the options that give an assembler the reads."""
        first, second = self.reads
        if self.layout == "pairs":
            return ["-1", first, "-2", second]
        return ["--single", first, "--single", second] if program == "gpuasm" else ["-r", f"{first},{second}"]


def read_sheet(path: Path) -> list[Sample]:
    """Read the sheet; paths in it are as seen from the sheet's folder."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    samples = []
    for row in rows:
        if row["layout"] not in {"pairs", "single"}:
            sys.exit(f"{path}: {row['sample']}: layout is {row['layout']!r}, not pairs or single")
        found = [(path.parent / row[key]).resolve(strict=True) for key in ("reads_1", "reads_2")]
        reference = (path.parent / row["reference"]).resolve(strict=True) if row.get("reference") else None
        samples.append(Sample(row["sample"], (found[0], found[1]), row["layout"], reference))
    return samples


def assemble(sample: Sample, program: str, folder: Path, threads: int) -> tuple[Path, dict[str, float]]:
    """Run an assembler on a sample; return its contigs and what it took."""
    out = folder / f"{sample.name}.{program}"
    if program == "gpuasm":
        command = [*GPUASM, "assemble", *sample.arguments(program), "-o", out, "--device", "cpu", "-q"]
        contigs = out / "contigs.fasta"
    else:
        command = ["megahit", *sample.arguments(program), "-o", out]
        contigs = out / "final.contigs.fa"
    usage = measure([*command, "-t", str(threads)], folder=folder, log=folder / f"{sample.name}.{program}.log")
    return contigs, usage.as_dict()


def describe(contigs: Path) -> dict[str, Any]:
    """Return totals of the contigs that are long enough."""
    lengths = sorted((len(text) for text in read_fasta(contigs)), reverse=True)
    lengths = [n for n in lengths if n >= LEAST_LENGTH]
    long = [n for n in lengths if n >= LONG]
    headers = [line for line in contigs.read_text().splitlines() if line.startswith(">")]
    return {
        "total": sum(lengths),
        "largest": lengths[0] if lengths else 0,
        "n50": n50(lengths),
        "contigs": len(lengths),
        "total_long": sum(long),
        "n50_long": n50(long),
        # MEGAHIT's flag 3 is a circular contig.
        "circular": sum("circular=yes" in line or " flag=3 " in line for line in headers),
    }


def n50(lengths: list[int]) -> int:
    """Return the length that contigs of half of all bases reach; lengths are given longest first."""
    reached = 0
    for length in lengths:
        reached += length
        if 2 * reached >= sum(lengths):
            return length
    return 0


def evaluate(quast: list[str], sample: Sample, contigs: Path) -> dict[str, float | None]:
    """Return QUAST's figures against the sample's reference, where there is one."""
    if not quast or sample.reference is None:
        return {}
    header = subprocess.run([*quast, "--header"], check=True, capture_output=True, text=True).stdout.split()
    command = [*quast, str(sample.reference), str(contigs), sample.name]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        return dict.fromkeys(_QUAST_FIGURES.values())
    row = dict(zip(header, done.stdout.rstrip("\n").split("\t"), strict=True))
    return {name: _number(row[column]) for column, name in _QUAST_FIGURES.items() if column in row}


def _number(text: str) -> float | None:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--quast", type=shlex.split, default=[], metavar="COMMAND")
    parser.add_argument("--only", nargs="+", metavar="SAMPLE", help="rows of the others are kept")
    parser.add_argument("--programs", nargs="+", default=PROGRAMS, choices=PROGRAMS, help="likewise")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what the assemblers wrote in DIR")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    require_programs(sorted({"megahit"} & set(options.programs)))
    host = host_of(machine("cpu"))
    known = read_entries(options.json).get(host, {"rows": []})
    rows = {(row["sample"], row["assembler"]): row for row in known["rows"]}
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep.resolve() if options.keep else Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        print(*_SHOWN, sep="\t")
        for sample in read_sheet(options.sheet):
            if options.only and sample.name not in options.only:
                continue
            for program in options.programs:
                contigs, usage = assemble(sample, program, folder, options.threads)
                row = {"sample": sample.name, "layout": sample.layout, "assembler": program}
                row |= {**describe(contigs), **evaluate(options.quast, sample, contigs), **usage}
                rows[sample.name, program] = row
                print(*(row.get(key, "") for key in _SHOWN), sep="\t", flush=True)
    peers = peer_versions(["megahit"]) if "megahit" in options.programs else known["parameters"]["peers"]
    parameters = {"threads": options.threads, "least_length": LEAST_LENGTH, "peers": peers}
    record(options.json, "real_reads", parameters, list(rows.values()), key=host)


if __name__ == "__main__":
    main()
