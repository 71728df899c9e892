"""Make the table of the forecasts of memory and disk."""

from __future__ import annotations

from table_text import Result, dated, host, markdown, of

_KINDS = ("host", "device", "disk")


def forecasts(results: list[Result]) -> str:
    """Forecasts against peaks, in MiB, by how much the forecast is higher, and seconds where nothing else ran."""
    used = of(results, "forecasts")
    rows = [_cells(result, row) for result in used for row in result["rows"]]
    head = ["reads", "Mb", "host", "run on", "s", *(text for kind in _KINDS for text in (kind, "peak", "higher by"))]
    return dated(used, markdown(head, rows))


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
