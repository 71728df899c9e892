"""``gpuasm selftest``: compare the contigs of a small assembly between devices, numbers of threads and read orders."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from gpuasm.sequence.reads import Reads

_GENOME_LENGTH = 40_000


@dataclass(frozen=True)
class Trial:
    """The setting of one assembly of the same reads."""

    device: str
    threads: int
    shuffled: bool

    @property
    def title(self) -> str:
        order = ", reads in another order" if self.shuffled else ""
        return f"{self.device}, {self.threads} thread{'s' * (self.threads > 1)}{order}"


@click.command(short_help="Show that every device and number of threads gives the same contigs.")
@click.option(
    "--device",
    "only",
    default="all",
    show_default=True,
    metavar="NAME",
    help="all, cpu or cuda:N; the CPU is always included for comparison.",
)
def command(*, only: str) -> None:
    """Assemble a small simulated genome in several settings and compare the checksums of the contigs.

    The settings are one and two threads on the CPU, another order of the reads, and each CUDA device. Exits with 1 if
    any two results differ. Loops that are not yet compiled are compiled and kept, as by gpuasm warmup.

    \b
    Example:
      gpuasm selftest --device cuda:0
    """
    from gpuasm import resources
    from gpuasm.driver import compute_capability
    from gpuasm.precompilation import compiling_in_background
    from gpuasm.threads import set_threads, thread_count

    devices, checksums = _devices(only), set()
    threads, memory = thread_count(), resources.memory_budget()
    try:
        for device in devices:
            capability = partial(compute_capability, device)
            with compiling_in_background(threads=threads, memory=memory, capability=capability):
                for trial in _trials(device):
                    checksum, found = _run(trial, _simulated_reads(shuffled=trial.shuffled))
                    click.echo(f"{checksum}  {trial.title}: {found}")
                    checksums.add(checksum)
    finally:
        set_threads(None)
    if len(checksums) > 1:
        raise click.ClickException("the contigs differ: please report this with the lines above")
    click.echo("passed: the contigs are the same")


def _devices(only: str) -> list[str]:
    from gpuasm import arrays

    if only == "all":
        return ["cpu", *(properties["device"] for properties in arrays.device_properties())]
    arrays.namespace_of(only)  # raises an error before the trials of the CPU, not after them
    return ["cpu"] if only == "cpu" else ["cpu", only]


def _trials(device: str) -> Iterator[Trial]:
    if device == "cpu":
        yield Trial(device, 1, shuffled=False)
    yield Trial(device, 2, shuffled=False)
    yield Trial(device, 2, shuffled=True)


def _run(trial: Trial, reads: Reads) -> tuple[str, str]:
    """Return the checksum of the contigs, and their number and length as text."""
    from gpuasm import arrays
    from gpuasm.assembly.pipeline import AssemblyOptions, assemble
    from gpuasm.threads import set_threads

    set_threads(trial.threads)
    on_device = reads.moved_to(arrays.namespace_of(trial.device))
    contigs = assemble(on_device, AssemblyOptions()).contigs
    n_bases = sum(contig.length for contig in contigs)
    if n_bases < 0.9 * _GENOME_LENGTH:
        msg = f"{trial.title}: only {n_bases:,} of {_GENOME_LENGTH:,} bases were assembled"
        raise click.ClickException(msg)
    return contigs_checksum(contigs), f"{len(contigs)} contigs, {n_bases:,} bases"


def contigs_checksum(contigs: Sequence[Any]) -> str:
    """Return the sha256 of names, properties and sequences of contigs, in their order."""
    digest = hashlib.sha256()
    for contig in contigs:
        header = f">{contig.name} {contig.length} {contig.depth:.1f} {contig.copies} {contig.is_circular}\n"
        digest.update(header.encode() + contig.sequence.encode() + b"\n")
    return digest.hexdigest()


def _simulated_reads(*, shuffled: bool) -> Reads:
    """Simulate a genome with repeats, and read pairs with errors, optionally in another order of pairs.

    The reads are written to files and read from them, as those of a user.
    """
    from gpuasm.io.reading import read_reads
    from gpuasm.sequence.genomes import Repeats, simulate_molecule
    from gpuasm.sequence.simulation import ReadOptions, ReadSimulation, read_texts

    repeats = Repeats(families=3, length=600, copies=3)
    molecule = simulate_molecule("selftest", _GENOME_LENGTH, repeats=repeats, circular=True, seed=1)
    texts = read_texts(ReadSimulation([[molecule]], ReadOptions(fold=30.0, seed=1)))
    pairs = list(zip(texts[::2], texts[1::2], strict=True))
    if shuffled:
        pairs.sort(key=lambda pair: hashlib.sha256("".join(pair).encode()).digest())
    with TemporaryDirectory(prefix="gpuasm-") as name:
        first, second = (Path(name) / f"reads_{mate}.fastq.gz" for mate in (1, 2))
        for path, mates in zip((first, second), zip(*pairs, strict=True), strict=True):
            records = (f"@{number}\n{text}\n+\n{'I' * len(text)}\n" for number, text in enumerate(mates))
            path.write_bytes(gzip.compress("".join(records).encode(), 1))
        return read_reads(pairs=[(first, second)]).reads
