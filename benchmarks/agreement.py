"""Count the reads for contigs and for a reference wherever the two differ.

    python benchmarks/assemblers.py sheet.tsv --sets vzv_hhv3 --keep contigs
    python benchmarks/agreement.py sheet.tsv contigs --json benchmarks/results/agreement.json

A reference may be of another strain, the consensus of another program, or unknown in places. Therefore minimap2 aligns
the contigs of all assemblers, as kept by ``assemblers.py``, to the reference, and the reads to both. At each place
where the two differ the reads that support either are counted (``differing_places.py``).
"""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
import pysam
from assembler_runs import PEERS, ReadSet, Row, read_sheet
from differing_places import CONTIG, NEITHER, REFERENCE, Compared, Place, compare, count_outvoted, count_votes
from processes import require_programs
from quast import LEAST_LENGTH
from record import record

ASSEMBLERS = ("gpuasm", *PEERS)
SHOWN = ("covered", "covered_again", "on_unknown", "places", "for_contig", "for_reference", "for_neither",
         "outvoted", "reference_outvoted")  # fmt: skip
_LONGEST_SHOWN = 30
"""Longer sequences are written as their number of bases."""


def align(target: Path, queries: Sequence[Path], options: Sequence[str]) -> list[pysam.AlignedSegment]:
    """Align sequences to others by minimap2."""
    command = ["minimap2", "-a", "-Y", "--secondary=no", *options, str(target), *map(str, queries)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process,
        pysam.AlignmentFile(process.stdout, "r", check_sq=False) as alignments,
    ):
        found = list(alignments)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return found


def read_sequences(path: Path, least_length: int = 0) -> dict[str, str]:
    with pysam.FastxFile(str(path)) as file:
        return {str(own.name): str(own.sequence).upper() for own in file if len(str(own.sequence)) >= least_length}


def rows_of_set(reads: ReadSet, reference: Path, kept: dict[str, Path], *, threads: int) -> list[Row]:
    """Compare the contigs of assemblers, by their names, with the reference of a set."""
    texts, options = read_sequences(reference), ["-t", str(threads)]
    for_reads = [*options, "-x", "sr", *([] if reads.layout == "pairs" else ["--no-pairing"])]
    on_reference = align(reference, reads.reads, for_reads)
    found: dict[str, tuple[Compared, Row]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for assembler, path in kept.items():
            long = read_sequences(path, LEAST_LENGTH)  # those that QUAST uses
            contigs = Path(folder) / f"{assembler}.fasta"
            contigs.write_text("".join(f">{name}\n{text}\n" for name, text in long.items()))
            if not long:
                continue
            compared = compare(align(reference, [contigs], [*options, "-x", "asm20"]), texts)
            on_contigs = align(contigs, reads.reads, for_reads)
            votes = count_votes(compared.places, on_contigs, on_reference)
            found[assembler] = compared, figures(compared, votes) | {"outvoted": count_outvoted(on_contigs, long)}
    for_all = {"reference_outvoted": count_outvoted(on_reference, texts)}
    everywhere = {name: np.logical_and.reduce([own.covered[name] > 0 for own, _ in found.values()]) for name in texts}
    for_all["covered_by_all"] = sum(int(np.count_nonzero(own)) for own in everywhere.values())
    return [
        {
            "set": reads.name,
            "assembler": assembler,
            **row,
            **for_all,
            "places_covered_by_all": _within(compared, everywhere),
        }
        for assembler, (compared, row) in found.items()
    ]


def figures(compared: Compared, votes: Sequence[Counter[str]]) -> Row:
    """Return the figures of an assembly from the reads that support each side of each place."""
    sides = [_side(own) for own in votes]
    covered = compared.covered.values()
    return {
        "covered": sum(int(np.count_nonzero(own)) for own in covered),
        "covered_again": sum(int(np.maximum(own - 1, 0).sum()) for own in covered),
        "on_unknown": compared.on_unknown,
        "places": len(sides),
        **{f"for_{side}": sides.count(side) for side in (CONTIG, REFERENCE, NEITHER)},
        "reads": dict(sum(votes, Counter())),
        "list_of_places": [_line(place, own) for place, own in zip(compared.places, votes, strict=True)],
    }


def _line(place: Place, votes: Counter[str]) -> str:
    """Return a place, what contig and reference have there, and the reads for each and for neither."""
    where = (f"{name}:{begin}-{end}" for name, begin, end in (place.contig, place.reference))
    texts = (text if len(text) <= _LONGEST_SHOWN else f"{len(text)} bases" for text in place.texts)
    counts = (str(votes[side]) for side in (CONTIG, REFERENCE, NEITHER))
    return f"{' '.join(where)} {' / '.join(texts)}: {' / '.join(counts)}"


def _side(votes: Counter[str]) -> str:
    """Return whose text more reads have than the other's."""
    if votes[CONTIG] == votes[REFERENCE]:
        return NEITHER
    return CONTIG if votes[CONTIG] > votes[REFERENCE] else REFERENCE


def _within(compared: Compared, everywhere: dict[str, np.ndarray]) -> int:
    """Return how many places lie on, or next to, bases on which contigs of all assemblers lie."""
    near = (everywhere[place.reference[0]][max(0, place.at - 1) : place.at + 2] for place in compared.places)
    return sum(bool(own.any()) for own in near)


@click.command(help=__doc__)
@click.argument("sheet", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("contigs", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--threads", "-t", default=2, show_default=True)
@click.option("--json", "path", type=click.Path(dir_okay=False, path_type=Path))
def main(*, sheet: Path, contigs: Path, threads: int, path: Path | None) -> None:
    require_programs(["minimap2"])
    print("set", "assembler", *SHOWN, sep="\t")
    rows: list[Row] = []
    about = {}
    for reads in read_sheet(sheet):
        files = {name: contigs / f"{reads.name}.{name}.contigs.fasta" for name in ASSEMBLERS}
        kept = {name: file for name, file in files.items() if file.exists() and file.stat().st_size}
        if reads.reference is None or not kept:
            continue
        about[reads.name] = {"what": reads.what}
        found = rows_of_set(reads, reads.reference, kept, threads=threads)
        rows += found
        for row in found:
            print(reads.name, row["assembler"], *(row[key] for key in SHOWN), sep="\t", flush=True)
    record(path, "agreement", {"least_length": LEAST_LENGTH, "sets": about}, rows)


if __name__ == "__main__":
    main()
