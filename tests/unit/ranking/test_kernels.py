"""What the CUDA kernels of PageRank compute, run on the CPU, against their twins."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.graph import DirectedGraph, from_edges
from gpuasm.graph.random_graphs import rmat
from gpuasm.ranking import make_surfer, places, pull_cuda, walks_cuda
from gpuasm.ranking.pull_cpu import PullCpu
from gpuasm.ranking.pull_cuda import PullCuda
from gpuasm.ranking.walks import plan_walks
from gpuasm.ranking.walks_cpu import walk_cpu
from gpuasm.ranking.walks_cuda import walk_cuda


@pytest.fixture(autouse=True)
def _on_the_cpu(monkeypatch, emulated_functions):
    monkeypatch.setattr(pull_cuda, "cuda_functions", emulated_functions)
    monkeypatch.setattr(walks_cuda, "cuda_functions", emulated_functions)
    monkeypatch.setattr(walks_cuda, "multiprocessor_count", lambda: 1)


def wide(graph: DirectedGraph) -> DirectedGraph:
    """Return the graph with columns of 64 bits, as those of more than 2^31 vertices have."""
    graph.columns = graph.columns.astype(np.int64)
    return graph


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("personal", [False, True])
@pytest.mark.parametrize("moved", [False, True])  # by degree, and each block has more rows than it takes at once
def test_ranks_are_those_of_the_cpu(rng, monkeypatch, weighted, personal, moved):
    monkeypatch.setattr(places, "FEWEST_MOVED", 1 if moved else 1 << 20)
    monkeypatch.setattr(pull_cuda, "_MOST_BLOCKS", 2 if moved else 1 << 13)
    graph = rmat(9, 60, seed=1)  # rows of every class
    surfer = make_surfer(
        graph,
        weights=rng.integers(0, 3, graph.n_edges) if weighted else None,
        teleport=rng.random(graph.n_vertices) if personal else None,
    )
    one, other = PullCpu(surfer), PullCuda(surfer)
    assert all(rows.size for rows in other._rows)
    for _ in range(6):
        change = one.step()
        assert other.step() == pytest.approx(change, rel=1e-9, abs=1e-14)
    assert np.abs(one.finish() - other.finish()).sum() < 1e-14


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("personal", [False, True])
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_visits_are_those_of_the_cpu(rng, weighted, personal, dtype):
    n, m = 700, 2500
    graph = from_edges(rng.integers(0, n, m), rng.integers(0, n - 50, m), n)
    surfer = make_surfer(
        graph,
        weights=rng.random(m) * (rng.random(m) < 0.5) if weighted else None,
        teleport=rng.random(n) * (rng.random(n) < 0.1) if personal else None,
    )
    plan = plan_walks(surfer, 7, 3)
    object.__setattr__(plan, "dtype", dtype)
    (visits, returns), found = walk_cpu(plan), walk_cuda(plan)
    assert visits.dtype == returns.dtype == dtype
    assert visits.sum() > 1000
    assert returns.sum() > 10
    for one, other in zip((visits, returns), found, strict=True):
        assert np.array_equal(one, other)
