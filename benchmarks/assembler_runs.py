"""Run assemblers as commands, and reuse the figures of earlier runs.

The figures of a run are kept under a key: the assembler with its version and command, and the checksums of the reads
and the reference. Runs with the same key had the same input, whatever the names of the files.
"""

from __future__ import annotations

import csv
import hashlib
import json
import queue
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from processes import GPUASM, Usage, measure_or_none
from result_files import read_entries

Row = dict[str, Any]
PEERS = ("megahit", "skesa", "spades")
_ON_CPU = -1
PROGRAMS = {"spades": "spades.py"}
"""The program of an assembler where it has another name."""


@dataclass(frozen=True)
class ReadSet:
    """A row of the sheet: reads, what they are, and the genome they come from, if it is known."""

    name: str
    reads: tuple[Path, Path]
    layout: str = "pairs"
    reference: Path | None = None
    kind: str = "simulated"
    what: str = ""


def read_sheet(path: Path) -> list[ReadSet]:
    """Read a sheet with the columns name, reads_1, reads_2 and, if there are any, layout, reference, kind and what.

    Paths in it are as seen from the sheet's folder.
    """
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [_read_set(path, row) for row in rows]


def _read_set(sheet: Path, row: dict[str, str]) -> ReadSet:
    layout, kind = row.get("layout") or "pairs", row.get("kind") or "simulated"
    if layout not in {"pairs", "single"} or kind not in {"simulated", "real"}:
        sys.exit(f"{sheet}: {row['name']}: layout is pairs or single, kind is simulated or real")
    first, second = ((sheet.parent / row[key]).resolve() for key in ("reads_1", "reads_2"))
    reference = (sheet.parent / row["reference"]).resolve() if row.get("reference") else None
    return ReadSet(row["name"], (first, second), layout, reference, kind, row.get("what") or "")


@dataclass(frozen=True)
class Command:
    """The command line of an assembler, and the files it writes: contigs, and scaffolds where it makes them."""

    arguments: list[str | Path]
    contigs: Path
    scaffolds: Path | None = None


def command_of(assembler: str, reads: ReadSet, folder: Path, *, threads: int, extra: Sequence[str] = ()) -> Command:
    """Return the command of an assembler with its default options and those given as ``extra``."""
    first, second = reads.reads
    pairs, t, out = reads.layout == "pairs", str(threads), folder / "out"
    mates = _listed("-1", first, "-2", second)
    if assembler == "gpuasm":
        given = mates if pairs else _listed("--single", first, "--single", second)
        arguments = _listed(*GPUASM, "assemble", *given, "-o", out, "--device", "cpu", "-t", t, "-q", *extra)
        return Command(arguments, out / "contigs.fasta")
    if assembler == "megahit":
        given = mates if pairs else _listed("-r", f"{first},{second}")
        return Command(["megahit", *given, "-t", t, "-o", out, *extra], out / "final.contigs.fa")
    if assembler == "skesa":
        given = _listed("--reads", f"{first},{second}") if pairs else _listed("--reads", first, "--reads", second)
        contigs = folder / "contigs.fa"
        return Command(["skesa", *given, "--cores", t, "--contigs_out", contigs, *extra], contigs)
    given = mates if pairs else _listed("--s1", first, "--s2", second)
    arguments = _listed("spades.py", "--isolate", *given, "-t", t, "-o", out, *extra)
    return Command(arguments, out / "contigs.fasta", out / "scaffolds.fasta")


def _listed(*arguments: str | Path) -> list[str | Path]:
    return list(arguments)


def places_of(jobs: int, gpus: int) -> queue.Queue[int]:
    """Return a number for each assembly that may run at the same time: of a GPU, or of none."""
    places: queue.Queue[int] = queue.Queue()
    for number in range(jobs):
        places.put(number % gpus if gpus else _ON_CPU)
    return places


def on_device(command: Command, place: int) -> Command:
    """Return the command as run on one GPU of the host, the only one visible to it; unchanged for the CPU."""
    if place == _ON_CPU:
        return command
    arguments = [own if own != "cpu" else "cuda" for own in command.arguments]
    return replace(command, arguments=["env", f"CUDA_VISIBLE_DEVICES={place}", *arguments])


@cache
def checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def key_of(assembler: str, version: str, reads: ReadSet, *, extra: Sequence[str] = ()) -> str:
    """Return what a run's figures are kept under."""
    references = [checksum(reads.reference)] if reads.reference else []
    return key_of_checksums(assembler, version, [checksum(path) for path in reads.reads], references, list(extra))


def key_of_checksums(assembler: str, version: str, reads: list[str], references: list[str], extra: list[str]) -> str:
    text = json.dumps([assembler, version, reads, references, extra])
    return hashlib.sha256(text.encode()).hexdigest()


def run_assembler(command: Command, folder: Path) -> Usage | None:
    """Run an assembler in an empty folder; None, and the end of its log printed, if it fails or leaves no contigs."""
    (folder / "work").mkdir()
    usage = measure_or_none(command.arguments, folder=folder / "work", log=folder / "log")
    if usage is None or not command.contigs.exists() or not command.contigs.stat().st_size:
        print(f"   failed: {(folder / 'log').read_text(errors='replace')[-1000:]}", flush=True)
        return None
    return usage


def kept_rows(path: Path | None, entry: str) -> dict[str, list[Row]]:
    """Return the rows of an entry of earlier results by their keys."""
    found: dict[str, list[Row]] = {}
    for row in read_entries(path).get(entry, {}).get("rows", []):
        found.setdefault(row.get("key", ""), []).append(row)
    return found


def kept_sets(path: Path | None, entry: str) -> dict[str, Row]:
    """Return the descriptions of the sets of an entry of earlier results by their names."""
    sets: dict[str, Row] = read_entries(path).get(entry, {}).get("parameters", {}).get("sets", {})
    return sets
