"""Tables as Markdown, and what they were measured on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Result = dict[str, Any]
"""The content of a file in results/."""


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table, numbers set to the right."""
    cells = [[_text(cell) for cell in row] for row in rows]
    lines = [list(head), ["---"] + ["---:"] * (len(head) - 1), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:,.2f}" if isinstance(cell, float) else str(cell)


def _where(result: Result) -> str:
    """Name what a result was measured on: the GPU, if one was there, and the CPU."""
    machine = result["machine"]
    gpu = machine["device"].get("name")
    return f"{gpu + ' and ' if gpu else ''}{machine['cpu']}, {machine['cpus']} cores"


def section(result: Result, table: str) -> str:
    reads = " and ".join(result["parameters"].get("reads", []))
    title = f"{result['date']}, {_where(result)}"
    return f"{title}{'; ' + reads if reads else ''}:\n\n{table}"
