"""``gpuasm bench``: time the graph engine on this machine, next to the published times of its predecessor."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.paths import OUTPUT
from gpuasm.cli.ranges import Whole
from gpuasm.errors import UsageError

if TYPE_CHECKING:
    from gpuasm.graph import DirectedGraph

_JSON = click.option("--json", "json_path", type=OUTPUT, metavar="FILE", help="Figures, as JSON.")
_DEVICE = click.option("--device", default="auto", show_default=True, metavar="NAME", help="auto, cpu, cuda or cuda:N.")
_REPEAT = click.option(
    "--repeat", type=Whole(1), default=5, show_default=True, metavar="N", help="Runs; medians count."
)
_SMALL = click.option("--small", is_flag=True, help="A thousandth of the size, to try it out.")

EULER_BEFORE: dict[str, dict[str, Any]] = {
    "deep": {"vertices": 10_485_760, "edges": 41_944_529, "circuits": 6, "gpu_s": 41.35, "hierholzer_s": 62.90},
    "shallow": {"vertices": 1_048_575, "edges": 3_145_727, "circuits": 45_514, "gpu_s": 203.05, "hierholzer_s": None},
}
"""What "Walking the Euler Path" printed for its GPU version and for Hierholzer's algorithm."""

_STAGES = ("predecessors", "partition", "circuit graph", "swaps", "ranking", "order")


@click.group(name="bench")
def command() -> None:
    """Measure the engine on this machine.

    \b
    gpuasm bench euler
    gpuasm bench euler --curve --json curve.json
    gpuasm bench primitives --device cuda
    """


@command.command()
@_DEVICE
@_REPEAT
@_SMALL
@click.option("--hierholzer/--no-hierholzer", default=True, show_default=True, help="Time the sequential method too.")
@click.option("--curve", is_flag=True, help="Instead: time against edges, on CPU and device.")
@click.option(
    "--most",
    type=Whole(12, 31),
    default=29,
    show_default=True,
    metavar="N",
    help="With --curve: up to 2^N edges.",
)
@_JSON
def euler(
    *, device: str, repeat: int, small: bool, hierholzer: bool, curve: bool, most: int, json_path: Path | None
) -> None:
    """Time Euler circuits: deep, shallow, and many circuits, with both pairings, vertices in order and shuffled.

    Graph and result stay where they are computed. Each row also contains the time that the original work printed.

    \b
    gpuasm bench euler --small
    gpuasm bench euler --curve --device cuda --json curve.json
    """
    from gpuasm import arrays

    xp = arrays.namespace_of(device)
    rows = list(_curve(xp, most, repeat) if curve else _euler_rows(xp, repeat, small=small, hierholzer=hierholzer))
    _write(json_path, "euler_curve" if curve else "euler", rows, on_device=xp.__name__ != "numpy")


def _euler_rows(xp: Any, repeat: int, *, small: bool, hierholzer: bool) -> Iterator[dict[str, Any]]:
    from gpuasm.graph.generators import deep_eulerian, many_circuits, shallow_eulerian, shuffled

    share = 1000 if small else 1
    cases: dict[str, Callable[[], DirectedGraph]] = {
        "deep": lambda: deep_eulerian(10_485_760 // share, 7, seed=1),
        "shallow": lambda: shallow_eulerian(1_048_575 // share, 3 * (1_048_575 // share) + 2, seed=1),
        "many": lambda: many_circuits(8_388_608 // share, seed=1),
    }
    for name, make in cases.items():
        graph = make()
        before = EULER_BEFORE.get(name, {})
        if hierholzer:
            yield _show(_time_hierholzer(name, graph, before))
        for is_shuffled in (False, True):
            own = (shuffled(graph, seed=2) if is_shuffled else graph).moved_to(xp)
            for pairing in ("fifo", "mixed"):
                row = {"case": name, "numbers": "shuffled" if is_shuffled else "in order", "pairing": pairing}
                yield _show({**row, **_time_euler(own, pairing, repeat), "before_s": before.get("gpu_s")})


def _time_euler(graph: DirectedGraph, pairing: Any, repeat: int) -> dict[str, Any]:
    import numpy as np

    from gpuasm import arrays
    from gpuasm.graph.euler import find_euler_circuits
    from gpuasm.stages import Stages

    xp, times, records = arrays.array_namespace(graph.columns), [], []
    for _ in range(repeat + 1):
        arrays.synchronize(xp)
        began = time.perf_counter()
        find_euler_circuits(graph, pairing=pairing)
        arrays.synchronize(xp)
        times.append(time.perf_counter() - began)
        stages = Stages()  # a second time, stopping after each stage
        find_euler_circuits(graph, pairing=pairing, stages=stages)
        records.append({record.name: record.wall_s for record in stages.records})
    circuits = next(record.counts["circuits"] for record in stages.records if record.name == "partition")
    return {
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "circuits": circuits,
        "ms": round(1000 * float(np.median(times[1:])), 3),
        **{
            f"{name.replace(' ', '_')}_ms": round(1000 * float(np.median([r.get(name, 0.0) for r in records[1:]])), 3)
            for name in _STAGES
        },
    }


def _time_hierholzer(name: str, graph: DirectedGraph, before: dict[str, Any]) -> dict[str, Any]:
    from gpuasm.graph.generators import de_bruijn_graph
    from gpuasm.graph.hierholzer import hierholzer

    hierholzer(de_bruijn_graph(2, 4))  # compiles
    began = time.perf_counter()
    hierholzer(graph)
    seconds = time.perf_counter() - began
    return {
        "case": name,
        "numbers": "in order",
        "pairing": "hierholzer, CPU",
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "ms": round(1000 * seconds, 1),
        "before_s": before.get("hierholzer_s"),
    }


def _curve(xp: Any, most: int, repeat: int) -> Iterator[dict[str, Any]]:
    from gpuasm.graph.generators import deep_eulerian
    from gpuasm.graph.hierholzer import hierholzer

    for exponent in range(12, most + 1):
        graph = deep_eulerian((1 << exponent) // 4, 7, seed=1)
        began = time.perf_counter()
        hierholzer(graph)
        host_ms = round(1000 * (time.perf_counter() - began), 3)
        measured = _time_euler(graph.moved_to(xp), "mixed", repeat)
        yield _show({"case": f"2^{exponent}", "pairing": "mixed", "hierholzer_cpu_ms": host_ms, **measured})


@command.command()
@_DEVICE
@_REPEAT
@_SMALL
@_JSON
def primitives(*, device: str, repeat: int, small: bool, json_path: Path | None) -> None:
    """Time sort, split, distinct, scan, compact, edges of rows, reverse, cycles and forest.

    \b
    gpuasm bench primitives --device cuda
    """
    import numpy as np

    from gpuasm import arrays

    xp = arrays.namespace_of(device)
    rows = []
    for name, size, run in _primitive_runs(xp, 1000 if small else 1):
        times = []
        for _ in range(repeat + 1):
            arrays.synchronize(xp)
            began = time.perf_counter()
            run()
            arrays.synchronize(xp)
            times.append(time.perf_counter() - began)
        rows.append(_show({"case": name, "size": size, "ms": round(1000 * float(np.median(times[1:])), 3)}))
    _write(json_path, "primitives", rows, on_device=xp.__name__ != "numpy")


def _primitive_runs(xp: Any, share: int) -> Iterator[tuple[str, int, Callable[[], Any]]]:
    import numpy as np

    from gpuasm.arrays import to_namespace
    from gpuasm.primitives.cycle_ranking import rank_cycles
    from gpuasm.primitives.distinct import distinct
    from gpuasm.primitives.row_of_edge import row_of_edge
    from gpuasm.primitives.spanning_forest import spanning_forest
    from gpuasm.primitives.split import split
    from gpuasm.primitives.stable_order import stable_order

    rng = np.random.default_rng(1)
    n, m, many = 10_485_760 // share, 31_458_372 // share, 300_000_000 // share
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(rng.multinomial(m, np.full(n, 1 / n)), out=offsets[1:])
    columns = to_namespace(xp, rng.integers(0, n, m, dtype=np.int32))
    rows = to_namespace(xp, offsets)
    thousand = to_namespace(xp, rng.integers(0, 1000, many, dtype=np.int32))
    permutation = to_namespace(xp, rng.permutation(m).astype(np.int32))
    holds = columns % 3 == 0
    yield "sort 64-bit keys", m, lambda: xp.sort(columns.astype(np.uint64))
    yield "stable order of 24-bit keys", m, lambda: stable_order(columns, n)
    yield "split", m, lambda: split(columns, holds)
    yield "scan", m, lambda: xp.cumsum(columns, dtype=np.int64)
    yield "compact", m, lambda: columns[holds]
    yield "distinct of values below 1,000", many, lambda: distinct(thousand)
    yield "edges of rows", m, lambda: row_of_edge(rows)
    yield "reverse", m, lambda: _reverse(rows, columns)
    yield "cycles of a permutation", m, lambda: rank_cycles(permutation)
    yield "spanning forest", m // 3, lambda: spanning_forest(columns[: m // 3], columns[m // 3 : 2 * (m // 3)], n)


def _reverse(rows: Any, columns: Any) -> Any:
    from gpuasm.graph import DirectedGraph

    return DirectedGraph(rows, columns).reverse()


def _show(row: dict[str, Any]) -> dict[str, Any]:
    click.echo("  ".join(f"{key}={value}" for key, value in row.items() if value is not None))
    return row


def _write(path: Path | None, name: str, rows: list[dict[str, Any]], *, on_device: bool) -> None:
    from datetime import UTC, datetime

    from gpuasm.cli.manifest import machine, versions
    from gpuasm.io import write_json

    if not rows:
        raise UsageError("something to measure", "nothing", "raise --most")
    if path is None:
        return
    write_json(
        path,
        {
            "benchmark": name,
            "date": datetime.now(UTC).date().isoformat(),
            "machine": machine("cuda:0" if on_device else "cpu"),
            "versions": versions(),
            "rows": rows,
        },
    )
