"""Draw a series of libraries at random and write it into ``sets.tsv``, so that no set is chosen by hand.

    python benchmarks/draw_sets.py GENOMES --series fresh --random 20261123 --first 165
    python benchmarks/draw_sets.py GENOMES --series again --random 20261124 --first 201 --times 1 --also unseen

Each genome of ``fresh_genomes.tsv`` is taken twice, in random order. Random are also the depth, the read length with
the sequencer that has it, the insert size and its deviation. ``--also`` adds the genomes of another series.
``make_sets.py`` prints the checksums of the reads.
"""

from __future__ import annotations

import csv
import random
from dataclasses import asdict
from pathlib import Path

import click
from assembler_runs import checksum
from fresh_genomes import read_rows
from make_sets import SETS, Simulation, read_simulations

SEQUENCERS = {
    "HS20": ("HiSeq 2000", (100,)),
    "HS25": ("HiSeq 2500", (125, 150)),
    "HSXt": ("HiSeq X", (150,)),
    "MSv3": ("MiSeq", (250,)),
    "NS50": ("NextSeq", (75,)),
}
FOLDS = (15, 20, 25, 30, 40, 50, 60, 80, 100)
INSERTS = range(200, 601, 50)
LEAST_INSERT = 1.25  # of the length of a read: mates that overlap nearly whole are a library that failed
DEVIATIONS = (0.1, 0.12, 0.15, 0.18)


def draw(series: str, genome: Path, what: str, chance: random.Random, seed: int) -> Simulation:
    """Draw one library of a genome; ``seed`` is that of the reads."""
    profile = chance.choice(list(SEQUENCERS))
    sequencer, lengths = SEQUENCERS[profile]
    length = chance.choice(lengths)
    fold = chance.choice(FOLDS)
    insert = chance.choice([size for size in INSERTS if size >= LEAST_INSERT * length])
    sd = int(round(insert * chance.choice(DEVIATIONS), -1))
    stem = genome.name.removesuffix(".fa.gz")
    about = f"{what}, {fold}-fold, 2 x {length}, insert {insert} ± {sd}, {sequencer}, seed {seed}"
    numbers = [str(number) for number in (fold, seed, length, insert, sd)]
    name = f"u{seed}_{stem.split('_', 1)[-1].lower()}"
    return Simulation(series, name, "", stem, *numbers, profile, "", checksum(genome), "", "", about)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("genomes", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--series", required=True, metavar="NAME", help="Name of the series; an earlier one of it is replaced.")
@click.option("--random", "seed", type=int, required=True, help="Seed of the choices.")
@click.option("--first", type=int, required=True, help="Number, and seed of the reads, of the first library.")
@click.option("--times", default=2, show_default=True, help="Libraries of each genome.")
@click.option("--also", metavar="NAME", help="A series with more genomes.")
@click.option("--table", default=SETS, type=click.Path(path_type=Path, exists=True, dir_okay=False), help="The sets.")
def main(*, genomes: Path, series: str, seed: int, first: int, times: int, also: str | None, table: Path) -> None:
    """Draw libraries of the genomes of ``fresh_genomes.tsv``, whose files are in the folder GENOMES."""
    chance = random.Random(seed)
    found = read_simulations(table)
    more = {row.genome: row.what.split(", ")[0] for row in found if row.series == also}
    rows = [*read_rows(), *({"genome": genome, "what": what} for genome, what in sorted(more.items()))] * times
    chance.shuffle(rows)
    sets = [draw(series, genomes / f"{r['genome']}.fa.gz", r["what"], chance, first + i) for i, r in enumerate(rows)]
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, asdict(sets[0]), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in [*(row for row in found if row.series != series), *sets])


if __name__ == "__main__":
    main()
