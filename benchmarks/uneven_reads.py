"""Reads of a genome that is unevenly covered, as libraries are: ART's pairs, of which some are left out.

    python benchmarks/uneven_reads.py GENOME OUT/NAME_ --fold 150 --seed 101

ART covers a genome evenly; sequencers do not. Each pair stays with a chance that falls with how far the GC content of
its fragment is from 48 % (a normal curve of 12 %), from the middle of a replicon of 500 kb and more to its ends (to
45 %), and from place to place (log-normal, sigma 0.35, a value every 800 bases and straight lines between). About a
third of the pairs stay. The same arguments give the same reads. ART 2.5.8 (doi:10.1093/bioinformatics/btr708) must be
on PATH.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click
import numpy as np
from library_reads import uneven
from processes import measure, require_programs

from gpuasm.io.genomes import read_genome

_BEST_GC, _WIDTH = 0.48, 0.17
_SIGMA, _AT_ENDS = 0.35, 0.45


def chances(codes: np.ndarray, insert: int, rng: np.random.Generator) -> np.ndarray:
    """Return how likely a pair stays whose fragment begins at each base, up to a factor: (n,) float64."""
    n = codes.size
    total = np.concatenate([[0.0], np.cumsum((codes == 1) | (codes == 2))])
    gc = (total[np.minimum(np.arange(n) + insert, n)] - total[:n]) / insert
    return np.exp(-(((gc - _BEST_GC) / _WIDTH) ** 2)) * uneven(n, rng, sigma=_SIGMA, at_ends=_AT_ENDS)


def begins(alignments: tuple[Path, Path], length: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the replicon of each pair, and where its fragment begins there."""
    for first, second in zip(*map(_places, alignments), strict=True):
        (name, at, strand), (_, its, _) = first, second
        begin, end = (at, its) if strand == "+" else (its, at)  # the second is counted from the other strand's end
        yield name, min(max(min(begin, length[name] - end), 0), length[name] - 1)


def _places(alignment: Path) -> Iterator[tuple[str, int, str]]:
    with alignment.open() as file:
        for line in file:
            if line.startswith(">"):
                name, _, at, strand = line[1:].rstrip("\n").split("\t")
                yield name.split()[0], int(at), strand


def thin(made: Path, out: Path, kept: np.ndarray) -> None:
    """Write the reads that stay."""
    with made.open() as file, out.open("w") as chosen:
        for keeps in kept.tolist():
            read = list(islice(file, 4))
            if keeps:
                chosen.writelines(read)


@click.command()
@click.argument("genome", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("prefix", type=click.Path(path_type=Path))
@click.option("--fold", default=150, show_default=True, help="Before pairs are left out.")
@click.option("--seed", default=1, show_default=True)
@click.option("--length", default=150, show_default=True)
@click.option("--insert", default=350, show_default=True)
@click.option("--sd", default=80, show_default=True)
@click.option("--profile", default="HS25", show_default=True)
def main(*, genome: Path, prefix: Path, fold: int, seed: int, length: int, insert: int, sd: int, profile: str) -> None:
    """Write PREFIX1.fq and PREFIX2.fq: reads of GENOME (FASTA, not packed) that cover it unevenly."""
    require_programs(["art_illumina"])
    rng = np.random.default_rng(seed)
    molecules = read_genome(genome)
    chance = {molecule.name: chances(molecule.codes, insert, rng) for molecule in molecules}
    most = max(float(np.percentile(values, 99.9)) for values in chance.values())
    prefix.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=prefix.parent) as name:
        folder = Path(name)
        options = f"-ss {profile} -p -l {length} -m {insert} -s {sd} -f {fold} -rs {seed} -q"
        command = ["art_illumina", *options.split(), "-i", str(genome.resolve()), "-o", str(folder / "reads_")]
        measure(command, folder=folder, log=folder / "log")
        sizes = {molecule.name: molecule.codes.size for molecule in molecules}
        places = begins((folder / "reads_1.aln", folder / "reads_2.aln"), sizes)
        kept = np.array([rng.random() < chance[replicon][at] / most for replicon, at in places])
        for mate in (1, 2):
            thin(folder / f"reads_{mate}.fq", Path(f"{prefix}{mate}.fq"), kept)
    print(f"{kept.sum():,} of {kept.size:,} pairs, {kept.mean() * fold:.1f}-fold")


if __name__ == "__main__":
    main()
