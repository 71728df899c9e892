"""What ``gpuasm batch`` finds in the folders of samples and reports: finished runs, a table, an exit code."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from gpuasm.cli.batch_workers import Outcome

_WORST_FIRST = (1, 74, 73, 75, 69, 2, 66, 65)
"""Exit codes of samples: failures of gpuasm, of the machine, of the options, and of the reads."""
_FIGURES = ("contigs", "total_length", "longest", "n50", "circular")
_COLUMNS = ("sample", "status", "exit_code", "verdict", *_FIGURES, "wall_s", "message")


def is_finished(folder: Path, arguments: Sequence[str], files: Sequence[str]) -> bool:
    """Return whether a folder holds a complete assembly of the same reads and options.

    Parameters
    ----------
    folder
        Of the sample.
    arguments
        Those of ``gpuasm`` that decide its results.
    files
        The files of reads: they have the names and sizes of the run, and are not newer.
    """
    try:
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        line = shlex.split(run["command_line"])[1:]
        began = datetime.fromisoformat(run["started"]).timestamp()
        recorded = Counter((Path(file["path"]).name, file["size"]) for file in run["inputs"])
        found = [Path(path) for path in files]
        return (
            run["status"] != "running"
            and "n50" in run["results"]  # an assembly, not the refusal of the reads
            and (folder / "contigs.fasta").is_file()
            and line[: len(arguments)] == list(arguments)
            and recorded == Counter((path.name, path.stat().st_size) for path in found)
            and all(int(path.stat().st_mtime) <= began for path in found)
        )
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False


def row_of(outcome: Outcome, folder: Path, *, is_kept: bool = False) -> dict[str, Any]:
    """Return the row of a sample in the table, with the figures of its run.json if it did not fail."""
    status = "failed" if outcome.exit_code else "kept" if is_kept else "done"
    run = {} if outcome.exit_code else _run_of(folder)
    figures = _object(run.get("results"))
    return {
        "sample": outcome.name,
        "status": status,
        "exit_code": outcome.exit_code,
        "verdict": _object(figures.get("verdict")).get("level"),
        **{name: figures.get(name) for name in _FIGURES},
        "wall_s": run.get("wall_s"),
        "message": outcome.message,
    }


def write_table(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write the table of all samples.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        If it cannot be written.
    """
    from gpuasm.io import write_tsv

    write_tsv(path, {name: [row[name] for row in rows] for name in _COLUMNS})


def worst_of(codes: Iterable[int]) -> int:
    """Return the exit code of a batch: 0, or that of the failure that matters most."""
    failed = set(codes) - {0}
    return next((code for code in _WORST_FIRST if code in failed), max(failed, default=0))


def _run_of(folder: Path) -> dict[str, Any]:
    try:
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return _object(run)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
