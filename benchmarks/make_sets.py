"""Make the simulated reads that the tables rest on, and the sheets that list them.

    python benchmarks/make_sets.py GENOMES OUT --real READS --jobs 4
    python benchmarks/make_sets.py GENOMES OUT --sets lambda --sets mpox
    python benchmarks/make_sets.py GENOMES OUT --community --sets community_of_ten
    python benchmarks/make_sets.py GENOMES OUT --series unseen --jobs 4

``sets.tsv`` in this folder has a row for each set: its series, its genome, a file GENOME.fa.gz of the folder GENOMES,
options of ``art_illumina`` (ART 2.5.8, doi:10.1093/bioinformatics/btr708), or as its profile a kind of
``library_reads.py``, and checksums of genome and reads. Reads are written to OUT as NAME_1.fq and NAME_2.fq; files
with the right checksums are kept. If other bytes come out, the script prints them, and the exit code is 1. With
``--community`` the communities are made: the reads of their members one after the other, and NAME.tsv with the columns
genome, reference and fold. With ``--check`` checksums are compared and no reads are kept.

OUT/sheet.tsv is the input of ``assemblers.py``, with the real sets of ``real_sets.tsv`` if ``--real`` names their
folder. OUT/ablation.tsv has what only ``ablation.py`` takes: communities, and sets without a reference. Rows of earlier
runs are kept in both.
"""

from __future__ import annotations

import csv
import gzip
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click
from assembler_runs import checksum
from library_reads import KINDS
from processes import measure, require_programs
from raise_gc import raise_gc

HERE = Path(__file__).parent
SETS = HERE / "sets.tsv"
PHIX = "phix174_vipr.fa.gz"
COLUMNS = ("name", "reads_1", "reads_2", "layout", "reference", "kind", "what")
SheetRow = dict[str, str]


@dataclass(frozen=True)
class Simulation:
    """A row of ``sets.tsv``, as text: reads of one genome; ``community`` names the one they are a part of, if any."""

    series: str
    name: str
    community: str
    genome: str
    fold: str
    seed: str
    length: str
    insert: str
    sd: str
    profile: str
    gc: str
    genome_sha256: str
    reads_1_sha256: str
    reads_2_sha256: str
    what: str

    @property
    def sums(self) -> list[str]:
        return [self.reads_1_sha256, self.reads_2_sha256]


def read_simulations(path: Path = SETS, *, series: str | None = None) -> list[Simulation]:
    """Read the sets of a series, or of all."""
    with path.open(newline="") as file:
        rows = [Simulation(**row) for row in csv.DictReader(file, delimiter="\t")]
    return [row for row in rows if series in (None, row.series)]


def mates_of(folder: Path, name: str) -> list[Path]:
    return [folder / f"{name}_{mate}.fq" for mate in (1, 2)]


def art_command(of: Simulation, genome: Path) -> list[str]:
    """Return what simulates a set's reads, up to the prefix of their files."""
    options = f"-ss {of.profile} -p -l {of.length} -m {of.insert} -s {of.sd} -f {of.fold} -rs {of.seed} -na -q"
    return ["art_illumina", *options.split(), "-i", str(genome), "-o"]


def library_command(of: Simulation, genome: Path, reference: Path) -> list[str]:
    """Return the same for a set whose profile is a kind of library; PhiX's genome is in the folder of its own."""
    options = ["--kind", of.profile, "--fold", of.fold, "--seed", of.seed, "--phix", str(reference.with_name(PHIX))]
    return [sys.executable, str(HERE / "library_reads.py"), *options, str(genome)]


def make_reference(of: Simulation, genomes: Path, out: Path) -> Path:
    """Return the genome of a set: as it is, or written to ``out`` with more G and C."""
    genome = (genomes / f"{of.genome}.fa.gz").resolve(strict=True)
    if checksum(genome) != of.genome_sha256:
        print(f"{genome.name}: not the file that {of.name} was made from", flush=True)
    return raise_gc(genome, out / f"{of.name}.fa", percent=float(of.gc)) if of.gc else genome


def simulate(of: Simulation, reference: Path, out: Path) -> bool:
    """Make the reads of a set, unless they are there; return whether they are those of the table."""
    mates = mates_of(out, of.name)
    if all(of.sums) and all(mate.exists() for mate in mates) and [checksum(mate) for mate in mates] == of.sums:
        return True
    with tempfile.TemporaryDirectory(dir=out) as name:
        plain = Path(name) / "genome.fa"  # ART does not read packed files
        with (gzip.open if reference.suffix == ".gz" else open)(reference, "rb") as packed, plain.open("wb") as file:
            shutil.copyfileobj(packed, file)
        command = library_command(of, plain, reference) if of.profile in KINDS else art_command(of, plain)
        measure([*command, str(Path(name) / "reads_")], folder=Path(name), log=Path(name) / "log")
        made = mates_of(Path(name), "reads")
        sums = [checksum(mate) for mate in made]
        for source, mate in zip(made, mates, strict=True):
            source.replace(mate)
    label = f"{of.community} {of.name}".strip()
    print(label if sums == of.sums else f"{label}: other reads than the table has: {' '.join(sums)}", flush=True)
    return sums == of.sums


def check_reads(of: Simulation, genomes: Path, out: Path) -> bool:
    """Make the reads of a set, keep none of them, and return whether they are those of the table."""
    with tempfile.TemporaryDirectory(dir=out) as folder:
        return simulate(of, make_reference(of, genomes, Path(folder)), Path(folder))


def make_isolate(of: Simulation, genomes: Path, out: Path) -> tuple[SheetRow, bool]:
    reference = make_reference(of, genomes, out)
    good = simulate(of, reference, out)
    return _sheet_row(of.name, reference, of.what), good


def make_community(
    name: str, members: Sequence[Simulation], genomes: Path, out: Path, pool: ThreadPoolExecutor
) -> tuple[SheetRow, bool]:
    """Make the reads of a community's members, and write them one after the other."""
    references = [make_reference(member, genomes, out) for member in members]
    with tempfile.TemporaryDirectory(dir=out) as folder:
        parts = Path(folder)
        good = all(list(pool.map(simulate, members, references, [parts] * len(members))))
        for number, mate in enumerate(mates_of(out, name)):
            with mate.open("wb") as whole:
                for member in members:
                    with mates_of(parts, member.name)[number].open("rb") as part:
                        shutil.copyfileobj(part, whole)
    table = out / f"{name}.tsv"
    lines = [f"{m.name}\t{path}\t{m.fold}\n" for m, path in zip(members, references, strict=True)]
    table.write_text("genome\treference\tfold\n" + "".join(lines))
    folds = sorted(float(member.fold) for member in members)
    what = f"{name.replace('_', ' ')}, {folds[0]:g} to {folds[-1]:g}-fold"
    return _sheet_row(name, table, what), good


def _sheet_row(name: str, reference: Path, what: str) -> SheetRow:
    reads = [mate.name for mate in mates_of(Path(), name)]
    return dict(zip(COLUMNS, [name, *reads, "pairs", str(reference), "simulated", what], strict=True))


def real_rows(folder: Path, path: Path = HERE / "real_sets.tsv") -> list[SheetRow]:
    """Return the rows of the real sets, with the paths of their files in ``folder``."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for row in rows:
        for column in ("reads_1", "reads_2", "reference"):
            row[column] = str((folder / row[column]).resolve(strict=True)) if row[column] else ""
    return rows


def add_to_sheet(path: Path, rows: Iterable[SheetRow]) -> None:
    """Write rows into a sheet, in the place of those of the same names, the others before them."""
    found: dict[str, SheetRow] = {}
    if path.exists():
        with path.open(newline="") as file:
            found = {row["name"]: row for row in csv.DictReader(file, delimiter="\t")}
    found |= {row["name"]: row for row in rows}
    lines = ["\t".join(row[column] for column in COLUMNS) + "\n" for row in found.values()]
    path.write_text("\t".join(COLUMNS) + "\n" + "".join(lines))


@click.command(help=__doc__)
@click.argument("genomes", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option("--sets", multiple=True, metavar="NAME", help="Make this set only; may be repeated.")
@click.option("--series", metavar="NAME", help="Series of sets.tsv; by default 'sets', with --community all series.")
@click.option("--community", is_flag=True, help="Make the communities, not the isolates.")
@click.option("--real", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of the real sets.")
@click.option("--jobs", "-j", default=1, show_default=True, help="Sets, or members, made at the same time.")
@click.option("--check", is_flag=True, help="Compare checksums; keep no reads, write no sheet.")
def main(
    *, genomes: Path, out: Path, sets: tuple[str, ...], series: str | None, community: bool, real: Path | None,
    jobs: int, check: bool,
) -> None:  # fmt: skip
    require_programs(["art_illumina"])
    groups: dict[str, list[Simulation]] = {}
    for entry in read_simulations(SETS, series=series or (None if community else "sets")):
        if bool(entry.community) == community:
            groups.setdefault(entry.community or entry.name, []).append(entry)
    if unknown := set(sets) - groups.keys():
        sys.exit(f"no such sets: {', '.join(sorted(unknown))}; there are {', '.join(groups)}")
    chosen = {name: entries for name, entries in groups.items() if not sets or name in sets}
    out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        if check:
            entries = chain.from_iterable(chosen.values())
            sys.exit(0 if all(list(pool.map(lambda entry: check_reads(entry, genomes, out), entries))) else 1)
        if community:
            made = [make_community(*c, genomes, out, pool) for c in chosen.items()]
        else:
            made = list(pool.map(lambda entries: make_isolate(entries[0], genomes, out), chosen.values()))
    rows = [row for row, _ in made] + (real_rows(real) if real else [])
    judged = [row for row in rows if row["reference"] and not row["reference"].endswith(".tsv")]
    add_to_sheet(out / "sheet.tsv", judged)
    add_to_sheet(out / "ablation.tsv", [row for row in rows if row not in judged])
    sys.exit(0 if all(good for _, good in made) else 1)


if __name__ == "__main__":
    main()
