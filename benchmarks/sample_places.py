"""Join the metadata of samples with tables of places: a line a sample, with its latitude and longitude where known.

``python benchmarks/sample_places.py metadata.tsv --name strain --places division --table places.tsv -o labels.tsv``
looks each place up in the tables, first as a division, then as a location, then as a country (``--kinds``);
``--place-in-name 2`` takes the place from the second part of names such as A/Texas/67/2007. Tables have four columns
(kind, place, latitude, longitude), or a header line, of which ``--columns`` names the place, the latitude and the
longitude. ``--samples samples.tsv`` of gpuasm relate lists the samples to use in their order. ``--keep date country``
copies columns of the metadata.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path

Place = tuple[float, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("metadata", type=Path)
    parser.add_argument("--name", required=True, help="column of the samples' names")
    parser.add_argument("--places", nargs="*", default=[], help="columns of places, the finest first")
    parser.add_argument("--place-in-name", type=int, help="the part of the name between / that is a place, from 1")
    parser.add_argument("--kinds", nargs="*", default=["division", "location", "country"], help="looked up in turn")
    parser.add_argument("--table", type=Path, action="append", required=True)
    parser.add_argument("--columns", nargs=3, help="place, latitude, longitude, in tables with a header")
    parser.add_argument("--samples", type=Path)
    parser.add_argument("--keep", nargs="*", default=[], help="columns to copy")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    tables = [read_table(path, options.columns) for path in options.table]
    place_of, kept_of = {}, {}
    for row in rows_of(options.metadata):
        name = row[options.name]
        kept_of[name] = [row[column] or "" for column in options.keep]
        texts = [row[column] for column in options.places]
        if options.place_in_name:
            parts = name.split("/")
            texts.insert(0, parts[options.place_in_name - 1] if len(parts) >= options.place_in_name else "")
        place_of[name] = find(texts, tables, options.kinds)
    names = [row["sample"] for row in rows_of(options.samples)] if options.samples else list(place_of)
    lines = ["\t".join(["vertex", "latitude", "longitude", *options.keep])]
    for name in names:
        place = place_of.get(name) or ("", "")
        lines.append("\t".join([name, *map(str, place), *kept_of.get(name, [""] * len(options.keep))]))
    options.output.write_text("".join(f"{line}\n" for line in lines))
    known = [place for place in map(place_of.get, names) if place]
    print(f"{len(names)} samples, {len(known)} with a place, {len(set(known))} places")


def rows_of(path: Path) -> list[dict[str, str]]:
    text = path.read_text(encoding="utf-8", errors="replace")
    return list(csv.DictReader(text.splitlines(), delimiter="\t" if "\t" in text.partition("\n")[0] else ","))


def read_table(path: Path, columns: list[str] | None) -> dict[tuple[str, str], Place]:
    """Return the place of each (kind, name); the kind is "" in tables with a header."""
    if columns:
        place, latitude, longitude = columns
        return {("", key(row[place])): (float(row[latitude]), float(row[longitude])) for row in rows_of(path)}
    rows = csv.reader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    return {(row[0], key(row[1])): (float(row[2]), float(row[3])) for row in rows if len(row) >= 4}


def find(texts: list[str], tables: list[dict[tuple[str, str], Place]], kinds: list[str]) -> Place | None:
    for text in texts:
        for kind in ("", *kinds):
            for table in tables:
                if text and (kind, key(text)) in table:
                    return table[kind, key(text)]
    return None


def key(name: str) -> str:
    """Return a name without what differs between tables: case, blanks, underscores."""
    return re.sub(r"[\W_]", "", name.lower())


if __name__ == "__main__":
    main()
