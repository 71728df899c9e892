"""Compare PageRank with networkx and scikit-network on graphs of any format, and walks with their stated error.

    python benchmarks/pagerank_exactness.py GRAPH ... --json benchmarks/results/pagerank_exactness.json

Distances are sums of absolute differences. scikit-network has a rule of its own for vertices without edges out; it gets
their jumps as a term of low rank. networkx is left out where its graph would need too much memory.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from record import record
from scipy import sparse
from sknetwork.linalg.ppr_solver import get_pagerank
from sknetwork.linalg.sparse_lowrank import SparseLR

from gpuasm.graph import DirectedGraph
from gpuasm.io.graphs import read_weighted_graph
from gpuasm.ranking import l1_distance, power_iteration, random_walks

TOLERANCE = 1e-12
COUPONS = 10
MOST_EDGES = 10_000_000
Weights = np.ndarray | None


def of_networkx(graph: DirectedGraph, weights: Weights, teleport: Weights) -> np.ndarray:
    source, target = (ends.tolist() for ends in graph.edges())
    values = np.ones(graph.n_edges) if weights is None else weights
    merged: dict[tuple[int, int], float] = {}
    for edge in zip(source, target, values.tolist(), strict=True):
        merged[edge[:2]] = merged.get(edge[:2], 0.0) + edge[2]
    peer = nx.DiGraph()
    peer.add_nodes_from(range(graph.n_vertices))
    peer.add_weighted_edges_from((u, v, w) for (u, v), w in merged.items())
    shares = None if teleport is None else dict(enumerate(teleport.tolist()))
    ranks = nx.pagerank(peer, tol=1e-13 / max(graph.n_vertices, 1), max_iter=2000, personalization=shares)
    return np.array([ranks[v] for v in range(graph.n_vertices)])


def of_scikit_network(graph: DirectedGraph, weights: Weights, teleport: Weights) -> np.ndarray:
    n, values = graph.n_vertices, np.ones(graph.n_edges) if weights is None else weights
    start = np.full(n, 1 / n) if teleport is None else teleport / teleport.sum()
    matrix = sparse.csr_matrix((values, graph.edges()), shape=(n, n))
    dangling = np.asarray(matrix.sum(axis=1)).ravel() == 0
    closed = SparseLR(matrix, [(dangling.astype(float), start)]) if dangling.any() else matrix
    return np.asarray(get_pagerank(closed, start, 0.85, n_iter=2000, tol=1e-13, solver="piteration"))


def compare(path: Path) -> Iterator[dict[str, Any]]:
    """Compare plain and personalised ranks, and weighted ones where the file has weights."""
    graph, weights = read_weighted_graph(path, allow_negative=True)
    teleport = np.random.default_rng(1).random(graph.n_vertices)
    cases: dict[str, tuple[Weights, Weights]] = {"plain": (None, None), "personalised": (None, teleport)}
    if weights is not None:
        cases["weighted"] = (np.abs(weights), None)
    for name, (w, t) in cases.items():
        began = time.perf_counter()
        ours = power_iteration(graph, weights=w, teleport=t, tolerance=TOLERANCE)
        seconds = time.perf_counter() - began
        walks = random_walks(graph, coupons=COUPONS, weights=w, teleport=t)
        yield {
            "graph": path.name,
            "case": name,
            "vertices": graph.n_vertices,
            "edges": graph.n_edges,
            "iterations": ours.n_iterations,
            "s": seconds,
            "to_networkx": l1_distance(ours.ranks, of_networkx(graph, w, t)) if graph.n_edges < MOST_EDGES else None,
            "to_scikit_network": l1_distance(ours.ranks, of_scikit_network(graph, w, t)),
            "walks_error": l1_distance(ours.ranks, walks.ranks),
            "walks_bound": walks.expected_l1_error(graph.in_degree),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    for path in arguments.graphs:
        for row in compare(path):
            rows.append(row)
            print("  ".join(f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in row.items()), flush=True)
    record(arguments.json, "pagerank_exactness", {"tolerance": TOLERANCE, "coupons": COUPONS}, rows)


if __name__ == "__main__":
    main()
