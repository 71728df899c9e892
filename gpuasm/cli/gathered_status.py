"""Gather the outcomes of one step of all samples of a group, as ``guarded_step`` writes them, into one of the group.

``python -m gpuasm.cli.gathered_status --group NAME --status FILE STATUS...`` writes "ok" if all are, else "failed" with
the message of the first sample whose reads cannot be used, so that later steps of the group are skipped.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from gpuasm.cli.guarded_step import outcome_of

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--group", required=True, help="The group's name.")
@click.option("--status", type=_FILE, required=True, help="File for the outcome; its name is that of the step.")
@click.argument("statuses", nargs=-1, required=True, type=_FILE)
def main(*, group: str, status: Path, statuses: tuple[Path, ...]) -> None:
    """Gather the outcomes in STATUSES."""
    outcome = {"status": "ok", "exit_code": 0, "message": ""}
    bad = next((earlier for path in statuses if (earlier := outcome_of(path))["status"] != "ok"), None)
    if bad:
        outcome = {**bad, "status": "failed"}
    status.write_text(json.dumps({"sample": group, "step": status.stem, **outcome}, indent=2) + "\n")


if __name__ == "__main__":
    main()
