"""Format figures as Markdown tables, with the dates and hosts of the measurements above them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from result_files import host_of

Result = dict[str, Any]
"""An entry of a file of results, with the names of its benchmark and its key."""
_SHORT = (("NVIDIA ", ""), (" 80GB HBM3", ""), ("Intel(R) Xeon(R) Processor", "Intel Xeon"))


def of(results: Iterable[Result], benchmark: str) -> list[Result]:
    """Return the entries of a benchmark."""
    return [result for result in results if result["benchmark"] == benchmark]


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with its numbers aligned to the right."""
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


def host(result: Result) -> str:
    """Name the GPU of a host, or its CPU, and its cores."""
    name = host_of(result["machine"])
    for long, short in _SHORT:
        name = name.replace(long, short)
    return name


def dated(results: Sequence[Result], table: str) -> str:
    """Return a table below the dates and hosts of its results; an empty text without results."""
    if not results:
        return ""
    dates = sorted({result["date"] for result in results})
    hosts = dict.fromkeys(host(result) for result in results)
    return f"{' to '.join(dict.fromkeys([dates[0], dates[-1]]))}; {'; '.join(hosts)}:\n\n{table}"
