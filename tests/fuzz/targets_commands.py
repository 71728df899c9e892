"""Fuzzed commands: each is called in this process with a mutated input, or with mutated options."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.fuzz import targets_archives, targets_graphs, targets_reads, targets_tables
from tests.fuzz.target import Target, command, run
from tests.fuzz.targets_reads import fastq
from tests.samples import simulated_genome, simulated_texts

KIND = "commands"
_MOST = 100_000
"""Larger numbers that an option takes would only mean much work."""


@functools.cache
def _genome_reads() -> bytes:
    reads = simulated_texts(simulated_genome(length=400, repeat_length=100), fold=15, length=60, error_rate=0.003)
    return b"".join(b"@r%d\n%s\n+\n%s\n" % (i, read.encode(), b"I" * len(read)) for i, read in enumerate(reads))


def _reads(_: Path) -> list[bytes]:
    return [_genome_reads()]


def _with(line: str, **others: bytes) -> Callable[[Path], None]:
    """Return the function that calls a command with a mutated file, and others that stay."""
    call = command(line)

    def read(path: Path) -> None:
        for name, data in others.items():
            (path.parent / name).write_bytes(data)
        call(path)

    return read


def _resume(path: Path) -> None:
    """Resume an assembly with a mutated checkpoint: its reads and options are those of a run before."""
    reads, folder = path.with_name("reads"), path.with_name("resumed")
    stored = folder / ".checkpoint.npz"
    line = "assemble --single {input} -o {folder}/resumed -k 31,41 --stop-after first-graph"
    if not reads.exists():
        reads.write_bytes(_genome_reads())
        command(line)(reads)
    stored.write_bytes(path.read_bytes())
    command(f"{line} --resume")(reads)


def _checkpoints(folder: Path) -> list[bytes]:
    reads, stored = folder / "reads", folder / "resumed" / ".checkpoint.npz"
    reads.write_bytes(_genome_reads())
    command("assemble --single {input} -o {folder}/resumed -k 31,41 --stop-after first-graph")(reads)
    return [stored.read_bytes()]


def _contigs(_: Path) -> list[bytes]:
    rng = np.random.default_rng(5)
    bases = ["".join(rng.choice(list("ACGT"), n, p=p)) for n, p in ((3000, [0.4, 0.1, 0.1, 0.4]), (2600, [0.25] * 4))]
    return ["".join(f">{name} depth=3\n{text}\n" for name, text in zip("ab", bases, strict=True)).encode()]


def _table(_: Path) -> list[bytes]:
    rows = np.random.default_rng(6).normal(size=(12, 3)).round(3)
    lines = [f"r{i}\t" + "\t".join(map(str, row)) for i, row in enumerate(rows.tolist())]
    return ["\n".join(["name\tx\ty\tz", *lines, ""]).encode()]


def _graphs(_: Path) -> list[bytes]:
    named = targets_graphs
    return [named.EDGES, named.WEIGHTED, named.ADJACENCY, named.MTX, named.PATTERN, named.GFA]


def _report(path: Path) -> None:
    folder = path.with_name("one")
    folder.mkdir(exist_ok=True)
    name = ("run.json", "contigs.tsv", "spectrum.tsv")[path.stat().st_size % 3]
    (folder / name).write_bytes(path.read_bytes())
    run(["report", str(folder), "--summary", f"{path}.summary", "-o", f"{path}.html"])


def _run_files(_: Path) -> list[bytes]:
    from tests.fuzz.targets_runs import RUN

    return [text.encode() for text in RUN.values()]


def _options(line: str) -> Callable[[Path], None]:
    """Return the function that calls a command with options from a file, a line each."""

    def call(path: Path) -> None:
        given = path.read_bytes().decode(errors="replace").replace("\0", "").split("\n")
        given = [_bounded(text) for text in given if not text.startswith(("/", "-o", "--output"))]
        run([*line.format(folder=path.parent).split(), *given])

    return call


def _bounded(text: str) -> str:
    try:
        value = int(text)
    except ValueError:
        return text
    return str(value % _MOST) if _MOST < value < 1 << 62 else text


def _option_seeds(*lines: str) -> Callable[[Path], list[bytes]]:
    return lambda _: [line.replace(" ", "\n").encode() for line in lines]


_GENBANK = targets_tables.GENBANK.replace(b" 4 bp", b" 56 bp").replace(b"acgt", b"acgttgcattgacc" * 4)
_LABELS = b"a\t10\t20\nb\t-30\t170\n"
_FILES: dict[str, tuple[Callable[[Path], None], Callable[[Path], list[bytes]]]] = {
    "assemble": (command("assemble --single {input} -o {folder}/assembly --force"), _reads),
    "assemble --resume": (_resume, _checkpoints),
    "assemble --bam": (
        command("assemble --bam {input} -o {folder}/bam"),
        lambda folder: targets_reads.alignments(folder, "BAM"),
    ),
    "check": (command("check {input} --json {folder}/check.json"), _reads),
    "check -1 -2": (
        _with("check -1 {input} -2 {folder}/other", other=fastq(6, mate=2, seed=2)),
        lambda _: [fastq(6)],
    ),
    "count": (command("count {input} -k 21 -o {folder}/counts.npz --spectrum {folder}/s.tsv"), _reads),
    "unitigs": (command("unitigs {input} -k 21 -o {folder}/u.gfa --fasta {folder}/u.fasta"), _reads),
    "depth": (_with("depth {input} s={folder}/reads -o {folder}/depth", reads=fastq(6)), _contigs),
    "depth s=": (
        _with("depth {folder}/contigs s={input} -o {folder}/depth", contigs=_contigs(Path())[0]),
        _reads,
    ),
    "depth SHEET": (
        _with("depth {folder}/contigs {input} -o {folder}/depth --skip-bad", contigs=_contigs(Path())[0]),
        lambda _: [b"sample\treads_1\treads_2\na\tx_1\tx_2\nb\ty\t\n"],
    ),
    "bin": (command("bin {input} -o {folder}/bins --no-depth --window 500"), _contigs),
    "bin --depth": (
        _with("bin {folder}/contigs -o {folder}/bins --depth {input} --window 500", contigs=_contigs(Path())[0]),
        lambda _: [targets_tables.DEPTH.replace(b"\t9\t", b"\t3000\t").replace(b"\t8\t", b"\t2600\t")],
    ),
    "relate": (
        command("relate {input} -o {folder}/related --each-sequence"),
        lambda _: [targets_reads.fasta(4), *targets_tables.signatures(_)],
    ),
    "geolocate": (
        _with("geolocate {input} {folder}/places -o {folder}/located --method gunrock", places=_LABELS),
        lambda _: [targets_graphs.WEIGHTED, targets_graphs.ADJACENCY],
    ),
    "geolocate LABELS": (
        _with("geolocate {folder}/graph {input} --geojson {folder}/g.json", graph=targets_graphs.WEIGHTED),
        lambda _: [_LABELS, targets_tables.LABELS],
    ),
    "som train": (command("som train {input} -o {folder}/som --size 3x4 --epochs 2"), _table),
    "som map": (_with("som map {input} {folder}/rows", rows=_table(Path())[0]), targets_archives.maps),
    "graph info": (command("graph info {input}", common=""), _graphs),
    "graph convert": (command("graph convert {input} --format edges -o {folder}/c", common=""), _graphs),
    "graph edges": (command("graph edges {input}", common=""), targets_graphs.graph_archives),
    "euler": (command("euler {input} --path"), lambda _: [b"0 1\n1 2\n2 0\n", b"a -> b\nb -> a\n", b"0 1\n1 2\n"]),
    "euler --assembly": (command("euler {input} --assembly"), lambda _: [targets_graphs.GFA]),
    "pagerank": (command("pagerank {input} --weighted --compare"), _graphs),
    "densest": (command("densest {input} -k 2"), _graphs),
    "simulate reads": (
        command("simulate reads {input} --fold 2 -1 {folder}/1.fq -2 {folder}/2.fq -t 1 --length 20", common=""),
        lambda _: [b">a copies=2 circular=yes\n" + b"ACGTTGCATTGACC" * 10 + b"\n", _GENBANK],
    ),
    "report": (_report, _run_files),
    "debruijn": (
        _options("debruijn --memory 20M"),
        _option_seeds("--alphabet 01 --order 5 --linear", "--pin 3 --find 123"),
    ),
    "simulate genome": (
        _options("simulate genome --length 500"),
        _option_seeds("--gc 0.4 --repeats 2 --repeat-length 20", "--circular --plasmid 100:3 --seed 7"),
    ),
}
TARGETS = {f"gpuasm {name}": Target(KIND, read, seeds) for name, (read, seeds) in _FILES.items()}
