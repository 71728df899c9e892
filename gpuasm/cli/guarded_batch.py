"""Assemble several samples of the workflow in one job, so that bad data stop only the sample that has them.

``python -m gpuasm.cli.guarded_batch --results FOLDER --file contigs.fasta -- LINE... -- OPTION...`` runs
``gpuasm batch`` with the options on a sheet of the lines: name, tab, files. Samples whose reads failed their check are
left out. The status of each sample is written as by `gpuasm.cli.guarded_step`, and all its files exist then, empty ones
if need be.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from gpuasm.cli.guarded_step import BAD_DATA, outcome_of, run_command

Outcome = dict[str, Any]
_GPUASM = (sys.executable, "-m", "gpuasm")
_FOLDER, _STEP, _CHECK = "assembly", "assemble_contigs", "check_reads"


@click.command()
@click.option("--results", type=click.Path(path_type=Path), required=True, help="Folder of the samples.")
@click.option("--file", "names", multiple=True, help="A file in the folder of each assembly, if only empty.")
@click.option("--fail", is_flag=True, help="Bad data fail the job too.")
@click.argument("rows_and_options", nargs=-1, required=True)
def main(*, results: Path, names: tuple[str, ...], fail: bool, rows_and_options: tuple[str, ...]) -> None:
    """Run gpuasm batch; the arguments are lines of a sheet, two dashes, and options."""
    end = rows_and_options.index("--")
    rows, options = rows_and_options[:end], rows_and_options[end + 1 :]
    samples = list(dict.fromkeys(row.partition("\t")[0] for row in rows))
    outcomes = {sample: _skipped(outcome_of(_status(results, sample, _CHECK))) for sample in samples}
    left = {sample for sample, outcome in outcomes.items() if outcome["status"] == "ok"}
    if left:
        outcomes |= _assembled([row for row in rows if row.partition("\t")[0] in left], results, options, fail=fail)
    for sample, outcome in outcomes.items():
        for name in names:
            path = results / sample / _FOLDER / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        text = json.dumps({"sample": sample, "step": _STEP, **outcome}, indent=2)
        _status(results, sample, _STEP).write_text(text + "\n")


def _status(results: Path, sample: str, step: str) -> Path:
    return results / sample / "status" / f"{step}.json"


def _skipped(earlier: Outcome) -> Outcome:
    return earlier if earlier["status"] == "ok" else {**earlier, "status": "skipped"}


def _assembled(rows: list[str], results: Path, options: tuple[str, ...], *, fail: bool) -> dict[str, Outcome]:
    """Run the batch, and return the outcome of each sample; end this process if it fails otherwise than by bad data."""
    with tempfile.TemporaryDirectory() as name:
        sheet, table = Path(name, "samples.tsv"), Path(name, "batch.tsv")
        sheet.write_text("\n".join(["sample\treads_1\treads_2", *rows]) + "\n", encoding="utf-8")
        places = ["--output", str(results), "--subfolder", _FOLDER, "--table", str(table)]
        code, _ = run_command((*_GPUASM, "batch", str(sheet), *places, *options))
        found = _outcomes_of(table) if table.exists() else {}
    bad = {outcome["exit_code"] for outcome in found.values()} - {0}
    if code and (fail or not found or bad - BAD_DATA):
        sys.exit(code)
    return found


def _outcomes_of(table: Path) -> dict[str, Outcome]:
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {
        row["sample"]: {
            "status": "failed" if int(row["exit_code"]) else "ok",
            "exit_code": int(row["exit_code"]),
            "message": row["message"],
        }
        for row in rows
    }


if __name__ == "__main__":
    main()
