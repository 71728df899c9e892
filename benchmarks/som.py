"""Time the training of maps and measure their quality: gpuasm, other programs, the first published GPU version.

python benchmarks/som.py --json results/som.json            speed, on the CPU and on a device if there is one
python benchmarks/som.py --quality --json results/som_quality.json
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import som_strategies
from record import record
from som_peers import installed, minisom_in_order, peers

from gpuasm import arrays
from gpuasm.clustering import MapGrid, SelfOrganisingMap
from gpuasm.clustering.search.search import Searcher
from gpuasm.clustering.training.batch import BatchTraining
from gpuasm.clustering.training.neighbourhood import neighbourhood_of
from gpuasm.clustering.training.online import OnlineTraining
from gpuasm.clustering.training.schedule import decayed
from gpuasm.clustering.training.start import start_weights

SEED_CASE = (12_000, 12, 200, 200)
PUBLISHED = [
    {"what": "a best unit, F#, one thread", "s": 0.140},
    {"what": "a best unit, C++, one thread", "s": 0.004},
    {"what": "an epoch, C++, one thread", "s": 40.0},
    {"what": "500 epochs, C++, one thread", "s": 4 * 3600.0},
]
"""Of "Computing Self-Organizing Maps in a Massively Parallel Way with CUDA", for the case above."""


def blobs(n: int, d: int, *, groups: int = 30, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 1.5, (groups, d))
    return (centres[rng.integers(groups, size=n)] + rng.normal(size=(n, d))).astype(np.float32)


def timed(xp: Any, work: Callable[[], Any], repeat: int) -> dict[str, float]:
    """Run once to warm up, then measure."""
    times = []
    for _ in range(repeat + 1):
        arrays.synchronize(xp)
        began = time.perf_counter()
        work()
        arrays.synchronize(xp)
        times.append(time.perf_counter() - began)
    return {"first_s": times[0], "median_s": float(np.median(times[1:])), "least_s": min(times[1:])}


def our_speed(xp: Any, case: tuple[int, int, int, int], *, repeat: int, stages: bool = False) -> list[dict[str, Any]]:
    """Time a pass over all rows, and an epoch early and late in a training."""
    n, d, rows, columns = case
    grid, data = MapGrid(rows, columns), arrays.to_namespace(xp, blobs(n, d))
    weights = arrays.to_namespace(xp, start_weights(data, grid, "pca", seed=0))
    training, found = BatchTraining(data, grid, "euclidean"), []
    bounds = (min(rows, columns) / 4, 0.5)
    for share in (0.0, 0.5, 1.0):
        # Halfway there by a few epochs of falling radius, so that the units lie as they do at this time of a training.
        steps = [decayed(bounds, round(share * 499 * i / 4), 500, decay="linear") for i in range(5)] if share else []
        weights = training.run(weights, [neighbourhood_of(grid, "gaussian", step) for step in steps])
        now = [neighbourhood_of(grid, "gaussian", decayed(bounds, round(share * 499), 500, decay="linear"))]
        search = timed(xp, lambda own=weights: training.searcher(own), repeat)
        epoch = timed(xp, lambda own=weights, now=now: training.run(own, now), repeat)
        found += [
            {"what": f"best units, {share:.0%} trained", **search},
            {"what": f"epoch, {share:.0%} trained", **epoch},
        ]
    if stages:
        found.append({"what": "500 epochs", **timed(xp, lambda: fit(data, rows, columns, 500), 1)})
    return [{"program": "gpuasm", "case": list(case), **row} for row in found]


def fit(data: Any, rows: int, columns: int, epochs: int) -> SelfOrganisingMap:
    return SelfOrganisingMap(rows, columns, epochs=epochs).fit(data)


def peer_speed(xp: Any, case: tuple[int, int, int, int], *, epochs: int) -> list[dict[str, Any]]:
    n, d, rows, columns = case
    data, found = blobs(n, d), []
    start = start_weights(data, MapGrid(rows, columns), "pca", seed=0)
    for name, train in peers(xp).items():
        row = {"program": name, "case": list(case), "what": "epoch"}
        if train is None:
            found.append({**row, "missing": "not installed"})
            continue
        if name.startswith("minisom"):  # one row after another: time does not depend on what came before
            data_now, scale = data[: min(n, 300)], n / min(n, 300)
        else:
            data_now, scale = data, 1.0
        began = time.perf_counter()
        try:
            train(data_now, start, (rows, columns), (min(rows, columns) / 4, 0.5), epochs)
        except Exception as error:
            found.append({**row, "failed": repr(error)[:200]})
            print(found[-1], flush=True)
            continue
        row |= {"median_s": (time.perf_counter() - began) / epochs * scale, "epochs": epochs, "scaled_by": scale}
        found.append(row)
        print(found[-1], flush=True)
    return found


def strategies(xp: Any) -> list[dict[str, Any]]:
    """Time the two published strategies and gpuasm's search on the published case, and compare the units.

    Units are drawn from the rows, so many are equal: over map units, a block keeps any of the equally near.
    """
    n, d, rows, columns = SEED_CASE
    data = arrays.to_namespace(xp, blobs(n, d))
    weights = arrays.to_namespace(xp, start_weights(data, MapGrid(rows, columns), "random", seed=0))
    few = 500
    units = arrays.to_host(Searcher(data, "euclidean")(weights)[0][0])
    same = np.array_equal(som_strategies.over_nodes(data, weights), units)
    same_few = np.array_equal(som_strategies.over_map_units(data, weights, n=few), units[:few])
    by_unit = timed(xp, lambda: som_strategies.over_map_units(data, weights, n=few), 3)["median_s"] * n / few
    by_node = timed(xp, lambda: som_strategies.over_nodes(data, weights), 5)["median_s"]
    return [
        {"program": "over map units", "what": "best units", "median_s": by_unit, "same_units": same_few},
        {"program": "over nodes", "what": "best units", "median_s": by_node, "same_units": same},
    ]


ORDERS = range(20)
"""Seeds of the orders in which online training takes the rows."""


def quality() -> list[dict[str, Any]]:
    """Train on the same rows from the same start by the same radii, and measure all maps alike.

    Batch training is compared with batch training, online training with minisom's, which gets the rows in the
    same order and the same radius and rate at each step, averaged over twenty orders.
    """
    found = []
    for n, d, rows, columns, groups in ((2000, 12, 15, 20, 8), (3000, 40, 20, 20, 30), (1500, 3, 10, 30, 4)):
        data, grid, epochs, sigma = blobs(n, d, groups=groups), MapGrid(rows, columns), 20, (5.0, 0.5)
        start = start_weights(data, grid, "pca", seed=0)
        options = {"start": start, "radius": sigma, "epochs": epochs}
        trained: dict[str, list[Any]] = {"gpuasm": [SelfOrganisingMap(rows, columns, **options).fit(data).weights_]}
        for name, train in peers(np).items():
            if not name.startswith("minisom"):
                trained[name] = [] if train is None else [train(data, start, (rows, columns), sigma, epochs)]
        online = [SelfOrganisingMap(rows, columns, training="online", seed=seed, **options) for seed in ORDERS]
        trained["gpuasm (online)"] = [som.fit(data).weights_ for som in online]
        schedules = [schedule_of(som, n) for som in online] if installed("minisom") else []
        trained["minisom (online)"] = [minisom_in_order(data, start, (rows, columns), each) for each in schedules]
        for name, maps in trained.items():
            row = {"program": name, "case": [n, d, rows, columns]}
            found.append({**row, **mean_errors(data, grid, maps)} if maps else {**row, "missing": "not installed"})
            print(found[-1], flush=True)
    return found


def schedule_of(som: SelfOrganisingMap, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows as an online training of n rows takes them, and the radius and the rate at each step."""
    online = OnlineTraining(
        som.grid_, som.metric, som.neighbourhood, som.radius, som.rate, som.decay, som.epochs, som.seed
    )
    stages = [stage for epoch in online.stages(n) for stage in epoch]
    sizes = [stage.order.size for stage in stages]
    radii = [decayed(som.radius, step, len(stages), decay=som.decay) for step in range(len(stages))]
    order = np.concatenate([stage.order for stage in stages])
    return order, np.repeat(radii, sizes), np.repeat([stage.rate for stage in stages], sizes)


def mean_errors(data: np.ndarray, grid: MapGrid, maps: list[Any]) -> dict[str, float]:
    training = BatchTraining(data, grid, "euclidean")
    for weights in maps:
        training.note_errors(*training.searcher(weights.astype(np.float32)))
    errors = training.errors()
    return {
        "quantisation": float(np.mean([e.quantisation for e in errors])),
        "topographic": float(np.mean([e.topographic for e in errors])),
        "maps": len(maps),
    }


def speed(options: argparse.Namespace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"program": "published", "case": list(SEED_CASE), **row} for row in PUBLISHED]
    for device in options.device.split(","):
        xp = arrays.namespace_of(device)
        on_device = xp is not np
        cases = [SEED_CASE, (500_000, 140, 300, 300)] if on_device else [SEED_CASE, (4000, 140, 100, 100)]
        rows = strategies(xp) if on_device else []
        for case in cases:
            repeat = 5 if on_device else 1
            rows += our_speed(xp, case, repeat=repeat, stages=on_device and case == SEED_CASE)
            print(*rows[-7:], sep="\n", flush=True)
            if case == SEED_CASE or not on_device:  # the distances of the large case do not fit the peer's memory
                rows += peer_speed(xp, case, epochs=3 if on_device else 1)
        if on_device:
            for n in (3_000, 48_000, 192_000, 768_000):
                rows += our_speed(xp, (n, 12, 200, 200), repeat=3)
            for side in (50, 100, 400, 800):
                rows += our_speed(xp, (12_000, 12, side, side), repeat=3)
        found += [{"device": device, **row} for row in rows]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quality", action="store_true", help="weigh quality, not speed")
    parser.add_argument("--device", default="cpu,cuda" if arrays.device_count() else "cpu")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = quality() if options.quality else speed(options)
    name = "som_quality" if options.quality else "som"
    record(options.json, name, {"seed_case": list(SEED_CASE)}, rows)


if __name__ == "__main__":
    main()
