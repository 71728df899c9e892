"""Write the figures of a benchmark with what they were measured on."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpuasm import arrays
from gpuasm.cli.manifest import machine, versions


def record(path: Path | None, name: str, parameters: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Write rows of figures as JSON with machine, versions and date; nothing without a path."""
    if path is None:
        return
    device = "cuda:0" if arrays.device_count() else "cpu"
    text = {
        "benchmark": name,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(device),
        "versions": versions(),
        "parameters": parameters,
        "rows": rows,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(text, indent=1) + "\n")
