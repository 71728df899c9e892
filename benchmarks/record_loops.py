"""Write down which compiled loops assemblies use, for `gpuasm.first_run`: gpuasm/loops.tsv.

    python benchmarks/record_loops.py --device cpu
    python benchmarks/record_loops.py --device cuda:0

Assembles simulated samples, of one organism and of several, deep and shallow, in pairs and single, and writes each loop
in the order of its first use, with the types that it is called with. Rows of the other device stay as they are. A test
tells when the table is out of date; nothing but the time of a first run depends on it.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

import click
import library_reads
from library_reads import KINDS

from gpuasm import first_run
from gpuasm.cli.assemble import command as assemble
from gpuasm.first_run_helper import signature_text

TABLE = Path(first_run.__file__).with_name("loops.tsv")
COLUMNS = ("kind", "module", "name", "signature")
SEVERAL = ("--abundance-sd", "1")
SAMPLES = {
    "deep": (),
    "shallow": ("--fold", "12"),
    "several": (*SEVERAL, "--fold", "25"),
    "short": ("--length", "75", "--insert", "300"),
    "long": ("--length", "250", "--insert", "350", "--fold", "30"),
    "sparse": ("--fold", "7", "--insert", "500"),
    "single": ("--single",),
    "nextera": ("--seed", "1", "--fold", "60"),
}
"""Options of ``gpuasm simulate reads``, or of `library_reads.py` where it has a kind of that name; first what most
samples look like, as its loops come first in the table."""


@click.command()
@click.option("--device", default="cpu", show_default=True)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=TABLE, help="The table, if not the shipped one."
)
def command(device: str, output: Path) -> None:
    """Record the loops of assemblies on a device."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        genomes = [simulated_genome(folder, number) for number in range(3)]
        reads = {sample: simulated_reads(folder / sample, genomes, options) for sample, options in SAMPLES.items()}
        # First in another process: where a loop is compiled, those that it calls would be noted too.
        first = get_context("spawn").Process(target=assemble_all, args=(folder, reads, device))
        first.start()
        first.join()
        if first.exitcode:
            sys.exit(first.exitcode)
        with first_run.noted_loops() as noted:
            assemble_all(folder, reads, device)
    own = (first_run.CPU,) if device == "cpu" else (first_run.HOST, first_run.CUDA)
    with TABLE.open(newline="") as file:
        others = [tuple(row.values()) for row in csv.DictReader(file, delimiter="\t") if row["kind"] not in own]
    rows = sorted([*others, *rows_of(noted, own)], key=lambda row: row[0] != first_run.CPU)
    with output.open("w", newline="") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows([COLUMNS, *rows])
    click.echo(f"{len(rows) - len(others)} loops of {device}, {len(others)} of others")


def simulated_genome(folder: Path, number: int) -> Path:
    """Simulate a genome in a process of its own, as loops count that this one uses."""
    genome = folder / f"{number}.fa"
    repeats = ("--repeats", 4, "--repeat-length", 700, "--repeat-copies", 3, "--circular", "--plasmid", "4000:3")
    gpuasm("simulate", "genome", "--length", 60_000, *repeats, "--seed", number, "--name", f"g{number}", "-o", genome)
    return genome


def simulated_reads(folder: Path, genomes: list[Path], options: tuple[str, ...]) -> list[Path]:
    """Simulate a sample, in a process of its own as well."""
    folder.mkdir()
    paths = [folder / f"{mate}.fastq.gz" for mate in range(2 - ("--single" in options))]
    chosen = genomes if options[: len(SEVERAL)] == SEVERAL else genomes[:1]
    named = [word for flag, path in zip(("-1", "-2"), paths, strict=False) for word in (flag, path)]
    if folder.name in KINDS:
        library_reads.main(
            [str(genomes[0]), f"{folder}/reads_", "--kind", folder.name, *options], standalone_mode=False
        )
        return [folder / "reads_1.fq", folder / "reads_2.fq"]
    gpuasm("simulate", "reads", *chosen, *options, *named)
    return paths


def gpuasm(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "gpuasm", *map(str, words)], check=True)


def assemble_all(folder: Path, reads: dict[str, list[Path]], device: str) -> None:
    """Assemble the samples in this process."""
    for sample, paths in reads.items():
        words = words_for(paths, folder / sample, device)
        assemble.main(words, standalone_mode=False, obj={"args": words})


def words_for(paths: list[Path], folder: Path, device: str) -> list[str]:
    named = ["--single", str(paths[0])] if len(paths) == 1 else ["-1", str(paths[0]), "-2", str(paths[1])]
    return [*named, "-q", "--device", device, "-o", str(folder / "assembly")]


def rows_of(noted: list[tuple[str, str, object]], kinds: tuple[str, ...]) -> list[tuple[str, str, str, str]]:
    """Return the rows of what was noted: PTX's signatures are names of types, numba's are its own."""
    rows = []
    for module, name, signature in noted:
        is_ptx = all(isinstance(one, str) for one in signature)
        text = " ".join(signature) if is_ptx else signature_text(tuple(signature))
        rows.append((kinds[-1] if is_ptx else kinds[0], module, name, text))
    return list(dict.fromkeys(rows))


if __name__ == "__main__":
    command()
