"""Read and write files of results.

A file holds one benchmark: ``{"benchmark": NAME, "entries": {KEY: ENTRY}}``. An entry has the keys date, machine,
versions, parameters and rows. Its key is the series of read sets, the community, or the host that it was measured on.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


def host_of(about: dict[str, Any]) -> str:
    """Name a machine by its GPU, or its CPU where it has none, and its number of cores."""
    return f"{about['device'].get('name') or about['cpu']}, {about['cpus']} cores"


def read_entries(path: Path | None) -> dict[str, Entry]:
    """Return the entries of a file of results by their keys; none if there is no such file."""
    if path is None or not path.exists():
        return {}
    content = json.loads(path.read_text())
    entries: dict[str, Entry] = content.get("entries", {"": content})
    return entries


def write_entries(path: Path, name: str, entries: dict[str, Entry]) -> None:
    """Write a file of results, each row of figures on a line of its own."""
    texts = []
    for key, entry in entries.items():
        about = "".join(f"  {_json(field)}: {_json(value)},\n" for field, value in entry.items() if field != "rows")
        rows = ",\n".join(f"   {_json(row)}" for row in entry["rows"])
        texts.append(f" {_json(key)}: {{\n{about}" + f'  "rows": [\n{rows}\n  ]}}')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{"benchmark": {_json(name)}, "entries": {{\n' + ",\n".join(texts) + "\n}}\n")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
