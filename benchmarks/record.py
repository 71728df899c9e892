"""Write the figures of a benchmark to its file of results, with the machine, the versions and the date."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from result_files import host_of, read_entries, write_entries

from gpuasm import arrays
from gpuasm.cli.manifest import machine, versions


def record(
    path: Path | None, name: str, parameters: dict[str, Any], rows: list[dict[str, Any]], *, key: str | None = None
) -> None:
    """Write one entry of a file of results, in place of an earlier one of its key; do nothing without a path.

    Without a key the entry has the name of the host.
    """
    if path is None:
        return
    about = machine("cuda:0" if arrays.device_count() else "cpu")
    entry = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": about,
        "versions": versions(),
        "parameters": parameters,
        "rows": rows,
    }
    write_entries(path, name, read_entries(path) | {key or host_of(about): entry})
