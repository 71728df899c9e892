"""Make the table of the forecasts of memory and disk."""

from __future__ import annotations

import re

from table_text import Result, dated, host, markdown, of

_KINDS = ("host", "device", "disk")
_COMMUNITY = re.compile(r"m\d+")
"""The name of a community of as many Mb of genomes."""


def forecasts(results: list[Result]) -> str:
    """Forecasts against peaks, in MiB, by how much the forecast is higher, and seconds where nothing else ran."""
    used = of(results, "forecasts")
    rows = [_cells(result, row) for result in used for row in result["rows"]]
    head = ["reads", "Mb", "host", "run on", "s", *(text for kind in _KINDS for text in (kind, "peak", "higher by"))]
    return dated(used, markdown(head, rows))


_LEAST_SHARE = 0.02
"""Of the time of a run: stages that take less in all of them are left out."""


def growth(results: list[Result]) -> str:
    """Seconds of each stage, and bytes of memory, for each Gb of reads, of communities of the same kind that grow."""
    used = of(results, "forecasts")
    rows = [row for result in used for row in result["rows"] if _COMMUNITY.fullmatch(row["reads"]) and "wall_s" in row]
    rows.sort(key=lambda row: row["bases"])
    seconds = [_seconds_of_stages(row) for row in rows]
    lines = {"wall s": [row["wall_s"] for row in rows]}
    for name in dict.fromkeys(name for own in seconds for name in own):
        own = [of_one.get(name, 0.0) for of_one in seconds]
        if any(one >= _LEAST_SHARE * row["wall_s"] for one, row in zip(own, rows, strict=True)):
            lines[f"{name}, s"] = own
    for kind in ("host", "device"):
        lines[f"{kind} GB"] = [row[f"{kind}_bytes"] / 1e9 for row in rows]
    cells = [[name, *(f"{one / row['bases'] * 1e9:.2f}" for one, row in zip(own, rows, strict=True))]
             for name, own in lines.items()]  # fmt: skip
    return dated(used, markdown(["for each Gb", *(row["reads"] for row in rows)], cells)) if rows else ""


def _seconds_of_stages(row: Result) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for stage in row["stages"]:
        seconds[stage["name"]] = seconds.get(stage["name"], 0.0) + stage["wall_s"]
    return seconds


def _cells(result: Result, row: Result) -> list[str]:
    reads, bases = row["reads"].replace("_", " "), f"{row['bases'] / 1e6:,.2f}"
    compared = (cell for kind in _KINDS for cell in _compared(row, kind))
    seconds = f"{row['wall_s']:,.0f}" if "wall_s" in row else ""
    return [reads, bases, host(result), result["parameters"]["device"], seconds, *compared]


def _compared(row: Result, kind: str) -> tuple[str, ...]:
    forecast, peak = row["plan"].get(f"{kind}_bytes"), row.get(f"{kind}_bytes")
    if not peak:
        return "", "", ""
    if not forecast:
        return "", f"{peak / 2**20:,.1f}", ""
    return f"{forecast / 2**20:,.1f}", f"{peak / 2**20:,.1f}", f"{forecast / peak - 1:+.0%}"
