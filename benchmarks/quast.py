"""Run QUAST or MetaQUAST on contigs and read what it reports.

QUAST looks at contigs of 500 bases and more. NGA50 and auNGA are of the blocks that align to the reference, cut at each
misassembly, and of the reference's length: auNGA is the area under the curve of NGAx, that is the sum of the squared
lengths of the blocks over the length of the reference.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

Figures = dict[str, float | int | None]
LEAST_LENGTH = 500
_OPTIONS = ["-m", str(LEAST_LENGTH), "--no-html", "--no-icarus", "--no-plots"]
_NAMES = {
    "# contigs (>= 0 bp)": "contigs_all",
    "# contigs": "contigs",
    "Largest contig": "largest",
    "Total length": "total",
    "N50": "n50",
    "NGA50": "nga50",
    "LGA50": "lga50",
    "auNGA": "aunga",
    "# misassemblies": "misassemblies",
    "# local misassemblies": "local_misassemblies",
    "Genome fraction (%)": "genome_fraction",
    "Duplication ratio": "duplication",
    "# mismatches per 100 kbp": "mismatches_per_100k",
    "# indels per 100 kbp": "indels_per_100k",
    "# N's per 100 kbp": "n_per_100k",
    "Unaligned length": "unaligned",
    "Total aligned length": "aligned",
}


def parse_report(text: str) -> Figures:
    """Read the figures of a ``report.tsv`` on one assembly; None where QUAST gives no value.

    Raises
    ------
    ValueError
        If it is no such report, or is on several assemblies.
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        label, *values = line.split("\t")
        if len(values) != 1:
            raise ValueError(f"a report on one assembly has two columns, not {len(values) + 1}: {line!r}")
        found[label] = values[0]
    if "Assembly" not in found:
        raise ValueError("no report of QUAST: it has no line 'Assembly'")
    return {name: _number(found.get(label, "-")) for label, name in _NAMES.items()}


def _number(text: str) -> float | int | None:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:  # "-" where nothing aligns, "1 + 2 part" for counts that are not used here
        return None


def run_quast(program: Sequence[str], contigs: Path, reference: Path | None, *, folder: Path, threads: int) -> Figures:
    """Return the figures of one assembly; none if none of its contigs is long enough."""
    against = ["-r", str(reference)] if reference else []
    done = _run([*program, *_OPTIONS, "-t", str(threads), *against, "-o", str(folder), str(contigs)])
    report = folder / "report.tsv"
    if not report.exists():
        if "correct contigs" in done:  # it stops where nothing is left to look at
            return {}
        sys.exit(f"{done[-2000:]}\nQUAST failed on {contigs}")
    return parse_report(report.read_text())


def run_metaquast(
    program: Sequence[str], contigs: Path, references: dict[str, Path], *, folder: Path, threads: int
) -> tuple[Figures, dict[str, Figures]]:
    """Return the figures against all genomes at once, and against each with the contigs that fit it best.

    A contig that joins two genomes is a misassembly in the first; ``--unique-mapping`` counts a contig for one genome
    only, though parts of it may fit others as well.
    """
    folder.mkdir(parents=True, exist_ok=True)
    named = folder / "references"
    named.mkdir()
    for name, path in references.items():  # MetaQUAST names genomes by their files, and packed ones by their ends
        if path.suffix == ".gz":
            (named / f"{name}.fa").write_bytes(gzip.decompress(path.read_bytes()))
        else:
            (named / f"{name}.fa").symlink_to(path)
    files = ",".join(str(named / f"{name}.fa") for name in references)
    out = folder / "metaquast"
    command = [*program, *_OPTIONS, "--unique-mapping", "-t", str(threads), "-r", files, "-o", str(out), str(contigs)]
    done = _run(command)
    combined = out / "combined_reference" / "report.tsv"
    if not combined.exists():
        sys.exit(f"{done[-2000:]}\nMetaQUAST failed on {contigs}")
    single = {name: out / "runs_per_reference" / name / "report.tsv" for name in references}
    each = {name: parse_report(path.read_text()) if path.exists() else {} for name, path in single.items()}
    return parse_report(combined.read_text()), each


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout + done.stderr
