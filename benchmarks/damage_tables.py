"""Make the table of ends by signals, and of many runs in one process or samples in one workflow or batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from table_text import Result, dated, markdown, of

_HEAD = ["what", "times", "within 2 s", "twice", "by Python", "most s", "wrong", "MiB settled", "MiB more at the end"]

_LONG_BATCH = 500


def endurance(results: list[Result]) -> str:
    """Signals by kind, those to the workflow apart, and the memory of soaks and of batches."""
    used = [result for name in ("signals", "soak", "workflow_soak", "batch") for result in of(results, name)]
    rows = list(_signals([row for result in of(results, "signals") for row in result["rows"]]))
    for result in of(results, "soak"):
        rows += [_soak("commands in one process", row["commands"], row) for row in result["rows"]]
    for result in of(results, "workflow_soak"):
        rows += [_soak("samples in one workflow: Snakemake", row["samples"], row) for row in result["rows"]]
        jobs = [{key.removeprefix("job_"): value for key, value in row.items()} for row in result["rows"]]
        rows += [_soak("samples in one workflow: largest job", row["samples"], row) for row in jobs]
    for result in of(results, "batch"):
        long = (row for row in result["rows"] if row["samples"] >= _LONG_BATCH)
        rows += [_soak("samples in one batch: a worker", row["samples"], row) for row in long]
    return dated(used, markdown(_HEAD, rows))


def _signals(rows: list[dict[str, Any]]) -> Iterator[list[object]]:
    kinds = {(row["signal"], row["command"] == "workflow") for row in rows}
    for signal, is_of_workflow in sorted(kinds):
        own = [row for row in rows if (row["signal"], row["command"] == "workflow") == (signal, is_of_workflow)]
        target = "the workflow" if is_of_workflow else f"{len({row['command'] for row in own})} commands"
        counts = (sum(row[name] for row in own) for name in ("signals", "within_two_seconds", "twice", "by_python"))
        longest, wrong = max(float(row["most_seconds"]) for row in own), sum(row["wrong"] for row in own)
        yield [f"{signal} to {target}", *counts, longest, wrong, None, None]


def _soak(what: str, times: int, row: dict[str, Any]) -> list[object]:
    return [what, times, None, None, None, None, None, float(row["settled_mb"]), float(row["growth_mb"])]
