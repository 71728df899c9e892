"""Run each binner on contigs and a table of their depth, as a whole process; return what it took and its bins."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from processes import GPUASM, Usage, measure

LEAST_BIN = 200_000
"""Bases of a bin, by default of gpuasm, MetaBAT 2 and SemiBin2; VAMB has none."""
_FIRST_SAMPLE = 3
"""The column of the first sample's depth in a table as MetaBAT reads it; its variance is the next one."""
_LEAST_CONTIG = 2000
"""Bases of a contig that VAMB's authors recommend."""


@dataclass(frozen=True)
class Binned:
    """What is binned.

    Attributes
    ----------
    contigs
        As they are.
    plain
        The same with names alone in the headers, which some binners take for names as a whole.
    depth
        A table as MetaBAT reads it; None without any depth.
    is_given
        Whether the table was given, and not made of headers.
    halves
        The same table of the contigs cut in two, NAME_1 and NAME_2: SemiBin2 learns from halves. None without one.
    """

    contigs: Path
    plain: Path
    depth: Path | None
    is_given: bool
    halves: Path | None = None


Run = Callable[[Binned, Path, int], tuple[Usage, list[Path]]]
"""Bins in an empty folder with so many threads."""


def _gpuasm(binned: Binned, folder: Path, threads: int, options: Sequence[str] = ()) -> tuple[Usage, list[Path]]:
    out = folder / "out"
    if not options and binned.depth and binned.is_given:
        options = ["--depth", str(binned.depth)]
    command = [*GPUASM, "bin", binned.contigs, "-o", out, "-t", str(threads), "-q", *options]
    usage = measure(command, folder=folder, log=folder / "log")
    return usage, sorted((out / "bins").glob("bin_*.fasta"))


def _gpuasm_without_depth(binned: Binned, folder: Path, threads: int) -> tuple[Usage, list[Path]]:
    return _gpuasm(binned, folder, threads, ["--no-depth"])


def _metabat(binned: Binned, folder: Path, threads: int) -> tuple[Usage, list[Path]]:
    out = folder / "out"
    out.mkdir()
    command = ["metabat2", "-i", binned.plain, "-o", out / "bin", "-t", str(threads), "--seed", "1"]
    command += ["-a", binned.depth] if binned.depth else []
    usage = measure(command, folder=folder, log=folder / "log")
    return usage, sorted(out.glob("bin.*.fa"))


def _semibin(binned: Binned, folder: Path, threads: int) -> tuple[Usage, list[Path]]:
    """Train on these contigs, with the depth of their halves in five samples or more."""
    if binned.halves is None:
        raise ValueError("SemiBin2 needs depth of halves, or a trained model")
    return _run_semibin(binned, folder, threads, ["--self-supervised", "-a", *_abundances(binned.halves, folder)])


def _semibin_of_model(binned: Binned, folder: Path, threads: int) -> tuple[Usage, list[Path]]:
    """Take the model of all environments that SemiBin2's authors trained, which knows composition alone."""
    if binned.depth is None:
        raise ValueError("SemiBin2 needs depth")
    return _run_semibin(binned, folder, threads, ["--environment", "global", "--depth-metabat2", binned.depth])


def _run_semibin(binned: Binned, folder: Path, threads: int, options: Sequence[str | Path]) -> tuple[Usage, list[Path]]:
    out = folder / "out"
    command = ["SemiBin2", "single_easy_bin", "-i", binned.plain, "-o", out, "-p", str(threads), "--random-seed", "1"]
    usage = measure([*command, "--compression", "none", *options], folder=folder, log=folder / "log")
    return usage, sorted((out / "output_bins").glob("*.fa"))


def _vamb(binned: Binned, folder: Path, threads: int) -> tuple[Usage, list[Path]]:
    if binned.depth is None:
        raise ValueError("VAMB needs depth")
    names, samples = _depths(binned.depth)
    table = folder / "abundance.tsv"
    with table.open("w") as file:
        file.write("\t".join(["contigname", *samples]) + "\n")
        file.writelines("\t".join(row) + "\n" for row in zip(names, *samples.values(), strict=True))
    out = folder / "out"
    command = ["vamb", "bin", "default", "--outdir", out, "--fasta", binned.plain, "--abundance_tsv", table]
    command += ["-m", str(_LEAST_CONTIG), "--minfasta", str(LEAST_BIN), "-p", str(threads), "--seed", "1", "-o"]
    usage = measure(command, folder=folder, log=folder / "log")
    return usage, sorted((out / "bins").glob("*.fna"))


def _abundances(halves: Path, folder: Path) -> list[Path]:
    """Write the depth of each sample to a file of its own, as ``strobealign --aemb`` does."""
    names, samples = _depths(halves)
    paths = []
    for number, depths in enumerate(samples.values(), 1):
        paths.append(folder / f"sample_{number}.tsv")
        paths[-1].write_text("".join(f"{name}\t{depth}\n" for name, depth in zip(names, depths, strict=True)))
    return paths


def _depths(table: Path) -> tuple[list[str], dict[str, list[str]]]:
    """Return the contigs of a table as MetaBAT reads it, and the depths in each sample."""
    with table.open(newline="") as file:
        head, *rows = csv.reader(file, delimiter="\t")
    columns = range(_FIRST_SAMPLE, len(head), 2)
    return [row[0] for row in rows], {head[column]: [row[column] for row in rows] for column in columns}


BINNERS: dict[str, Run] = {
    "gpuasm": _gpuasm, "gpuasm --no-depth": _gpuasm_without_depth, "metabat2": _metabat, "semibin2": _semibin,
    "semibin2 --environment global": _semibin_of_model, "vamb": _vamb,
}  # fmt: skip
PROGRAMS = {
    "metabat2": "metabat2", "semibin2": "SemiBin2", "semibin2 --environment global": "SemiBin2", "vamb": "vamb",
}  # fmt: skip
"""The command of each peer."""
