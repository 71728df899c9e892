"""Time power iteration of other programs on the host, and of gpuasm there and on a device."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from pagerank_peers import PEERS, Run
from timing import timed

from gpuasm import arrays
from gpuasm.graph import DirectedGraph
from gpuasm.ranking import l1_distance, power_iteration

TURNS = 5


def in_turns(graph: DirectedGraph, exact: Any, *, threads: int, tolerance: float) -> Iterator[dict[str, Any]]:
    """Time power iteration and what is installed of other programs in turns: all have the same share of a busy machine.

    Graphs are built before; the least time of each program counts.
    """
    source, target = graph.edges()
    runs: dict[str, Run | None] = {"gpuasm, in turns with": _of_gpuasm(graph)}
    runs |= {name: prepare(source, target, graph.n_vertices, threads) for name, prepare in PEERS.items()}
    rows: dict[str, dict[str, Any]] = {}
    for name, run in list(runs.items()) * TURNS:
        if run is None:
            continue
        row = rows.setdefault(name, {"what": name, "s": np.inf})
        measured = _measure(run, exact, repeat=1, tolerance=tolerance)
        rows[name] = row | measured | {"s": min(row["s"], measured["s"])}
    print("not installed:", ", ".join(name for name, run in runs.items() if run is None) or "none")
    yield from rows.values()


def with_device(graph: DirectedGraph, *, threads: int, tolerance: float, seconds: float) -> Iterator[dict[str, Any]]:
    """Time power iteration on one graph: gpuasm on its device, gpuasm on the host, and other programs on the host.

    Programs run one after another, each once, gpuasm three times (its first run compiles). The time to
    build their graph is separate. None begins after the time given; those left out or not installed are named.

    Parameters
    ----------
    graph
        In the memory of a device; the host gets a copy.
    threads
        Of each program on the host that has threads.
    tolerance
        Sum of absolute changes at which iteration ends.
    seconds
        Time for all programs.
    """
    ends = time.perf_counter() + seconds
    common = {"what": "on the host", "vertices": graph.n_vertices, "edges": graph.n_edges}
    exact = arrays.to_host(power_iteration(graph, tolerance=1e-12).ranks)
    yield common | {"program": "gpuasm, device"} | _measure(_of_gpuasm(graph), exact, repeat=3, tolerance=tolerance)
    copied_s, own = timed(np, lambda: graph.moved_to(np), 1)
    reversed_s, _ = timed(np, own.reverse, 1)
    yield (
        common
        | {"program": f"gpuasm, {threads} threads", "build_s": reversed_s, "copy_s": copied_s}
        | _measure(_of_gpuasm(own), exact, repeat=3, tolerance=tolerance)
    )
    source, target = own.edges()
    for name, prepare in PEERS.items():
        if time.perf_counter() > ends:
            print(f"left out, no time: {name}")
            continue
        built_s, run = timed(np, lambda make=prepare: make(source, target, own.n_vertices, threads), 1)
        if run is None:
            print(f"not installed: {name}")
            continue
        yield common | {"program": name, "build_s": built_s} | _measure(run, exact, repeat=1, tolerance=tolerance)
        del run


def _of_gpuasm(graph: DirectedGraph) -> Run:
    def run(tolerance: float) -> tuple[Any, int]:
        found = power_iteration(graph, tolerance=tolerance)
        return found.ranks, found.n_iterations

    return run


def _measure(run: Run, exact: Any, *, repeat: int, tolerance: float) -> dict[str, Any]:
    xp = np if arrays.device_count() == 0 else arrays.namespace_of("auto")  # whose work is waited for
    seconds, (ranks, iterations) = timed(xp, lambda: run(tolerance), repeat)
    ranks = arrays.to_host(ranks)
    return {"s": seconds, "iterations": iterations, "l1_error": l1_distance(ranks / ranks.sum(), exact)}
