"""Make the tables of benchmarks in README, benchmarks/README and docs/scale from benchmarks/results/*.json.

    python benchmarks/tables.py            # rewrite the text between the markers
    python benchmarks/tables.py --check    # only check whether it is up to date

A table is between ``<!-- table: NAME -->`` and ``<!-- end table -->``. Each is made from all entries of the results of
its benchmarks.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import assembler_tables
import community_tables
import damage_tables
import forecast_tables
import graph_tables
import map_tables
import scale_tables
import speed_tables
from ablation_tables import ablation
from result_files import read_entries
from table_text import Result

HERE = Path(__file__).parent
_MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end table -->)", re.DOTALL)
TABLES: dict[str, Callable[[list[Result]], str]] = {
    **assembler_tables.TABLES,
    "speed": speed_tables.speed,
    "counting": speed_tables.counting,
    "tenths": speed_tables.tenths,
    "exactness": speed_tables.exactness,
    "same_bytes": speed_tables.same_bytes,
    "fuzz": speed_tables.fuzz,
    "endurance": damage_tables.endurance,
    "community": community_tables.community,
    "bins": community_tables.bins,
    "ablation": ablation,
    "forecasts": forecast_tables.forecasts,
    "growth": forecast_tables.growth,
    "trimming": map_tables.trimming,
    "maps": map_tables.maps,
    "map_quality": map_tables.map_quality,
    "geolocation": map_tables.geolocation,
    "geolocation_medians": map_tables.geolocation_medians,
    "places": map_tables.places,
    "euler": graph_tables.euler,
    "pagerank": graph_tables.pagerank,
    "pagerank_exactness": graph_tables.pagerank_exactness,
    "densest": graph_tables.densest,
    "relate": graph_tables.relate,
    "scale": scale_tables.scale,
    "batches": scale_tables.batches,
    "devices": scale_tables.devices,
    "buckets": scale_tables.buckets,
    "cluster": scale_tables.cluster,
}


def read_results(folder: Path) -> list[Result]:
    """Return all entries of all files of results in the order of their names."""
    return [
        {"benchmark": json.loads(path.read_text())["benchmark"], "key": key, **entry}
        for path in sorted(folder.glob("*.json"))
        for key, entry in read_entries(path).items()
    ]


def filled(text: str, results: list[Result]) -> str:
    """Return a document with each marked table made again; a table without results has a line that states this."""

    def table(match: re.Match[str]) -> str:
        if match[2] not in TABLES:
            sys.exit(f"no table is called {match[2]!r}; there are {', '.join(TABLES)}")
        return f"{match[1]}{TABLES[match[2]](results) or 'Not measured yet.'}\n{match[3]}"

    return _MARKED.sub(table, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    documents = [HERE.parent / "README.md", HERE / "README.md", HERE.parent / "docs" / "scale.md"]
    parser.add_argument("--document", type=Path, nargs="+", default=documents)
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a table is out of date")
    options = parser.parse_args()
    results = read_results(options.results)
    stale = []
    for document in options.document:
        old = document.read_text()
        new = filled(old, results)
        if new != old:
            stale.append(str(document))
            if not options.check:
                document.write_text(new)
    if options.check and stale:
        sys.exit(f"out of date: {', '.join(stale)}; run benchmarks/tables.py")


if __name__ == "__main__":
    main()
