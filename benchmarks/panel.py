"""Compare variants of the assembler over the panel of sets that decides about each step.

    python benchmarks/panel.py OUT/sheet.tsv --variant all --variant fewer="--without tips" --json figures.json
    python benchmarks/panel.py OUT/sheet.tsv --variant new --variant before= --code before=OTHER_CHECKOUT --device cuda

The panel is the first isolates of ``sets.tsv``, ``--isolates`` of them, in the order of the SHA-256 of their
names, and the communities of ``--communities``, a sheet of the same columns whose references have all genomes of a
community in one file. The sheet is that of ``make_sets.py``. Sets that the sheet lacks are left out and counted.

Each variant has options of ``gpuasm assemble``, and ``--code`` the checkout that it is run from, if it is another one.
QUAST judges contigs; equal contigs are judged once. The summary compares each variant with the first: geometric means
of NGA50 and auNGA, sums of misassemblies and of wrong bases, and mean genome fraction.
"""

from __future__ import annotations

import csv
import hashlib
import os
import shlex
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

import click
from assembler_runs import ReadSet, Row, checksum, read_sheet
from make_sets import SETS
from processes import measure_or_none
from quast import run_quast
from record import record


@dataclass(frozen=True)
class Variant:
    """Options of ``gpuasm assemble``, and the checkout to run; None for this one."""

    name: str
    options: tuple[str, ...]
    code: str | None

    @classmethod
    def of(cls, text: str, codes: Sequence[str]) -> Variant:
        name, _, options = text.partition("=")
        return cls(name, tuple(shlex.split(options)), dict(one.split("=", 1) for one in codes).get(name))


def panel_of(sets: Sequence[ReadSet], isolates: int) -> list[ReadSet]:
    """Return the isolates of the panel that are there."""
    with SETS.open(newline="") as file:
        names = [row["name"] for row in csv.DictReader(file, delimiter="\t") if not row["community"]]
    order = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    known = {one.name: one for one in sets if one.reference}
    found = [known[name] for name in order if name in known][:isolates]
    if len(found) < isolates:
        print(f"the sheet has {len(found)} of {isolates} isolates", flush=True)
    return found


class Judge:
    """Runs QUAST once for equal contigs of one set, several at a time."""

    def __init__(self, program: str, jobs: int) -> None:
        self._program, self._pool = shlex.split(program), ThreadPoolExecutor(jobs)
        self._known: dict[tuple[str, str], Future[Row]] = {}
        self._lock = threading.Lock()

    def figures(self, of: ReadSet, contigs: Path, folder: Path) -> Future[Row]:
        key = (of.name, checksum(contigs))
        with self._lock:
            if key not in self._known:
                run = self._pool.submit(
                    run_quast, self._program, contigs, of.reference, folder=folder / "quast", threads=1
                )
                self._known[key] = run
            return self._known[key]


def assemble(of: ReadSet, variant: Variant, folder: Path, *, device: str, threads: int) -> tuple[float, Path] | None:
    """Return the seconds that one assembly took, and its contigs; None if it failed."""
    first, second = (str(path) for path in of.reads)
    reads = ["-1", first, "-2", second] if of.layout == "pairs" else [first, second]
    command = ["-m", "gpuasm", "assemble", "-q", *reads, "-o", str(folder / "out")]
    command += ["--device", device, "-t", str(threads), *variant.options]
    path = os.pathsep.join([variant.code or "", os.environ.get("PYTHONPATH", "")])
    code = ["env", f"PYTHONPATH={path}"] if variant.code else []
    start = time.perf_counter()
    usage = measure_or_none([*code, sys.executable, *command], folder=folder, log=folder / "log")
    seconds = time.perf_counter() - start
    if usage is None:
        print(f"{variant.name} {of.name}: {(folder / 'log').read_text()[-300:]}", flush=True)
        return None
    return seconds, folder / "out" / "contigs.fasta"


def summarise(rows: Sequence[Row], base: Sequence[Row]) -> Row:
    """Compare rows of one variant with those of the first, over the sets that both have."""
    own, other = ({row["set"]: row for row in side} for side in (rows, base))
    both = sorted(own.keys() & other.keys())

    def ratio(key: str) -> float:
        pairs = [(own[name].get(key), other[name].get(key)) for name in both]
        logs = [log(one / two) for one, two in pairs if one and two]
        return exp(sum(logs) / len(logs)) if logs else 1.0

    def total(side: dict[str, Row], key: str) -> float:
        return sum(side[name].get(key) or 0 for name in both)

    result: Row = {"sets": len(both), "nga50_ratio": ratio("nga50"), "aunga_ratio": ratio("aunga")}
    for key in ("misassemblies", "wrong_bases", "seconds"):
        result[key], result[f"{key}_first"] = total(own, key), total(other, key)
    difference = total(own, "genome_fraction") - total(other, "genome_fraction")
    return {
        **result,
        "genome_fraction_difference": difference / max(1, len(both)),
        "differ": sum(own[name]["contigs_sha256"] != other[name]["contigs_sha256"] for name in both),
    }


def _row(of: ReadSet, variant: Variant, seconds: float, contigs: Path, figures: Row) -> Row:
    wrong = (figures.get("mismatches_per_100k") or 0) + (figures.get("indels_per_100k") or 0)
    aligned = figures.get("aligned") or 0
    return {
        "variant": variant.name,
        "set": of.name,
        "seconds": round(seconds, 2),
        "contigs_sha256": checksum(contigs)[:16],
        "wrong_bases": round(wrong * aligned / 1e5, 1),
        **{key: figures.get(key) for key in ("nga50", "aunga", "misassemblies", "genome_fraction", "duplication")},
    }


@click.command()
@click.argument("sheet", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--variant", "variants", multiple=True, required=True, help="NAME or NAME=OPTIONS; the first is the base."
)
@click.option("--code", "codes", multiple=True, help="NAME=CHECKOUT that the variant is run from.")
@click.option("--communities", type=click.Path(exists=True, path_type=Path), help="Sheet of communities.")
@click.option("--isolates", default=40)
@click.option("--device", default="cpu")
@click.option("--jobs", default=1, help="Assemblies at a time.")
@click.option("--threads", default=2)
@click.option("--quast", default="quast.py", help="QUAST's command.")
@click.option("--quast-jobs", default=2)
@click.option("--deadline", default=0.0, help="Seconds after which no assembly is begun; 0 for none.")
@click.option("--json", "json_path", type=click.Path(path_type=Path))
def main(sheet: Path, variants: Sequence[str], codes: Sequence[str], **options: Any) -> None:
    """Assemble the panel by each variant, judge the contigs, and print the comparison."""
    start, compared = time.monotonic(), [Variant.of(text, codes) for text in variants]
    communities = read_sheet(options["communities"]) if options["communities"] else []
    kinds = {one.name: "community" for one in communities}
    sets = communities + panel_of(read_sheet(sheet), options["isolates"])  # communities first: they take longest
    judge, judged = Judge(options["quast"], options["quast_jobs"]), []

    def run(one: tuple[Variant, ReadSet]) -> None:
        variant, of = one
        if options["deadline"] and time.monotonic() - start > options["deadline"]:
            return
        place = folder / variant.name / of.name
        place.mkdir(parents=True)
        done = assemble(of, variant, place, device=options["device"], threads=options["threads"])
        if done:
            judged.append((of, variant, *done, judge.figures(of, done[1], place)))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ThreadPoolExecutor(options["jobs"]) as pool:
            list(pool.map(run, [(variant, of) for variant in compared for of in sets]))
        rows = [
            {"kind": kinds.get(of.name, "isolate"), **_row(of, variant, took, contigs, run.result())}
            for of, variant, took, contigs, run in judged
        ]
    summary = []
    for variant in compared:
        for kind in sorted({row["kind"] for row in rows}):
            own, base = (
                [row for row in rows if (row["variant"], row["kind"]) == (one.name, kind)]
                for one in (variant, compared[0])
            )
            entry = {"variant": variant.name, "options": " ".join(variant.options), "of": kind, **summarise(own, base)}
            print(entry, flush=True)
            summary.append(entry)
    record(options["json_path"], "panel", {"isolates": options["isolates"]}, [*summary, *rows])


if __name__ == "__main__":
    main()
