"""Assemble the reads of a community of known genomes with gpuasm and MEGAHIT, and run MetaQUAST on the contigs.

    python benchmarks/community.py genomes.tsv reads_1.fq reads_2.fq --json benchmarks/results/community.json

The sheet has the columns genome, reference and fold, separated by tabs; its name is the key in the JSON. The contigs
are first aligned to all genomes at once: aligned length and misassemblies are those of this comparison, so that a
contig that joins two genomes counts as one misassembly. Then each contig is assigned to the genome that it fits best,
and NGA50 and the other figures of a genome are those of its contigs. MEGAHIT's figures are kept in the JSON and
measured again only if it, the reads or a genome changed.
"""

from __future__ import annotations

import csv
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from assembler_runs import ReadSet, Row, checksum, command_of, kept_rows, key_of_checksums, run_assembler
from processes import peer_versions, require_programs
from quast import LEAST_LENGTH, run_metaquast
from record import record

from gpuasm import __version__

MEGAHIT_META = ("--presets", "meta-sensitive")


@dataclass(frozen=True)
class Member:
    """A genome of the community and its coverage."""

    name: str
    reference: Path
    fold: float


def read_members(path: Path) -> list[Member]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [Member(r["genome"], (path.parent / r["reference"]).resolve(strict=True), float(r["fold"])) for r in rows]


def row_of(
    name: str, reads: ReadSet, members: Sequence[Member], *, extra: Sequence[str], quast: list[str], threads: int
) -> Row:
    """Run one assembler and return its figures, of the community and of each genome."""
    assembler = name.split(maxsplit=1)[0]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        command = command_of(assembler, reads, folder / "work", threads=threads, extra=extra)
        usage = run_assembler(command, folder)
        row: Row = {"assembler": name, "extra": list(extra), "threads": threads, "failed": usage is None}
        if usage is None:
            return row
        row |= {**usage.as_dict(), "contigs_sha256": checksum(command.contigs)}
        references = {member.name: member.reference for member in members}
        total, each = run_metaquast(quast, command.contigs, references, folder=folder / "quast", threads=threads)
        genomes = [{"genome": member.name, "fold": member.fold, **each[member.name]} for member in members]
        return {**row, "quast": total, "genomes": genomes}


@click.command(help=__doc__)
@click.argument("sheet", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("pair", type=click.Path(exists=True, dir_okay=False, path_type=Path), nargs=2)
@click.option("--only", multiple=True, metavar="NAME", help="gpuasm, megahit or 'megahit meta-sensitive'; repeatable.")
@click.option("--options", default="", metavar="OPTIONS", help="More options for gpuasm, quoted as one argument.")
@click.option("--sensitive", is_flag=True, help="Run MEGAHIT with its preset meta-sensitive too.")
@click.option("--quast", default="metaquast.py", show_default=True, metavar="COMMAND", help="MetaQUAST 5.2 or later.")
@click.option("--threads", "-t", default=2, show_default=True)
@click.option("--json", "path", type=click.Path(dir_okay=False, path_type=Path), help="Results, kept and added to.")
def main(
    *, sheet: Path, pair: tuple[Path, Path], only: tuple[str, ...], options: str, sensitive: bool, quast: str,
    threads: int, path: Path | None,
) -> None:  # fmt: skip
    program = shlex.split(quast)
    require_programs(program[:1] + (["megahit"] if not only or any("megahit" in name for name in only) else []))
    members, reads = read_members(sheet), ReadSet("community", (pair[0].resolve(), pair[1].resolve()))
    assemblers: dict[str, Sequence[str]] = {"gpuasm": shlex.split(options), "megahit": ()}
    if sensitive:
        assemblers["megahit meta-sensitive"] = MEGAHIT_META
    known, rows = kept_rows(path, sheet.stem), []
    megahit = peer_versions(["megahit"]).get("megahit") or _known_version(known)
    sums = [checksum(mate) for mate in reads.reads]
    for name, extra in assemblers.items():
        version = __version__ if name == "gpuasm" else megahit
        key = key_of_checksums(name, version, sums, [checksum(member.reference) for member in members], list(extra))
        kept = known.get(key)
        if (not only or name in only) and (name == "gpuasm" or kept is None):
            made = row_of(name, reads, members, extra=extra, quast=program, threads=threads)
            kept = [{"key": key, "version": version, "reads_sha256": sums, **made}]
            print(name, kept[0].get("quast"), flush=True)
        rows += kept or []
        parameters = {"threads": threads, "least_length": LEAST_LENGTH, "peers": {"megahit": megahit}}
        record(path, "community", {**parameters, "reads": [mate.name for mate in pair]}, rows, key=sheet.stem)


def _known_version(known: dict[str, list[Row]]) -> str:
    found = [row["version"] for rows in known.values() for row in rows if row["assembler"].startswith("megahit")]
    return found[0] if found else ""


if __name__ == "__main__":
    main()
