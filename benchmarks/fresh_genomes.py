"""Write genomes that the recipe was never tuned on, from Debian's packages of examples, for ``make_sets.py``.

    apt-get install kleborate-examples ragout-examples sibelia-examples bowtie-examples abacas-examples
    python benchmarks/fresh_genomes.py /usr/share/doc GENOMES

``fresh_genomes.tsv`` in this folder has a row for each genome: its name, the file below the first folder, what
the names of its records have in them (all records if it is empty), and what it is. Each makes GENOMES/NAME.fa.gz.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import click
import dnaio

HERE = Path(__file__).parent


def read_rows(path: Path = HERE / "fresh_genomes.tsv") -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def write_genome(row: dict[str, str], examples: Path, genomes: Path) -> Path:
    out = genomes / f"{row['genome']}.fa.gz"
    with dnaio.open(examples / row["file"]) as file:  # packed or not
        records = [record for record in file if row["record"] in record.id]
    if not records:
        raise SystemExit(f"{examples / row['file']}: no record {row['record']!r}")
    text = "".join(f">{record.id}\n{record.sequence}\n" for record in records)
    out.write_bytes(gzip.compress(text.encode(), compresslevel=6, mtime=0))  # no time in it: the same bytes always
    return out


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("examples", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("genomes", type=click.Path(path_type=Path, file_okay=False))
def main(examples: Path, genomes: Path) -> None:
    """Write the genomes of ``fresh_genomes.tsv``, from the packages' EXAMPLES, to GENOMES."""
    genomes.mkdir(parents=True, exist_ok=True)
    for row in read_rows():
        print(write_genome(row, examples, genomes))


if __name__ == "__main__":
    main()
