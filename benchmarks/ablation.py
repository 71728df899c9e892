"""Leave out each stage and rule of gpuasm in turn, and measure the effect on the contigs by QUAST.

    python benchmarks/ablation.py sheet.tsv --json benchmarks/results/ablation.json
    python benchmarks/ablation.py sheet.tsv --gpus 2 --jobs 10 --deadline 400 --json benchmarks/results/ablation.json

The sheet is one of ``assemblers.py``. A set whose reference is a table (``.tsv``) is a community: the table has the
columns genome, reference and fold of ``community.py``, and MetaQUAST is run on the contigs. Of a set without a
reference QUAST reports N50 and the number of contigs. QUAST is not run on contigs that equal those of all rules.
``--sets`` takes some sets only, ``--without`` some rules only, ``--pairs`` a table of sets and rules in the order of
the runs, and ``--missing`` only rows that the JSON does not have. Other rows are kept. Sets named in ``--pairs`` are
assembled with all rules first. ``--entry`` is the entry of the JSON.
"""

from __future__ import annotations

import csv
import queue
import shlex
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from ablation_tables import KEPT
from assembler_runs import ReadSet, Row, checksum, command_of, on_device, places_of, read_sheet, run_assembler
from community import Member, read_members
from processes import require_programs
from quast import LEAST_LENGTH, run_metaquast, run_quast
from record import record
from result_files import read_entries

from gpuasm import __version__
from gpuasm.assembly.options import RULES

NOTHING = "nothing"


@dataclass(frozen=True)
class Bench:
    """Commands and resources of all runs.

    Attributes
    ----------
    quast, metaquast : list of str
        The commands.
    threads : int
        Of each assembly, and of each QUAST.
    places : Queue of int
        A number for each assembly that may run at the same time: that of its GPU, or -1 for the CPU.
    communities : Semaphore
        Limits the assemblies of communities, which need much memory.
    """

    quast: list[str]
    metaquast: list[str]
    threads: int
    places: queue.Queue[int]
    communities: threading.Semaphore

    @classmethod
    def of(cls, commands: tuple[list[str], list[str]], *, threads: int, jobs: int, gpus: int) -> Bench:
        return cls(*commands, threads, places_of(jobs, gpus), threading.Semaphore(max(1, jobs // 2)))

    @contextmanager
    def place(self, *, is_community: bool) -> Iterator[int]:
        """Wait until another assembly may run; yield its place."""
        with self.communities if is_community else nullcontext():
            number = self.places.get()
            try:
                yield number
            finally:
                self.places.put(number)


def members_of(reads: ReadSet) -> list[Member]:
    """Return the genomes of a community; none for an isolate."""
    return read_members(reads.reference) if reads.reference and reads.reference.suffix == ".tsv" else []


def make_row(reads: ReadSet, without: str, bench: Bench, *, baseline: Callable[[], Row | None]) -> Row:
    """Assemble a set without a rule, or with all of them, and return QUAST's figures of the contigs.

    Parameters
    ----------
    reads, without
        The set and the rule.
    bench
        With what.
    baseline
        Waits for the row of the set with all rules, if there is one: contigs of the same bytes are not judged again.
    """
    row: Row = {"set": reads.name, "without": without, "version": __version__, "threads": bench.threads}
    is_community = bool(members_of(reads))
    extra = () if without == NOTHING else ("--without", without)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with bench.place(is_community=is_community) as place:
            command = command_of("gpuasm", reads, folder / "work", threads=bench.threads, extra=extra)
            usage = run_assembler(on_device(command, place), folder)
        if usage is None:
            return {**row, "failed": True, "quast": {}}
        row |= {"failed": False, **usage.as_dict(), "contigs_sha256": checksum(command.contigs)}
        whole = baseline()
        if whole and whole.get("contigs_sha256") == row["contigs_sha256"]:
            return row | {key: whole[key] for key in ("quast", "genomes") if key in whole}
        return row | judged(command.contigs, reads, bench, folder=folder / "quast")


def judged(contigs: Path, reads: ReadSet, bench: Bench, *, folder: Path) -> Row:
    """Return the figures of contigs, and of a community's members."""
    if members := members_of(reads):
        references = {member.name: member.reference for member in members}
        total, each = run_metaquast(bench.metaquast, contigs, references, folder=folder, threads=bench.threads)
        genomes = [{"genome": one.name, "fold": one.fold, **_kept(each[one.name])} for one in members]
        return {"quast": _kept(total), "genomes": genomes}
    return {"quast": _kept(run_quast(bench.quast, contigs, reads.reference, folder=folder, threads=bench.threads))}


def _kept(figures: Row) -> Row:
    return {key: value for key, value in figures.items() if key in KEPT}


def read_pairs(path: Path, sets: Sequence[ReadSet]) -> list[tuple[ReadSet, str]]:
    """Return the sets and rules of a table with the columns set and without, after the sets with all rules."""
    known = {reads.name: reads for reads in sets}
    with path.open(newline="") as file:
        table = csv.DictReader(file, delimiter="\t")
        if not {"set", "without"} <= set(table.fieldnames or ()):
            sys.exit(f"{path}: line 1: expected a header with the columns set and without, separated by a tab")
        rows = [(row["set"], row["without"]) for row in table]
    if unknown := [pair for pair in rows if pair[0] not in known or pair[1] not in (NOTHING, *RULES)]:
        sys.exit(f"{path}: no such set or rule: {unknown[0]}")
    return [(known[name], rule) for name, rule in dict.fromkeys([*((name, NOTHING) for name, _ in rows), *rows])]


def kept_rows(path: Path | None, entry: str) -> list[Row]:
    rows: list[Row] = read_entries(path).get(entry, {}).get("rows", [])
    return rows


class Runs:
    """Make rows in parallel and write each to the JSON at once."""

    def __init__(self, bench: Bench, path: Path | None, *, entry: str, deadline: float) -> None:
        self.bench, self.path, self.entry, self.deadline = bench, path, entry, time.monotonic() + deadline
        self.rows = {(row["set"], row["without"]): row for row in kept_rows(path, entry)}
        self.lock = threading.Lock()
        self.has_baseline: dict[str, threading.Event] = {}

    def make(self, jobs: Sequence[tuple[ReadSet, str]]) -> int:
        """Make rows, those with all rules first; return how many the deadline left out."""
        jobs = sorted(jobs, key=lambda job: job[1] != NOTHING)
        self.has_baseline = {reads.name: threading.Event() for reads, without in jobs if without == NOTHING}
        n = self.bench.places.qsize()
        with ThreadPoolExecutor(n if n == 1 else 2 * n) as pool:  # QUAST and the next assembly run at the same time
            futures = [pool.submit(self._one, reads, without) for reads, without in jobs]
            return sum(not future.result() for future in as_completed(futures))

    def _one(self, reads: ReadSet, without: str) -> bool:
        if without != NOTHING:
            return self._made(reads, without)
        try:
            return self._made(reads, without)
        finally:
            self.has_baseline[reads.name].set()

    def _baseline(self, name: str) -> Row | None:
        if name in self.has_baseline:
            self.has_baseline[name].wait()
        return self.rows.get((name, NOTHING))

    def _made(self, reads: ReadSet, without: str) -> bool:
        if time.monotonic() > self.deadline:
            return False
        try:
            wait = (lambda: None) if without == NOTHING else partial(self._baseline, reads.name)
            row = make_row(reads, without, self.bench, baseline=wait)
        except SystemExit as error:  # QUAST failed: continue with the other sets and rules
            print(error, flush=True)
            row = {"set": reads.name, "without": without, "failed": True, "quast": {}}
        shown = {name: row["quast"].get(name) for name in ("nga50", "n50", "misassemblies", "genome_fraction")}
        with self.lock:
            print(reads.name, without, row.get("wall_s"), shown, flush=True)
            self.rows[reads.name, without] = row
            record(self.path, "ablation", {"least_length": LEAST_LENGTH}, list(self.rows.values()), key=self.entry)
        return True


@click.command(help=__doc__)
@click.argument("sheet", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--sets", multiple=True, metavar="NAME", help="Take this set only; may be repeated.")
@click.option("--without", "rules", multiple=True, type=click.Choice([NOTHING, *RULES]), help="Only this; repeatable.")
@click.option("--pairs", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Sets and rules, in order.")
@click.option("--missing", is_flag=True, help="Make only rows that the JSON does not have.")
@click.option("--entry", default="isolates", show_default=True, metavar="NAME", help="Entry of the JSON.")
@click.option("--gpus", default=0, show_default=True, help="GPUs to assemble on, in turn; 0: the CPU.")
@click.option("--jobs", default=1, show_default=True, help="Assemblies at the same time.")
@click.option("--deadline", default=float("inf"), metavar="SECONDS", help="Begin no assembly after so many seconds.")
@click.option("--quast", default="quast.py", show_default=True, metavar="COMMAND", help="QUAST 5.2 or later.")
@click.option("--metaquast", default="metaquast.py", show_default=True, metavar="COMMAND", help="For communities.")
@click.option("--threads", "-t", default=2, show_default=True)
@click.option("--json", "path", type=click.Path(dir_okay=False, path_type=Path), help="Results, kept and added to.")
def main(
    *, sheet: Path, sets: tuple[str, ...], rules: tuple[str, ...], pairs: Path | None, missing: bool, entry: str,
    gpus: int, jobs: int, deadline: float, quast: str, metaquast: str, threads: int, path: Path | None,
) -> None:  # fmt: skip
    chosen = [reads for reads in read_sheet(sheet) if not sets or reads.name in sets]
    commands = shlex.split(quast), shlex.split(metaquast)
    is_mixed = any(members_of(reads) for reads in chosen)
    require_programs([commands[0][0], *([commands[1][0]] if is_mixed else [])])
    runs = Runs(Bench.of(commands, threads=threads, jobs=jobs, gpus=gpus), path, entry=entry, deadline=deadline)
    requested = [(reads, rule) for rule in rules or (NOTHING, *RULES) for reads in chosen]
    if pairs:
        requested = [job for job in read_pairs(pairs, chosen) if not rules or job[1] in (NOTHING, *rules)]
    requested = [job for job in requested if not missing or (job[0].name, job[1]) not in runs.rows]
    if left := runs.make(requested):
        sys.exit(f"{left} assemblies not begun at the deadline; --missing makes them")


if __name__ == "__main__":
    main()
