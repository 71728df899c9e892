"""Assemble many read sets with gpuasm, MEGAHIT, SKESA and SPAdes, and have QUAST judge the contigs.

    python benchmarks/assemblers.py sheet.tsv --json benchmarks/results/assemblers.json
    python benchmarks/assemblers.py sheet.tsv --json benchmarks/results/assemblers.json --only gpuasm
    python benchmarks/assemblers.py sheet.tsv --json benchmarks/results/assemblers.json --series unseen \
        --only gpuasm --gpus 1 --jobs 8

The sheet has the columns name, reads_1, reads_2, layout (pairs or single), reference (may be empty), kind (simulated or
real) and what (a line about the reads), separated by tabs. All assemblers run with their defaults, SPAdes with
``--isolate``. Figures of a peer of the same version on the same reads are kept in the JSON and not measured again.
gpuasm is run each time, but QUAST is not run again on contigs of the same bytes. ``--series`` is the entry of the JSON
that rows are written to. ``--sets`` takes some sets of the sheet only; figures of other sets of the series are kept.
With ``--gpus`` gpuasm runs on these, ``--jobs`` sets at the same time: then times are not comparable.
"""

from __future__ import annotations

import queue
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click
from assembler_runs import (
    PEERS,
    PROGRAMS,
    ReadSet,
    Row,
    checksum,
    command_of,
    kept_rows,
    kept_sets,
    key_of,
    on_device,
    places_of,
    read_sheet,
    run_assembler,
)
from processes import peer_versions, require_programs
from quast import LEAST_LENGTH, run_quast
from record import record
from run_files import counts_of_check

from gpuasm import __version__
from gpuasm.cli.manifest import machine

ASSEMBLERS = ("gpuasm", *PEERS)


@dataclass(frozen=True)
class Settings:
    """Settings that all runs share.

    Attributes
    ----------
    quast : list of str
        The command.
    threads : int
        Of each assembly, and of each QUAST.
    places : Queue of int
        A number for each assembly that may run at the same time: that of its GPU, or -1 for the CPU.
    where : str
        The machine, as named in the rows.
    keep : Path, optional
        A folder to copy the contigs to.
    """

    quast: list[str]
    threads: int
    places: queue.Queue[int]
    where: str
    keep: Path | None = None


def where(jobs: int, gpus: int) -> str:
    """Name the machine, and how many runs share it."""
    found = machine("cuda:0" if gpus else "cpu")
    sharing = f", {jobs} runs at once" if jobs > 1 else ""
    on = f" on {gpus} x {found['device']['name']}" if gpus else ""
    return f"{found['cpu']}, {found['cpus']} cores{sharing}{on}"


def make_rows(
    assembler: str, version: str, reads: ReadSet, settings: Settings, *, before: Sequence[Row] = ()
) -> list[Row]:
    """Run an assembler on a set; return a row for its contigs and one for its scaffolds, if it makes any.

    QUAST is not run on sequences of the same bytes as those of a row from ``before``.
    """
    figures_of = {row["sha256"]: row["quast"] for row in before if row.get("sha256")}
    threads = settings.threads
    about: Row = {
        "set": reads.name,
        "assembler": assembler,
        "version": version,
        "key": key_of(assembler, version, reads),
        "reads_sha256": [checksum(path) for path in reads.reads],
        "threads": threads,
        "where": settings.where,
        "date": datetime.now(UTC).date().isoformat(),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = command_of(assembler, reads, folder / "work", threads=threads)
        place = settings.places.get()
        try:
            usage = run_assembler(on_device(command, place) if assembler == "gpuasm" else command, folder)
        finally:
            settings.places.put(place)
        if usage is None:
            return [{**about, "sequences": "contigs", "failed": True, "quast": {}}]
        rows = []
        for kind, path in (("contigs", command.contigs), ("scaffolds", command.scaffolds)):
            if path is not None and path.exists():
                sha256 = checksum(path)
                figures = figures_of.get(sha256) or run_quast(
                    settings.quast, path, reads.reference, folder=folder / kind, threads=threads
                )
                if settings.keep:
                    shutil.copyfile(path, settings.keep / f"{reads.name}.{assembler}.{kind}.fasta")
                own: Row = {"sha256": sha256} if assembler == "gpuasm" else {}
                if own:
                    own["check"] = counts_of_check(path.parent / "run.json")
                rows.append({**about, "sequences": kind, "failed": False, **own, **usage.as_dict(), "quast": figures})
        return rows


def rows_of_set(
    reads: ReadSet, *, versions: dict[str, str], known: dict[str, list[Row]], only: set[str], settings: Settings
) -> list[Row]:
    """Return the rows of a set, for each assembler either the kept ones or new ones."""
    rows: list[Row] = []
    for assembler, version in versions.items():
        kept = known.get(key_of(assembler, version, reads))
        if assembler in only and (assembler == "gpuasm" or kept is None):
            kept = make_rows(assembler, version, reads, settings, before=kept or ())
            print(f"{reads.name}: {assembler}: {_summary(kept)}", flush=True)
        rows += [{**row, "set": reads.name} for row in kept or []]
    return rows


def _summary(rows: list[Row]) -> str:
    shown = ("nga50", "aunga", "misassemblies", "mismatches_per_100k", "genome_fraction", "duplication")
    row = rows[0]
    if row["failed"]:
        return "failed"
    return f"{row['wall_s']} s, " + ", ".join(f"{name} {row['quast'].get(name)}" for name in shown)


@click.command(help=__doc__)
@click.argument("sheet", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--series", default="sets", show_default=True, metavar="NAME", help="Entry of the JSON.")
@click.option("--only", multiple=True, type=click.Choice(ASSEMBLERS), help="Run this assembler only; may be repeated.")
@click.option("--sets", multiple=True, metavar="NAME", help="Take this set only; may be repeated.")
@click.option("--quast", default="quast.py", show_default=True, metavar="COMMAND", help="QUAST 5.2 or later.")
@click.option("--threads", "-t", default=2, show_default=True)
@click.option("--gpus", default=0, show_default=True, help="GPUs for gpuasm, in turn; 0: the CPU.")
@click.option("--jobs", default=1, show_default=True, help="Sets that are assembled at the same time.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Copy the contigs to this folder.")
@click.option("--json", "path", type=click.Path(dir_okay=False, path_type=Path), help="Results, kept and added to.")
def main(
    *, sheet: Path, series: str, only: tuple[str, ...], sets: tuple[str, ...], quast: str, threads: int, gpus: int,
    jobs: int, keep: Path | None, path: Path | None,
) -> None:  # fmt: skip
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    settings = Settings(shlex.split(quast), threads, places_of(jobs, gpus), where(jobs, gpus), keep)
    chosen = set(only or ASSEMBLERS)
    require_programs([PROGRAMS.get(name, name) for name in PEERS if name in chosen] + settings.quast[:1])
    found = read_sheet(sheet)
    known = kept_rows(path, series)
    versions = {"gpuasm": __version__, **(_known_versions(known) | peer_versions(PEERS))}
    about = kept_sets(path, series) | {reads.name: {"kind": reads.kind, "what": reads.what} for reads in found}
    parameters = {"least_length": LEAST_LENGTH, "peers": versions, "sets": about}
    made: dict[str, list[Row]] = {}
    taken = [reads for reads in found if not sets or reads.name in sets]
    make = partial(rows_of_set, versions=versions, known=known, only=chosen, settings=settings)
    with ThreadPoolExecutor(
        jobs if jobs == 1 else 2 * jobs
    ) as pool:  # QUAST and the next assembly run at the same time
        runs = {pool.submit(make, reads): reads.name for reads in taken}
        for run in as_completed(runs):
            made[runs[run]] = run.result()
            # After every set, so that a stopped run keeps its figures.
            record(path, "assemblers", parameters, rows_in_order(list(about), made, known), key=series)


def rows_in_order(names: list[str], made: dict[str, list[Row]], known: dict[str, list[Row]]) -> list[Row]:
    """Return the rows of sets in the order of names: the new ones, else those kept, unless the set was renamed."""
    keys = {row["key"] for rows in made.values() for row in rows}
    kept = [row for rows in known.values() for row in rows if row["set"] not in made and row["key"] not in keys]
    return [row for name in names for row in made.get(name, [row for row in kept if row["set"] == name])]


def _known_versions(known: dict[str, list[Row]]) -> dict[str, str]:
    """Return the versions of earlier runs, for assemblers that are not installed here."""
    return {row["assembler"]: row["version"] for rows in known.values() for row in rows if row["assembler"] in PEERS}


if __name__ == "__main__":
    main()
