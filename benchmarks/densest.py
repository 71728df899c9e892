"""Dense subgraphs of k vertices: density against single methods and the bound, and time on a device.

python benchmarks/densest.py --graphs FILE ... --json results/densest.json
    For each graph and k the density found, the bound, and what peeling and the truncated power method find; and whether
    a clique with a tenth of its edges left out is found among 100,000 vertices of a random graph.
python benchmarks/densest.py --device cuda --json results/densest.json
    Times on an R-MAT graph in device memory, by stage: by default 43 M vertices and 623 M edges, k = 1,000.
"""

from __future__ import annotations

import argparse
import gc
import time
from pathlib import Path
from typing import Any

import numpy as np
from record import record
from rmat import rmat_graph

from gpuasm import arrays
from gpuasm.densest import Adjacency, SearchOptions, densest_subgraph, peel, peel_in_batches
from gpuasm.graph.building import from_edges
from gpuasm.graph.undirected_graph import UndirectedGraph, undirected_graph
from gpuasm.io.graphs import read_graph
from gpuasm.stages import Stages

KS = (50, 100, 200, 500, 1000)
BASELINES = ("degree", "peel", "power")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="+", type=Path, default=[])
    parser.add_argument("-k", nargs="+", type=int, default=list(KS))
    parser.add_argument("--rank", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--vertices", type=int, default=43_000_000)
    parser.add_argument("--edges", type=int, default=623_000_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    xp = arrays.namespace_of(given.device)
    options = SearchOptions(rank=given.rank)
    if given.graphs:
        rows = [row for path in given.graphs for row in on_graph(path, given.k, options)]
        rows += [planted(share, seed) for share in (0.9, 0.7, 0.5) for seed in range(3)]
    else:
        rows = on_rmat(xp, given, options)
    record(given.json, "densest", {"rank": given.rank, "options": str(options)}, rows)


def on_graph(path: Path, ks: list[int], options: SearchOptions) -> list[dict[str, Any]]:
    graph = undirected_graph(read_graph(path))
    name = path.name.split(".")[0]
    print(f"{name}: {graph.n_vertices:,} vertices, {graph.n_edges:,} edges", flush=True)
    peeled = peel(graph, rounds=16)
    rows: list[dict[str, Any]] = [
        {
            "graph": name,
            "vertices": graph.n_vertices,
            "edges": graph.n_edges,
            "densest_size": int(peeled.vertices.size),
            "densest_average_degree": 2 * peeled.density,
            "densest_bound": 2 * peeled.density_bound,
        }
    ]
    print(
        f"  {'k':>5} {'avg.degree':>10} {'bound':>8} {'ratio':>6} {'edges':>8}"
        + "".join(f"{b:>8}" for b in BASELINES)
        + f"  {'from':8} {'s':>5}"
    )
    for k in [k for k in ks if k <= graph.n_vertices]:
        row = {"graph": name, **one(graph, k, options)}
        rows.append(row)
        assert row["weight"] >= max(row["baselines"].values())
        print(
            f"  {k:>5} {row['average_degree']:>10.2f} {row['bound']:>8.2f} {row['ratio']:>6.3f} {row['weight']:>8.0f}"
            + "".join(f"{row['baselines'][b]:>8.0f}" for b in BASELINES)
            + f"  {row['start']:8} {row['s']:>5.1f}",
            flush=True,
        )
    return rows


def one(graph: UndirectedGraph, k: int, options: SearchOptions) -> dict[str, Any]:
    stages = Stages()
    began = time.perf_counter()
    found = densest_subgraph(graph, k, options, stages=stages)
    seconds = time.perf_counter() - began
    return {
        "k": k,
        "weight": found.weight,
        "average_degree": found.average_degree,
        "density": found.density,
        "bound": found.bound,
        "ratio": found.average_degree / found.bound,
        "bounds": found.bounds,
        "baselines": found.baselines,
        "start": found.start,
        "eigenvalues": found.eigenvalues.tolist(),
        "s": seconds,
        "stages": {stage.name: stage.wall_s for stage in stages.records},
        "counts": {key: value for stage in stages.records for key, value in stage.counts.items()},
    }


def planted(share: float, seed: int, *, n: int = 100_000, k: int = 30, average_degree: int = 16) -> dict[str, Any]:
    """Plant k vertices joined with the given chance into a random graph, and look for them."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, n * average_degree // 2))
    members = np.sort(rng.choice(n, k, replace=False))
    pairs = np.array(np.triu_indices(k, 1))
    pairs = members[pairs[:, rng.random(pairs.shape[1]) < share]]
    source, target = np.concatenate([ends, pairs], axis=1)
    graph = undirected_graph(from_edges(source, target, n))
    found = densest_subgraph(graph, k)
    row = {
        "planted": k,
        "vertices": n,
        "average_degree_of_graph": average_degree,
        "share_of_pairs": share,
        "seed": seed,
        "found": int(np.isin(found.vertices, members).sum()),
        "ratio": found.average_degree / found.bound,
        "baselines": found.baselines,
        "weight": found.weight,
    }
    print(f"planted {k} of {n:,}, {share:.0%} of pairs, seed {seed}: {row['found']} found, ratio {row['ratio']:.3f}")
    return row


def on_rmat(xp: Any, given: argparse.Namespace, options: SearchOptions) -> list[dict[str, Any]]:
    began = time.perf_counter()
    directed = rmat_graph(given.vertices, given.edges, xp=xp)
    graph = undirected_graph(directed)
    del directed
    free(xp)
    arrays.synchronize(xp)
    making = time.perf_counter() - began
    print(
        f"R-MAT: {graph.n_vertices:,} vertices, {graph.n_edges:,} undirected edges, made in {making:.1f} s", flush=True
    )
    row: dict[str, Any] = {"vertices": graph.n_vertices, "edges": graph.n_edges, "directed_edges": given.edges}
    rows = [row | {"made_s": making} | primitives(xp, graph)]
    print("  " + ", ".join(f"{key} {value:.4g}" for key, value in rows[0].items()), flush=True)
    for k in [k for k in given.k if k == max(given.k)]:
        for attempt in range(given.repeat):
            free(xp)
            measured = one(graph, k, options)
            rows.append(row | measured | {"attempt": attempt})
            print(
                f"  k {k}: {measured['s']:.2f} s, average degree {measured['average_degree']:.2f},"
                f" bound {measured['bound']:.2f}, edges {measured['weight']:.0f}, others {measured['baselines']},"
                f" from {measured['start']}, bounds {measured['bounds']}, {measured['counts']}"
            )
            print("    " + ", ".join(f"{name} {s:.2f}" for name, s in measured["stages"].items()), flush=True)
    return rows


def primitives(xp: Any, graph: UndirectedGraph) -> dict[str, Any]:
    """Time a product with the adjacency matrix, and peeling in batches."""
    adjacency = Adjacency(graph)
    vector = xp.ones(adjacency.n)
    times = []
    for _ in range(4):
        arrays.synchronize(xp)
        began = time.perf_counter()
        result = adjacency @ vector
        arrays.synchronize(xp)
        times.append(time.perf_counter() - began)
    assert bool((result == graph.degree).all())
    began = time.perf_counter()
    peeled = peel_in_batches(adjacency)
    arrays.synchronize(xp)
    return {
        "product_s": min(times),
        "batch_peeling_s": time.perf_counter() - began,
        "batch_peeling_passes": peeled.passes,
        "densest_by_batches_size": int(peeled.vertices.size),
        "densest_by_batches_average_degree": 2 * peeled.weight / max(1, int(peeled.vertices.size)),
        "greatest_degree": int(graph.degree.max()),
    }


def free(xp: Any) -> None:
    gc.collect()
    if xp is not np:
        xp.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
