"""Time geolocation by Gunrock's rules on power-law graphs, and check what it finds; under a minute on a device.

    python benchmarks/geolocation.py --json results/geolocation.json            # a device, if there is one, and the CPU
    python benchmarks/geolocation.py --device cpu

Graphs have the sizes of the published figures: 23.7 million vertices with 82.7 million edges, and 50.2 million with 488
million, counted as they lie in memory. The degree of the vertex of rank i is as i to the power of -1 / (exponent - 1),
ends are drawn by the same law, and ranks are shuffled. Places are uniform on the sphere and have nothing to do with the
graph, which is when a median takes the most steps. All of gpuasm computes in double precision.
"""

from __future__ import annotations

import argparse
import functools
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from geolocation_plain import plain_round
from geolocation_strategies import STRATEGIES, locate_by
from record import record

from gpuasm import arrays
from gpuasm.geolocation import gunrock_locations
from gpuasm.graph import DirectedGraph
from gpuasm.threads import run_chunks, thread_count

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.oracles.geolocation import gunrock_median, midpoint

SIZES = {"23.7 M / 82.7 M": (23_731_995, 82_711_740), "50.2 M / 488 M": (50_190_344, 488_078_602)}
SEED = {"23.7 M / 82.7 M": "15.11 ms on a P100", "50.2 M / 488 M": "46.11 ms on a V100"}
SHARES = (0.9, 0.5, 0.1)
ITERATIONS, SPATIAL_ITERATIONS = 10, 1000
EXPONENTS = (math.inf, 3.0, 2.5, 2.2, 2.05)


def power_law_graph(xp: Any, n: int, m: int, exponent: float, seed: int = 1) -> DirectedGraph:
    """Return a graph of n vertices and m edges whose degrees follow a power law; all alike if it is infinite."""
    rng = xp.random.RandomState(seed)
    fall = 1.0 / (exponent - 1.0)  # 0 if all are alike
    rank = xp.arange(1, n + 1, dtype=np.float64)
    degree = rank**-fall
    degree = xp.floor(degree * (m / float(degree.sum())) + rng.random_sample(n)).astype(np.int64)
    degree[0] = max(0, int(degree[0]) + m - int(degree.sum()))
    shuffled = xp.argsort(rng.random_sample(n)).astype(np.int32)
    offsets = xp.zeros(n + 1, np.int64)
    of_vertex = xp.empty_like(degree)
    of_vertex[shuffled] = degree
    xp.cumsum(of_vertex, out=offsets[1:])
    columns = xp.empty(int(offsets[-1]), np.int32)
    for first in range(0, columns.size, 1 << 26):
        part = columns[first : first + (1 << 26)]
        part[:] = shuffled[xp.minimum(n * rng.random_sample(part.size) ** (1 / (1 - fall)), n - 1).astype(np.int32)]
    return DirectedGraph(offsets, columns)


def places_of(xp: Any, n: int, share: float, seed: int = 2) -> Any:
    """Return places uniform on the sphere, known for a share of the vertices."""
    rng = xp.random.RandomState(seed)
    places = xp.empty((n, 2))
    places[:, 0] = xp.degrees(xp.arcsin(rng.uniform(-1, 1, n)))
    places[:, 1] = rng.uniform(-180, 180, n)
    places[rng.random_sample(n) >= share] = np.nan
    return places


def times_of(xp: Any, function: Any, repeat: int) -> tuple[Any, list[float]]:
    """Return a function's result and the seconds that each of some calls took."""
    result, times = None, []
    for _ in range(repeat):
        result = None
        arrays.synchronize(xp)
        began = time.perf_counter()
        result = function()
        arrays.synchronize(xp)
        times.append(time.perf_counter() - began)
    return result, times


def check(graph: DirectedGraph, places: Any, found: Any, rounds: Any, *, n: int = 400) -> dict[str, float]:
    """Compare vertices inferred in the first round, the one of most neighbours among them, with the slow rules."""
    xp = arrays.array_namespace(places)
    rows = xp.flatnonzero(rounds == 1)
    length = graph.row_offsets[rows + 1] - graph.row_offsets[rows]
    few = rows[length <= 100_000]
    longest = few[graph.row_offsets[few + 1] - graph.row_offsets[few] >= 10_000][:3]
    chosen = arrays.to_host(xp.concatenate([longest, rows[:: max(1, rows.size // n)]]))
    worst, beyond = 0.0, 0
    for v in chosen.tolist():
        first, last = (int(x) for x in graph.row_offsets[v : v + 2])
        near = arrays.to_host(places[graph.columns[first:last]])
        near = [tuple(p) for p in near[~np.isnan(near).any(axis=1)].tolist()]
        expected = near[0] if len(near) == 1 else midpoint(*near) if len(near) == 2 else gunrock_median(near)
        by_lat, by_lon = np.abs(arrays.to_host(found[v]) - expected).tolist()
        difference = max(by_lat, min(by_lon, abs(by_lon - 360)))
        worst, beyond = max(worst, difference), beyond + (difference > 1e-7)
    return {"checked": len(chosen), "largest_difference_degrees": worst, "beyond_1e-7": beyond}


def ours(graph: DirectedGraph, places: Any, repeat: int) -> dict[str, Any]:
    """Time gpuasm's inference."""
    xp = arrays.array_namespace(places)

    def infer() -> Any:
        return gunrock_locations(graph, places, iterations=ITERATIONS, spatial_iterations=SPATIAL_ITERATIONS)

    (found, rounds), times = times_of(xp, infer, repeat)
    row = {"program": "gpuasm", "precision": "double", "best_ms": min(times) * 1e3, "first_ms": times[0] * 1e3}
    row |= {"median_ms": float(np.median(times[1:] or times)) * 1e3}
    unknown = int((rounds != 0).sum())
    row |= {"unknown": unknown, "inferred": int((rounds > 0).sum()), "rounds": int(rounds.max())}
    return row | check(graph, places, found, rounds)


def on_device(xp: Any, budget_s: float) -> list[dict[str, Any]]:
    """Time both sizes with each share of known places, and the three strategies as far as the time allows."""
    end, rows = time.perf_counter() + budget_s, []
    for size, (n, m) in SIZES.items():
        graph = power_law_graph(xp, n, m, 2.5)
        about = {"device": "cuda", "size": size, "vertices": n, "edges": graph.n_edges, "exponent": 2.5}
        about |= {"longest_row": int(graph.out_degree.max())}
        for share in SHARES:
            rows += one_case({**about, "known": share}, graph, places_of(xp, n, share), end)
        del graph
        xp.get_default_memory_pool().free_all_blocks()
    return rows


def one_case(about: dict[str, Any], graph: DirectedGraph, places: Any, end: float) -> list[dict[str, Any]]:
    rows = [{**about, **ours(graph, places, 6)}]
    show(rows[0])
    for strategy in STRATEGIES:
        if time.perf_counter() > end:
            print(f"no time left for {strategy}, {about['size']}, {about['known']:.0%} known")
            continue
        rows.append(
            {**about, "program": strategy, "precision": "single", "median_ms": strategy_ms(strategy, graph, places)}
        )
        show(rows[-1])
    return rows


def strategy_ms(strategy: str, graph: DirectedGraph, places: Any) -> float:
    """Return the milliseconds of one run by a strategy, compiled before."""
    limits = {"iterations": ITERATIONS, "spatial_iterations": SPATIAL_ITERATIONS}
    xp = arrays.array_namespace(places)
    locate_by(strategy, xp.zeros(2, np.int64), graph.columns[:0], places[:1], **limits)  # a vertex without edges
    run = functools.partial(locate_by, strategy, graph.row_offsets, graph.columns, places, **limits)
    _, (seconds,) = times_of(xp, run, 1)
    return seconds * 1e3


def skew(xp: Any, n: int, m: int, repeat: int, *, strategies: bool) -> list[dict[str, Any]]:
    """Time graphs of one size and of more and more skewed degrees."""
    rows = []
    for exponent in EXPONENTS:
        graph, places = power_law_graph(xp, n, m, exponent), places_of(xp, n, 0.9)
        about = {"device": "cpu" if xp is np else "cuda", "size": f"skew, {n:,} / {m:,}", "vertices": n}
        about |= {"edges": graph.n_edges, "exponent": exponent if math.isfinite(exponent) else None}
        about |= {"longest_row": int(graph.out_degree.max()), "known": 0.9}
        rows.append({**about, **ours(graph, places, repeat)})
        show(rows[-1])
        if strategies and about["longest_row"] < 200_000:  # a thread alone with more takes seconds
            median_ms = strategy_ms("early exit", graph, places)
            rows.append({**about, "program": "early exit", "precision": "single", "median_ms": median_ms})
            show(rows[-1])
    return rows


def on_cpu(n: int, m: int) -> list[dict[str, Any]]:
    """Time the CPU and a plain compiled loop with the functions of the mathematical library, on as many threads."""
    rows = []
    graph = power_law_graph(np, n, m, 2.5)
    about = {"device": "cpu", "threads": thread_count(), "size": f"CPU, {n:,} / {m:,}", "vertices": n}
    about |= {"edges": graph.n_edges, "exponent": 2.5, "longest_row": int(graph.out_degree.max())}
    for share in SHARES:
        places = places_of(np, n, share)
        rows.append({**about, "known": share, **ours(graph, places, 3)})
        show(rows[-1])
        found, times = times_of(np, functools.partial(plain_rounds, graph, places), 2)
        mine, _ = gunrock_locations(graph, places, iterations=ITERATIONS, spatial_iterations=SPATIAL_ITERATIONS)
        apart = np.abs((found - mine + 180) % 360 - 180)
        rows.append({**about, "known": share, "program": "plain loop", "precision": "double"})
        rows[-1] |= {"median_ms": min(times) * 1e3, "beyond_1e-7": int((apart > 1e-7).any(axis=1).sum())}
        show(rows[-1])
    return rows


def plain_rounds(graph: DirectedGraph, places: np.ndarray) -> np.ndarray:
    places = places.copy()
    for _ in range(ITERATIONS):
        after = places.copy()
        args = (graph.row_offsets, graph.columns, places, SPATIAL_ITERATIONS, int(graph.out_degree.max()), after)
        run_chunks(plain_round, len(places), *args)
        if np.array_equal(after, places, equal_nan=True):
            break
        places = after
    return places


def show(row: dict[str, Any]) -> None:
    checked = f"{row['largest_difference_degrees']:.1e} of {row['checked']}" if "checked" in row else ""
    known = f"{row['known']:.0%} known"
    exponent = row["exponent"] or "even"
    print(
        f"{row['device']:5} {row['size']:24} {exponent!s:5} {row['longest_row']:>9,} {known:10} {row['program']:11}"
        f" {row['median_ms']:10.2f} ms  {checked}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--small", action="store_true", help="small graphs on the CPU: to try the script")
    parser.add_argument("--seconds", type=float, default=30, help="after which no more strategies are begun")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    if options.device == "auto" and arrays.device_count():
        xp = arrays.namespace_of("cuda")
        rows += on_device(xp, options.seconds)
        rows += skew(xp, 10_000_000, 80_000_000, 4, strategies=True)
    rows += on_cpu(*((20_000, 80_000) if options.small else (1_000_000, 3_500_000)))
    parameters = {"iterations": ITERATIONS, "spatial_iterations": SPATIAL_ITERATIONS, "published": SEED}
    record(options.json, "geolocation", parameters, rows)


if __name__ == "__main__":
    main()
