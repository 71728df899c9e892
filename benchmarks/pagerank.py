"""Time PageRank by power iteration and by random walks on R-MAT graphs, and other programs.

python benchmarks/pagerank.py --json benchmarks/results/pagerank.json      43 M vertices, 623 M edges, on a device
python benchmarks/pagerank.py --device cpu -n 1e6 -m 1e7 --threads 2 --json benchmarks/results/pagerank.json

On a device, the graph and its reverse are made there before the clock starts. Programs
of the host run with all threads on a smaller graph of the same shape, and gpuasm on both. Programs that are not
installed are left out, which the table shows.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pagerank_host import in_turns, with_device
from record import record
from timing import timed

from gpuasm import arrays
from gpuasm.graph import DirectedGraph, from_edges
from gpuasm.graph.random_graphs import GRAPH500, random_permutation, rmat_edges
from gpuasm.ranking import l1_distance, make_surfer, places, power_iteration, random_walks
from gpuasm.ranking.pull_cpu import PullCpu
from gpuasm.ranking.pull_cuda import PullCuda
from gpuasm.threads import set_threads, thread_count

TOLERANCE = 1e-6
COUPONS = (1, 2, 5, 10, 20, 40)
PUBLISHED = {"what": "random walks on a Tesla K20, 43 M vertices and 623 M edges", "s": 163.0}
"""Of "GPU-Accelerated Graph Analytics in Python with Numba"; coupons and reset probability are not given."""


def web_like(n: int, m: int, *, seed: int, xp: Any) -> DirectedGraph:
    """Make an R-MAT graph of any number of vertices: of the next power of two, folded, and shuffled."""
    source, target = rmat_edges(max(1, (n - 1).bit_length()), m, chances=GRAPH500, seed=seed, xp=xp)
    new = random_permutation(n, seed=seed, name="labels", xp=xp)
    source %= n
    target %= n
    return from_edges(new[source], new[target], n)


def power(xp: Any, graph: DirectedGraph) -> Iterator[dict[str, Any]]:
    """Time power iteration: all of it, and its parts; also without the order of what is handed on."""
    usual = places.FEWEST_MOVED
    for moved in (True, False) if graph.n_vertices >= usual else (True,):
        places.FEWEST_MOVED = usual if moved else 1 << 62
        seconds, found = timed(xp, lambda: power_iteration(graph, tolerance=TOLERANCE))
        surfer = make_surfer(graph)
        prepared, pull = timed(xp, lambda own=surfer: (PullCpu if xp is np else PullCuda)(own))
        step, _ = timed(xp, pull.step, 5)
        yield {
            "what": "power iteration" + ("" if moved else ", vertices as they are"),
            "s": seconds,
            "iterations": found.n_iterations,
            "prepare_s": prepared,
            "iteration_s": step,
            "error_bound": found.error_bound,
        }
        del pull
    places.FEWEST_MOVED = usual


def walks(xp: Any, graph: DirectedGraph, exact: Any) -> Iterator[dict[str, Any]]:
    """Time walks of several numbers of coupons and weigh their error."""
    in_degree = graph.reverse().out_degree
    for coupons in COUPONS:
        seconds, found = timed(xp, lambda k=coupons: random_walks(graph, coupons=k))
        off = xp.abs(found.ranks - exact)
        top = xp.argsort(-exact)[: max(1, graph.n_vertices // 1000)]
        yield {
            "what": "random walks",
            "coupons": coupons,
            "s": seconds,
            "visits": found.n_visits,
            "l1_error": float(off.sum()),
            "l1_bound": found.expected_l1_error(in_degree),
            "error_of_top": float((off[top] / exact[top]).mean()),
        }


def cupy_power(xp: Any, graph: DirectedGraph) -> dict[str, Any]:
    """Time power iteration with the sparse matrix product of cupyx (cuSPARSE), in double precision."""
    n, reverse = graph.n_vertices, graph.reverse()
    degree = graph.out_degree.astype(np.float64)
    inverse = xp.where(degree > 0, 1 / xp.maximum(degree, 1), 0.0)
    matrix = importlib.import_module("cupyx.scipy.sparse").csr_matrix(
        (inverse[reverse.columns], reverse.columns, reverse.row_offsets), shape=(n, n)
    )
    dangling = (degree == 0).astype(np.float64)

    def run() -> int:
        rank, n_done, change = xp.full(n, 1 / n), 0, 1.0
        while change > TOLERANCE:
            new = 0.85 * (matrix @ rank) + (0.15 + 0.85 * float(dangling @ rank)) / n
            change, rank, n_done = float(xp.abs(new - rank).sum()), new, n_done + 1
        return n_done

    seconds, n_done = timed(xp, run)
    return {"what": "cupyx sparse power iteration", "s": seconds, "iterations": n_done, "iteration_s": seconds / n_done}


def curve(xp: Any, n: int, m: int, *, seed: int) -> Iterator[dict[str, Any]]:
    """Time both methods on ever larger graphs of the same shape."""
    for part in (1024, 256, 64, 16, 4):
        graph = web_like(n // part, m // part, seed=seed, xp=xp)
        graph.reverse()
        seconds, found = timed(xp, lambda own=graph: power_iteration(own, tolerance=TOLERANCE), 3)
        walked, _ = timed(xp, lambda own=graph: random_walks(own), 3)
        yield {
            "what": "curve",
            "edges": m // part,
            "power_s": seconds,
            "iterations": found.n_iterations,
            "walks_s": walked,
        }


def same_integers(xp: Any) -> dict[str, Any]:
    """Compare the visits of a device with those of the CPU, bit for bit, and the ranks of power iteration."""
    graph = web_like(50_000, 700_000, seed=5, xp=np)
    options = {"weights": np.arange(1.0, 700_001.0) % 7, "teleport": np.arange(50_000) % 3}
    same, there = True, graph.moved_to(xp)
    for chosen in ({}, options):
        visits = [random_walks(own, coupons=10, seed=3, **chosen).visits for own in (graph, there)]
        same &= bool((visits[0] == arrays.to_host(visits[1])).all())
    ranks = [power_iteration(own, tolerance=1e-12, **options).ranks for own in (graph, there)]
    return {"what": "device and CPU", "same_visits": same, "l1_of_power": l1_distance(*ranks)}


def hosts(xp: Any, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Time programs of the host and the device, on a small graph and, if requested, on the whole one."""
    sizes = [(int(arguments.host_vertices), int(arguments.host_edges))]
    if arguments.host_full:
        sizes.append((int(arguments.n), int(arguments.m)))
    for n, m in sizes:
        if m:
            graph = web_like(n, m, seed=arguments.seed, xp=xp)
            graph.reverse()
            yield from with_device(graph, threads=thread_count(), tolerance=TOLERANCE, seconds=arguments.host_seconds)


def measure(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    xp, n, m = arrays.namespace_of(arguments.device), int(arguments.n), int(arguments.m)
    random_walks(web_like(1 << 21, 1 << 21, seed=1, xp=xp), coupons=1)  # compiles
    power_iteration(web_like(1 << 21, 1 << 21, seed=1, xp=xp))
    if xp is not np:
        yield same_integers(xp)
    built, graph = timed(xp, lambda: web_like(n, m, seed=arguments.seed, xp=xp), 1)
    reversed_s, _ = timed(xp, graph.reverse, 1)
    yield {
        "what": "graph", "vertices": n, "edges": m, "build_s": built, "reverse_s": reversed_s,
        "dangling": int((graph.out_degree == 0).sum()), "most_in": int(graph.reverse().out_degree.max()),
    }  # fmt: skip
    yield from power(xp, graph)
    exact = power_iteration(graph, tolerance=1e-12).ranks
    if xp is not np:
        yield cupy_power(xp, graph)
    else:
        yield from in_turns(graph, exact, threads=thread_count(), tolerance=TOLERANCE)
    yield from walks(xp, graph, exact)
    del graph, exact
    if xp is not np:
        yield from hosts(xp, arguments)
    if not arguments.no_curve:
        yield from curve(xp, n, m, seed=arguments.seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("-n", type=float, default=43e6, help="vertices")
    parser.add_argument("-m", type=float, default=623e6, help="edges")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--host-vertices", type=float, default=4.3e6, help="of the graph for programs on the host")
    parser.add_argument("--host-edges", type=float, default=62.3e6, help="of that graph; 0 leaves the programs out")
    parser.add_argument("--host-full", action="store_true", help="these programs also on the whole graph")
    parser.add_argument("--host-seconds", type=float, default=40, help="no program of the host begins after these")
    parser.add_argument("--no-curve", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    set_threads(arguments.threads)
    rows = []
    for row in measure(arguments):
        rows.append(row)
        print("  ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in row.items()), flush=True)
    parameters = {
        "vertices": int(arguments.n), "edges": int(arguments.m), "reset": 0.15, "tolerance": TOLERANCE,
        "threads": thread_count(), "published": PUBLISHED,
    }  # fmt: skip
    record(arguments.json, "pagerank", parameters, rows)


if __name__ == "__main__":
    main()
