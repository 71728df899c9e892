"""Write run.json: command, inputs, parameters, versions, machine, stages, results and warnings of a run."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import numpy as np

from gpuasm import arrays
from gpuasm.stages import Stages

SCHEMA_VERSION = 2
"""Rises when a key of run.json changes its meaning or is removed, not if one is added; see docs/run_json.md."""

_LIBRARIES = (
    "numpy",
    "numba",
    "numba-cuda",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "pysam",
    "cutadapt",
    "isal",
)


def write_manifest(
    path: str | Path,
    *,
    command: str,
    parameters: Mapping[str, Any],
    inputs: Iterable[Any],
    stages: Stages,
    device: str,
    results: Mapping[str, Any],
    status: str = "done",
    warnings: Sequence[str] = (),
    threads: int | None = None,
) -> None:
    """Write run.json.

    Parameters
    ----------
    path
        The file; it appears under its name only when it is complete.
    command
        The subcommand: "assemble".
    parameters
        The settings in force, defaults included.
    inputs
        A mapping or dataclass for each input file: path, size, sha256 and what is known of its reads.
    stages
        The stages of the run.
    device
        "cpu" or "cuda:N".
    results
        What came out: numbers, and the files written.
    status
        "done", or why the results are empty: "no solid k-mer".
    warnings
        What the run warned of.
    threads
        CPU threads in use.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        If the file cannot be created or written.
    """
    from gpuasm.io import write_json

    write_json(
        path,
        plain(
            {
                **schema_of(status),
                "command": command,
                "command_line": command_line(),
                "started": stages.started.isoformat(timespec="seconds"),
                "finished": datetime.now(UTC).isoformat(timespec="seconds"),
                "wall_s": round(stages.wall_s, 3),
                "peak_rss_bytes": stages.peak_rss_bytes,
                "versions": versions(),
                "machine": machine(device, threads),
                "parameters": parameters,
                "inputs": list(inputs),
                "stages": stages.records,
                "results": results,
                "warnings": list(warnings),
            }
        ),
    )


def versions() -> dict[str, str]:
    """Return the versions of gpuasm, Python and the libraries that are installed."""
    from importlib.metadata import PackageNotFoundError, version  # with much of the package email

    found = {"python": platform.python_version()}
    for name in ("gpuasm", *_LIBRARIES):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine(device: str, threads: int | None = None) -> dict[str, Any]:
    """Describe the computer and the device of a run."""
    kind, _, number = device.partition(":")
    return {
        "system": platform.platform(),
        "cpu": cpu_name(),
        "cpus": os.cpu_count(),
        "threads": threads,
        "device": arrays.properties_of(int(number or 0)) if kind == "cuda" else {"device": device},
    }


def cpu_name() -> str:
    """Return the name of the CPU as the system reports it, or the architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def schema_of(status: str) -> dict[str, Any]:
    """Return the first keys of run.json: its schema, and the status of the run."""
    return {"schema_version": SCHEMA_VERSION, "status": status}


def command_line() -> str:
    """Return the command line of this process, as one could type it."""
    context = click.get_current_context(silent=True)
    arguments = context.find_root().obj["args"] if context else []
    return shlex.join(["gpuasm", *arguments])


def plain(value: Any) -> Any:
    """Return ``value`` in the types of JSON: dataclasses, numpy numbers, arrays and paths become plain ones."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None  # JSON has no number for it
    return value if isinstance(value, str | int | float | bool | None) else str(value)
