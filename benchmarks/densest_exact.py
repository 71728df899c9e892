"""The densest subgraph of any size against the exact value by maximum flow.

python benchmarks/densest_exact.py --graphs FILE ... --random 10876,39994 --json benchmarks/results/densest_exact.json
    For each graph, and each random one of given vertices and edges, the average degree that gpuasm finds, that of its
    rounds of peeling alone, and the exact value: scipy's maximum flow in a network of edges and vertices, for densities
    that rise until no denser subgraph is left (Goldberg 1984, Dinkelbach 1967).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from record import record
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from gpuasm.densest import densest_of_any_size, peel
from gpuasm.graph.building import from_edges
from gpuasm.graph.undirected_graph import UndirectedGraph, undirected_graph
from gpuasm.io.graphs import read_graph

MOST_CAPACITY = 2**31 - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="+", type=Path, default=[])
    parser.add_argument("--random", nargs="+", default=[], metavar="N,M", help="a random graph of each size")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = [measured(path.name.split(".")[0], undirected_graph(read_graph(path))) for path in given.graphs]
    rows += [measured("random", random_graph(*map(int, text.split(",")))) for text in given.random]
    record(given.json, "densest_exact", {"rounds": 8}, rows)


def random_graph(n: int, m: int) -> UndirectedGraph:
    return undirected_graph(from_edges(*np.random.default_rng(1).integers(0, n, (2, m)), n))


def measured(name: str, graph: UndirectedGraph) -> dict[str, Any]:
    """Return what gpuasm and the maximum flow find in a graph, and their times."""
    densest_of_any_size(graph)  # loops are compiled
    began = time.perf_counter()
    found = densest_of_any_size(graph)
    seconds = time.perf_counter() - began
    peeled = peel(graph, rounds=8)
    began = time.perf_counter()
    exact = exact_density(graph)
    row = {
        "graph": name,
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "size": int(found.vertices.size),
        "average_degree": 2 * found.density,
        "bound": 2 * found.density_bound,
        "by_peeling": 2 * peeled.density,
        "exact": 2 * exact,
        "share": found.density / exact,
        "s": seconds,
        "maximum_flow_s": time.perf_counter() - began,
    }
    print(", ".join(f"{key} {value:.6g}" if isinstance(value, float) else f"{value}" for key, value in row.items()))
    return row


def exact_density(graph: UndirectedGraph) -> float:
    """Return the greatest number of edges by vertex of any subgraph."""
    left = np.arange(graph.n_vertices)
    best = peel(graph)
    weight, size = int(best.weight), int(best.vertices.size)
    while True:
        left = left[core_of(graph.induced(left), weight / size)]
        within = graph.induced(left)
        denser = closed_set(within, weight, size)
        if not denser.size:
            return weight / size
        left = left[denser]
        weight, size = graph.induced(left).n_edges, int(left.size)


def core_of(graph: UndirectedGraph, least: float) -> np.ndarray:
    """Return the vertices left when those of lower degree are removed, as long as there are any."""
    left = np.arange(graph.n_vertices)
    while (low := graph.degree < least).any():
        left, graph = left[~low], graph.induced(np.flatnonzero(~low))
    return left


def closed_set(graph: UndirectedGraph, weight: int, size: int) -> np.ndarray:
    """Return the vertices on the source's side of a minimum cut: none if no subgraph is denser than weight / size."""
    n, m = graph.n_vertices, graph.n_edges
    if size * m > MOST_CAPACITY:
        raise SystemExit(f"{size} * {m} is more than a capacity of scipy can be: give a smaller graph")
    row = np.repeat(np.arange(n), graph.degree)
    once = row < graph.columns
    ends, edge, source, sink = (row[once], graph.columns[once]), n + np.arange(m), n + m, n + m + 1
    parts = [(np.full(m, source), edge, size), *((edge, end, size) for end in ends)]
    parts.append((np.arange(n), np.full(n, sink), weight))
    tails, heads = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    capacity = np.concatenate([np.full(len(part[0]), part[2], np.int32) for part in parts])
    network = csr_array((capacity, (tails, heads)), shape=(n + m + 2,) * 2)
    found = maximum_flow(network, source, sink)
    if found.flow_value == size * m:
        return np.empty(0, np.int64)
    residual = csr_array(network - found.flow)
    residual.data[residual.data < 0] = 0
    residual.eliminate_zeros()
    reached = breadth_first_order(residual, source, return_predecessors=False)
    return np.sort(reached[reached < n])


if __name__ == "__main__":
    main()
