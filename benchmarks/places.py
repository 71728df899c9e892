"""Hide a fifth of the samples' places twenty times, and infer them by gpuasm, by the nearest genome and by TreeTime.

``python benchmarks/places.py --set NAME FOLDER SHEET TREE --treetime PYTHON --json places.json`` takes the folder of
``gpuasm relate``, the sheet of the samples with their coordinates, dates and names of places, and a Newick tree for
TreeTime, "-" for that of the folder. PYTHON is one that has phylo-treetime; without it TreeTime is left out. Columns
named continent, region, country, division or place are inferred too. All methods get the same hidden samples. The
nearest genome is that of the least Mash distance, of equals the first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from record import record

from gpuasm.cli.compared_samples import read_compared_samples
from gpuasm.cli.geolocate_related import RelatedRun
from gpuasm.cli.related_inputs import related_run
from gpuasm.geolocation.calibration import macro_f1
from gpuasm.geolocation.related import kilometres
from gpuasm.io.graphs import read_graph
from gpuasm.io.labels import read_labels

SHARE, TIMES = 0.2, 20
COLUMNS = ("continent", "region", "country", "division", "place")
DATES = ("date", "collection_date", "year")
_HELPER = Path(__file__).with_name("treetime_places.py")
_A_METRE = 1e-3


class Set(NamedTuple):
    """Samples, their places and names of places, and the file of a tree."""

    run: RelatedRun
    places: np.ndarray
    samples: tuple[str, ...]
    tree: Path

    def hidden(self, seed: int, known: np.ndarray) -> np.ndarray:
        return np.sort(np.random.Generator(np.random.PCG64(seed)).permutation(known)[: round(SHARE * known.size)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", nargs=4, action="append", required=True, metavar=("NAME", "FOLDER", "SHEET", "TREE"))
    parser.add_argument("--treetime", metavar="PYTHON")
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    for name, folder, sheet, tree in options.set:
        one = read_set(Path(folder), Path(sheet), tree)
        rows += measure(name, one, options.times, options.treetime)
    record(options.json, "places", {"share": SHARE, "times": options.times}, rows)


def read_set(folder: Path, sheet: Path, tree: str) -> Set:
    graph = read_graph(folder / "graph.npz")
    compared = read_compared_samples(folder / "graph.npz", graph)
    if compared is None:
        raise SystemExit(f"{folder} has no compared samples: run gpuasm relate again")
    labels = read_labels(sheet, graph, skip_unknown=True, columns=(*COLUMNS, *DATES))
    titles = [title for title in COLUMNS if any(labels.columns.get(title, []))]
    run = related_run(compared, labels, sheet, {"names": titles, "max_radius": None})
    return Set(run, labels.places, compared[0].names, folder / "tree.nwk" if tree == "-" else Path(tree))


def measure(name: str, one: Set, times: int, treetime: str | None) -> list[dict[str, Any]]:
    known = np.flatnonzero(~np.isnan(one.places[:, 0]))
    hidden = [one.hidden(seed, known) for seed in range(times)]
    about = {"set": name, "samples": len(one.places), "places_known": int(known.size)}
    about["places"] = len(np.unique(one.places[known], axis=0))
    rows = [gpuasm_row(one, hidden), nearest_row(one, known, hidden)]
    if treetime:
        rows.append(treetime_row(one, known, hidden, treetime))
    rows = [about | row for row in rows]
    for row in rows:
        print(row, flush=True)
    return rows


def gpuasm_row(one: Set, hidden: list[np.ndarray]) -> dict[str, Any]:
    run, errors, radii, pairs = one.run, [], [], {title: [] for title in one.run.names}
    begun = time.perf_counter()
    for own in hidden:
        left = one.places.copy()
        left[own] = np.nan
        located, named = run.infer(left, own)
        errors.append(paired_km(one.places[own], located.places[own]))
        radii.append(located.radius_km[own])
        for title, found in named.items():
            best = [found.names[i] if i >= 0 else None for i in found.best[own].tolist()]
            pairs[title].append(([run.names[title][i] for i in own.tolist()], best))
    seconds = (time.perf_counter() - begun) / len(hidden)
    error, radius = np.concatenate(errors), np.concatenate(radii)
    has = ~np.isnan(radius) & ~np.isnan(error)[:, None]
    within = [float((error <= radius[:, i] + _A_METRE)[has[:, i]].mean()) for i in range(2)]
    row = {"method": "gpuasm", **errors_of(error), "within_50": round(within[0], 3), "within_90": round(within[1], 3)}
    row["radius_50_median_km"], row["radius_90_median_km"] = np.round(np.nanmedian(radius, axis=0), 1).tolist()
    return row | {"macro_f1": scores_of(pairs), "seconds": round(seconds, 2)}


def nearest_row(one: Set, known: np.ndarray, hidden: list[np.ndarray]) -> dict[str, Any]:
    errors, pairs = [], {title: [] for title in one.run.names}
    for own in hidden:
        left = np.setdiff1d(known, own)
        nearest = left[one.run.samples.nearest_distance[np.ix_(own, left)].argmin(axis=1)]
        errors.append(paired_km(one.places[own], one.places[nearest]))
        for title, names in one.run.names.items():
            pairs[title].append(([names[i] for i in own.tolist()], [names[i] for i in nearest.tolist()]))
    return {"method": "nearest genome, Mash", **errors_of(np.concatenate(errors)), "macro_f1": scores_of(pairs)}


def treetime_row(one: Set, known: np.ndarray, hidden: list[np.ndarray], python: str) -> dict[str, Any]:
    sites, number = np.unique(one.places[known], axis=0, return_inverse=True)
    site_of = dict(zip(known.tolist(), (f"p{i}" for i in number.ravel().tolist()), strict=True))
    begun = time.perf_counter()
    found = by_treetime(one, [states_without(site_of, own) for own in hidden], python)
    seconds = (time.perf_counter() - begun) / len(hidden)
    errors, pairs = [], {title: [] for title in one.run.names}
    for own, best in zip(hidden, found, strict=True):
        errors.append(paired_km(one.places[own], sites[[int(best[f"t{i}"][1:]) for i in own.tolist()]]))
    for title, names in one.run.names.items():
        given = {i: name for i, name in enumerate(names) if name is not None}
        for own, best in zip(
            hidden, by_treetime(one, [states_without(given, own) for own in hidden], python), strict=True
        ):
            pairs[title].append(([names[i] for i in own.tolist()], [best.get(f"t{i}") for i in own.tolist()]))
    row = {"method": "TreeTime", **errors_of(np.concatenate(errors)), "macro_f1": scores_of(pairs)}
    return row | {"seconds": round(seconds, 2)}


def states_without(states: dict[int, str], hidden: np.ndarray) -> dict[str, str | None]:
    own = set(hidden.tolist())
    return {f"t{i}": None if i in own else state for i, state in states.items()}


def by_treetime(one: Set, folds: list[dict[str, str | None]], python: str) -> list[dict[str, str]]:
    given = json.dumps({"tree": str(one.tree), "leaves": one.samples, "folds": folds})
    done = subprocess.run([python, str(_HELPER)], input=given, capture_output=True, text=True, check=True)
    result: list[dict[str, str]] = json.loads(done.stdout)
    return result


def errors_of(error: np.ndarray) -> dict[str, Any]:
    done = error[~np.isnan(error)]
    return {
        "hidden": int(error.size), "inferred": int(done.size), "median_km": round(float(np.median(done)), 1),
        "mean_km": round(float(done.mean()), 1), "exact": round(float((done < 1).mean()), 3),
    }  # fmt: skip


def scores_of(pairs: dict[str, list[tuple[list[str | None], list[str | None]]]]) -> dict[str, float]:
    """Return the mean over the runs of macro F1, for each column."""
    return {title: round(float(np.mean([score_of(*run) for run in runs])), 3) for title, runs in pairs.items()}


def score_of(truth: list[str | None], best: list[str | None]) -> float:
    kinds = {name: i for i, name in enumerate(sorted({name for name in (*truth, *best) if name is not None}))}
    rows = [(kinds[a], kinds.get(b, -1)) for a, b in zip(truth, best, strict=True) if a is not None]
    return macro_f1(*np.array(rows).T)


def paired_km(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.diagonal(kilometres(a, b))


if __name__ == "__main__":
    main()
