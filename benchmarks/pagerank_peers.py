"""PageRank of other programs on the host: each function builds their graph and returns what then is timed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

Run = Callable[[float], tuple[np.ndarray, int]]
"""Of a tolerance in L1: ranks and iterations."""


def _installed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def networkit(source: np.ndarray, target: np.ndarray, n: int, threads: int) -> Run | None:
    """Prepare NetworKit's parallel PageRank, with its handling of vertices without edges out."""
    nk = _installed("networkit")
    if nk is None:
        return None
    nk.setNumberOfThreads(threads)
    graph = nk.GraphFromCoo((source.astype(np.uint64), target.astype(np.uint64)), n=n, directed=True)

    def run(tolerance: float) -> tuple[np.ndarray, int]:
        sinks = nk.centrality.SinkHandling.DistributeSinks
        rank = nk.centrality.PageRank(graph, damp=0.85, tol=tolerance, distributeSinks=sinks)
        rank.norm = nk.centrality.Norm.L1_NORM
        rank.run()
        return np.array(rank.scores()), rank.numberOfIterations()

    return run


def scikit_network(source: np.ndarray, target: np.ndarray, n: int, _threads: int) -> Run | None:
    """Prepare scikit-network's power iteration; it has a rule of its own for vertices without edges out."""
    ranking = _installed("sknetwork.ranking")
    if ranking is None:
        return None
    matrix = sparse.csr_matrix((np.ones(source.size), (source, target)), shape=(n, n))

    def run(tolerance: float) -> tuple[np.ndarray, int]:
        rank = ranking.PageRank(damping_factor=0.85, solver="piteration", n_iter=200, tol=tolerance)
        return rank.fit_predict(matrix), 0

    return run


def scipy(source: np.ndarray, target: np.ndarray, n: int, _threads: int) -> Run | None:
    """Prepare power iteration with scipy's sparse product, as networkx does it."""
    degree = np.bincount(source, minlength=n).astype(float)
    share = 1 / np.maximum(degree, 1)
    matrix = sparse.csr_array((share[source], (target, source)), shape=(n, n))

    def run(tolerance: float) -> tuple[np.ndarray, int]:
        rank, n_done, change = np.full(n, 1 / n), 0, 1.0
        while change > tolerance:
            new = 0.85 * (matrix @ rank) + (0.15 + 0.85 * rank[degree == 0].sum()) / n
            change, rank, n_done = float(np.abs(new - rank).sum()), new, n_done + 1
        return rank, n_done

    return run


PEERS = {"networkit": networkit, "scikit-network": scikit_network, "scipy": scipy}
