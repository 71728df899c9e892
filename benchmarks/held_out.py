"""Hide a fifth of the samples' places, infer them from related samples, and measure how far off they are.

``python benchmarks/held_out.py --set NAME GRAPH LABELS --json held_out.json`` takes graph.npz of ``gpuasm relate`` and
the table that sample_places.py makes. It has two baselines: the commonest place, and the place of the nearest
genome that has one. Neighbours are those that edges lead to (``--directed`` of ``gpuasm geolocate``), and then those at
either end. All are measured on the same samples, twenty times over.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from record import record

from gpuasm.geolocation import LocatingOptions, hold_out, locate
from gpuasm.graph import DirectedGraph
from gpuasm.graph.undirected_graph import undirected_graph
from gpuasm.io.graphs import read_weighted_graph

SHARE, TIMES = 0.2, 20
NEAR_KM = 100
_SAME_KM = 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", nargs=3, action="append", required=True, metavar=("NAME", "GRAPH", "LABELS"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [
        measure(name, Path(graph), Path(labels), both_directions=both_directions)
        for name, graph, labels in options.set
        for both_directions in (False, True)
    ]
    record(options.json, "held_out", {"share": SHARE, "times": TIMES}, rows)


def measure(name: str, graph_path: Path, labels_path: Path, *, both_directions: bool) -> dict[str, Any]:
    graph, weights = read_weighted_graph(graph_path)
    if both_directions:
        merged = undirected_graph(graph, weights)
        graph, weights = DirectedGraph(merged.row_offsets, merged.columns, graph.names), merged.weights
    with labels_path.open(newline="", encoding="utf-8") as file:
        rows = {row["vertex"]: (row["latitude"], row["longitude"]) for row in csv.DictReader(file, delimiter="\t")}
    empty = ("", "")
    places = np.array([[float(text or "nan") for text in rows.get(str(vertex), empty)] for vertex in graph.names or ()])

    def infer(left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = locate(graph, left, LocatingOptions(), weights=weights)
        return found.places, found.radius_km

    found = [hold_out(graph, places, infer, share=SHARE, seed=seed, weights=weights) for seed in range(TIMES)]
    known = ~np.isnan(places[:, 0])
    row: dict[str, Any] = {
        "set": name,
        "both_directions": both_directions,
        "samples": len(places),
        "places_known": int(known.sum()),
    }
    row["places"] = len(np.unique(places[known], axis=0))
    row["held_out"] = sum(one.vertices.size for one in found)
    errors = {title: np.concatenate([getattr(one, f"{title}_km") for one in found]) for title in TITLES}
    medians = np.array([[np.nanmedian(getattr(one, f"{title}_km")) for title in TITLES] for one in found])
    row["times_better_than_nearest"] = int((medians[:, 0] < medians[:, 1] - _SAME_KM).sum())
    row["times_worse_than_nearest"] = int((medians[:, 0] > medians[:, 1] + _SAME_KM).sum())
    done = ~np.isnan(errors["error"])
    row["inferred"] = int(done.sum())
    for title, label in TITLES.items():
        error = errors[title][done]
        row[label] = {
            "median_km": round(float(np.median(error)), 1),
            "mean_km": round(float(error.mean()), 1),
            "within_100_km": round(float((error <= NEAR_KM).mean()), 3),
        }
    print(row)
    return row


TITLES = {"error": "geolocate", "nearest": "nearest_genome", "commonest": "commonest_place"}


if __name__ == "__main__":
    main()
