"""Tables that commands write, as tests read them."""

from __future__ import annotations

import csv
from pathlib import Path


def rows_of(table: Path | str) -> list[dict[str, str]]:
    """Return the rows of a tab-separated table, a file or its text, by the names of the columns."""
    text = table if isinstance(table, str) else table.read_text()
    rows = list(csv.DictReader(text.splitlines(), delimiter="\t"))
    assert all(None not in row and None not in row.values() for row in rows), "a row of more or fewer columns"
    return rows
