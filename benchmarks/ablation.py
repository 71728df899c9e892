"""Leave out each stage and rule of gpuasm in turn, and have QUAST say what it was worth.

    python benchmarks/ablation.py sheet.tsv --json benchmarks/results/ablation.json

The sheet is one of ``assemblers.py``; every set in it needs a reference. ``--sets`` takes some of them only,
``--without`` some rules only; what the JSON knows of other sets stays.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from pathlib import Path

import click
from assembler_runs import ReadSet, Row, command_of, read_sheet, run_assembler
from processes import require_programs
from quast import LEAST_LENGTH, run_quast
from record import record

from gpuasm import __version__
from gpuasm.assembly.options import RULES

NOTHING = "nothing"


def make_row(reads: ReadSet, without: str, *, quast: list[str], threads: int) -> Row:
    """Assemble a set without a rule, or with all of them, and return QUAST's figures of the contigs."""
    row: Row = {"set": reads.name, "without": without, "version": __version__, "threads": threads}
    extra = [] if without == NOTHING else ["--without", without]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = command_of("gpuasm", reads, folder / "work", threads=threads, extra=extra)
        usage = run_assembler(command, folder)
        if usage is None:
            return {**row, "failed": True, "quast": {}}
        figures = run_quast(quast, command.contigs, reads.reference, folder=folder / "quast", threads=threads)
        return {**row, "failed": False, **usage.as_dict(), "quast": figures}


def kept_rows(path: Path | None) -> list[Row]:
    return json.loads(path.read_text())["rows"] if path and path.exists() else []


@click.command(help=__doc__)
@click.argument("sheet", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--sets", multiple=True, metavar="NAME", help="Take this set only; may be repeated.")
@click.option("--without", "rules", multiple=True, type=click.Choice([NOTHING, *RULES]), help="Only this; repeatable.")
@click.option("--quast", default="quast.py", show_default=True, metavar="COMMAND", help="QUAST 5.2 or later.")
@click.option("--threads", "-t", default=2, show_default=True)
@click.option("--json", "path", type=click.Path(dir_okay=False, path_type=Path), help="Results, kept and added to.")
def main(
    *, sheet: Path, sets: tuple[str, ...], rules: tuple[str, ...], quast: str, threads: int, path: Path | None
) -> None:
    program = shlex.split(quast)
    require_programs(program[:1])
    chosen = [reads for reads in read_sheet(sheet) if not sets or reads.name in sets]
    if unknown := [reads.name for reads in chosen if reads.reference is None]:
        sys.exit(f"{sheet}: no reference of {', '.join(unknown)}")
    rows = {(row["set"], row["without"]): row for row in kept_rows(path)}
    for reads in chosen:
        for without in rules or (NOTHING, *RULES):
            rows[reads.name, without] = row = make_row(reads, without, quast=program, threads=threads)
            shown = {name: row["quast"].get(name) for name in ("nga50", "aunga", "misassemblies", "genome_fraction")}
            print(reads.name, without, row.get("wall_s"), shown, flush=True)
            record(path, "ablation", {"least_length": LEAST_LENGTH}, list(rows.values()))


if __name__ == "__main__":
    main()
