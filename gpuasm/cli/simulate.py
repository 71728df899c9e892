"""``gpuasm simulate``: genomes with repeats, and reads with errors; the same bytes for the same arguments."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.paths import INPUT, OUTPUT
from gpuasm.cli.ranges import MOST_ITEMS, SEED, Finite, Whole
from gpuasm.errors import ResourceError, UsageError
from gpuasm.io.numbers import real_number, whole_number
from gpuasm.threads import set_threads

if TYPE_CHECKING:
    from gpuasm.sequence.genomes import Molecule
    from gpuasm.sequence.simulation import ReadBlock, ReadSimulation

_BYTES_A_BASE = 28
"""What a base of a random genome takes while it is made: random bits, a number, codes."""
_MOST_COMPRESSED = 10
"""No reads of random quality are compressed so many times."""

_SEED = click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of all that is random.")


@click.group(name="simulate")
def command() -> None:
    """Simulate genomes, and reads with errors, from a seed.

    \b
    gpuasm simulate genome --length 100000 --repeats 3 --circular -o genome.fasta
    gpuasm simulate reads genome.fasta --fold 40 -1 reads_1.fastq.gz -2 reads_2.fastq.gz
    """


@command.command()
@click.option("--length", type=Whole(1, MOST_ITEMS), required=True, metavar="N", help="Bases of the chromosome.")
@click.option("--gc", type=Finite(0, 1), default=0.5, show_default=True, metavar="SHARE", help="Share of G and C.")
@click.option("--repeats", type=Whole(0), default=0, show_default=True, metavar="N", help="Repeated elements.")
@click.option("--repeat-length", type=Whole(1), default=1000, show_default=True, metavar="N", help="Bases of each.")
@click.option("--repeat-copies", type=Whole(1), default=2, show_default=True, metavar="N", help="Copies of each.")
@click.option(
    "--repeat-divergence",
    type=Finite(0, 1),
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help="Bases altered in each copy.",
)
@click.option("--circular", is_flag=True, help="Make the chromosome circular.")
@click.option("--plasmid", "plasmids", multiple=True, metavar="N[:COPIES]", help="Add a circular plasmid of N bases.")
@click.option(
    "--name", default="genome", show_default=True, metavar="NAME", help="Name of the chromosome; plasmids add to it."
)
@_SEED
@click.option("-o", "--output", type=OUTPUT, default="-", metavar="FILE", help="FASTA.  [default: standard output]")
def genome(output: Path, plasmids: tuple[str, ...], **options: Any) -> None:
    """Simulate a genome: independent bases, repeats on both strands, plasmids.

    \b
    gpuasm simulate genome --length 500000 --gc 0.4 --repeats 5 --repeat-length 2000 \\
        --circular --plasmid 8000:10 --seed 1 -o genome.fasta
    """
    from gpuasm.io import write_fasta

    molecules = _molecules(plasmids=plasmids, **options)
    write_fasta(
        output,
        [molecule.name for molecule in molecules],
        [molecule.description for molecule in molecules],
        [molecule.codes for molecule in molecules],
    )


def _molecules(*, name: str, length: int, circular: bool, plasmids: tuple[str, ...], **options: Any) -> list[Molecule]:
    from gpuasm.sequence.genomes import Repeats, simulate_molecule

    repeats = Repeats(
        options["repeats"], options["repeat_length"], options["repeat_copies"], options["repeat_divergence"]
    )
    shared = {"gc": options["gc"], "seed": options["seed"]}
    sizes = [_plasmid_size(text) for text in plasmids]
    _require_memory(length + sum(size for size, _ in sizes))
    chromosome = simulate_molecule(name, length, repeats=repeats, circular=circular, **shared)
    return [
        chromosome,
        *(
            simulate_molecule(f"{name}_plasmid_{number}", size, copies=copies, circular=True, **shared)
            for number, (size, copies) in enumerate(sizes, start=1)
        ),
    ]


def _require_memory(n_bases: int) -> None:
    from gpuasm.resources import format_bytes, process_limit, resident_bytes

    needed, free = _BYTES_A_BASE * n_bases, max(0, process_limit() - resident_bytes())
    if needed > free:
        what = f"{format_bytes(needed)} of memory for a genome of {n_bases:,} bases"
        raise ResourceError(what, f"{format_bytes(free)} free", "simulate a shorter one, or run where more is free")


def _plasmid_size(text: str) -> tuple[int, float]:
    parts = text.partition(":")
    size, copies = whole_number(parts[0]), real_number(parts[2] or "1")
    if size is None or copies is None:
        raise UsageError("a plasmid as N or N:COPIES", repr(text), "write for example --plasmid 8000:10")
    return size, copies


@command.command()
@click.argument("genomes", nargs=-1, required=True, type=INPUT)
@click.option(
    "--fold",
    type=Finite(min=0, min_open=True),
    default=40.0,
    show_default=True,
    metavar="X",
    help="Mean depth.",
)
@click.option("--length", type=Whole(1, MOST_ITEMS), default=150, show_default=True, metavar="N", help="Bases a read.")
@click.option(
    "--insert",
    type=Finite(),
    default=350.0,
    show_default=True,
    metavar="N",
    help="Mean length of a fragment, ends included.",
)
@click.option(
    "--insert-sd",
    type=Finite(min=0),
    default=50.0,
    show_default=True,
    metavar="N",
    help="Its standard deviation.",
)
@click.option("--error-rate", type=Finite(0, 0.25), metavar="P", help="Mean substitutions a base.  [default: 0.0025]")
@click.option(
    "--n-rate",
    type=Finite(0, 0.5),
    default=0.0,
    show_default=True,
    metavar="P",
    help="Share of bases read as N.",
)
@click.option("--single", is_flag=True, help="First mates only.")
@click.option("--circular", is_flag=True, help="All sequences are circular, whatever their files state.")
@click.option(
    "--abundance-sd",
    type=Finite(min=0),
    default=0.0,
    show_default=True,
    metavar="X",
    help="For a community: standard deviation of the logarithms of the genomes' abundances.",
)
@_SEED
@click.option("-1", "first", type=OUTPUT, required=True, metavar="FILE", help="FASTQ of first mates; .gz compresses.")
@click.option("-2", "second", type=OUTPUT, metavar="FILE", help="FASTQ of second mates.")
@click.option("--truth", type=OUTPUT, metavar="FILE", help="TSV of where each read comes from, from 0 on.")
@click.option("-t", "--threads", type=Whole(1), metavar="N", help="CPU threads.  [default: all allowed]")
def reads(
    genomes: tuple[Path, ...],
    *,
    circular: bool,
    abundance_sd: float,
    first: Path,
    second: Path | None,
    truth: Path | None,
    threads: int | None,
    **options: Any,
) -> None:
    """Simulate reads of GENOMES with the errors of a HiSeq 2500, from one FASTA, GenBank or EMBL file for each genome.

    Files may be compressed. A FASTA header may contain circular=yes and copies=N. Several files make a community; its
    mean depth is --fold.

    \b
    gpuasm simulate reads genome.fasta --fold 60 -1 reads_1.fastq.gz -2 reads_2.fastq.gz
    gpuasm simulate reads a.fasta b.fasta.gz c.fasta --abundance-sd 1.5 --seed 7 \\
        -1 community_1.fastq.gz -2 community_2.fastq.gz --truth truth.tsv
    """
    from gpuasm.io.genomes import read_genome
    from gpuasm.sequence.simulation import ReadOptions, ReadSimulation, log_normal_abundances

    paths = _output_paths(first, second, truth, single=options["single"])
    set_threads(threads)
    abundances = log_normal_abundances(len(genomes), abundance_sd, options["seed"])
    molecules = [read_genome(path, circular=circular) for path in genomes]
    simulation = ReadSimulation(molecules, ReadOptions(**options), abundances)
    _require_room(simulation, paths[: 1 if options["single"] else 2])
    _write_reads(simulation, paths, with_truth=truth is not None)


def _output_paths(first: Path, second: Path | None, truth: Path | None, *, single: bool) -> list[Path]:
    if single == (second is not None):
        found = "-2 with --single" if single else "no -2"
        raise UsageError("-1 and -2, or -1 and --single", found, "name one file for each mate that is simulated")
    return [path for path in (first, second, truth) if path is not None]


def _require_room(simulation: ReadSimulation, paths: list[Path]) -> None:
    """Refuse more reads than the disk has room for, as a header of a million copies demands."""
    from gpuasm.resources import require_disk

    for path in paths:
        n_bytes = 2 * simulation.options.length * simulation.n_pairs
        if not path.exists() or path.is_file():  # no pipe, and no device
            require_disk(path, n_bytes // _MOST_COMPRESSED if path.suffix == ".gz" else n_bytes)


def _write_reads(simulation: ReadSimulation, paths: list[Path], *, with_truth: bool) -> None:
    from gpuasm.io.output import atomic_output, outputs_together

    writers = [_compressor(path) for path in paths]

    def finish(block: ReadBlock) -> list[Any]:
        texts = [*block.mates, *([_truth_text(simulation, block)] if with_truth else [])]
        return [compress(text) for compress, text in zip(writers, texts, strict=True)]

    with outputs_together(), contextlib.ExitStack() as stack:
        files = [stack.enter_context(atomic_output(path, "wb")) for path in paths]
        if with_truth:
            files[-1].write(writers[-1](b"read\tgenome\tposition\tstrand\tinsert\n"))
        for texts in simulation.blocks(finish):
            for file, text in zip(files, texts, strict=True):
                file.write(text)


def _compressor(path: Path) -> Callable[[Any], Any]:
    """Return what makes bytes ready for a file: each block becomes a gzip member where the name ends in .gz."""
    from isal import igzip

    return (lambda data: igzip.compress(data, 1, mtime=0)) if path.suffix == ".gz" else (lambda data: data)


def _truth_text(simulation: ReadSimulation, block: ReadBlock) -> bytes:
    """Return a row for each read: its leftmost base on the forward strand, and the strand it is read from."""
    return "".join(_truth_rows(simulation, block)).encode()


def _truth_rows(simulation: ReadSimulation, block: ReadBlock) -> Iterator[str]:
    molecules, read_length, n_mates = simulation.molecules, simulation.options.length, len(block.mates)
    columns = (block.molecule, block.start, block.insert, block.reverse)
    for number, (chosen, start, insert, reverse) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True), start=block.first + 1
    ):
        molecule = molecules[chosen]
        right = (start + insert - read_length) % molecule.codes.size
        for mate in range(n_mates):
            position, strand = (right, "-") if reverse != (mate == 1) else (start, "+")
            yield f"{molecule.name}_{number}/{mate + 1}\t{molecule.name}\t{position}\t{strand}\t{insert}\n"
