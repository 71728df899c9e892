"""CUDA kernels of PageRank, run on the CPU, against the CPU implementations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpuasm.graph import DirectedGraph, from_edges
from gpuasm.graph.random_graphs import rmat
from gpuasm.ranking import degree_order, make_surfer, pull_cuda, tiles_cuda, walks_cuda
from gpuasm.ranking.pull_cpu import PullCpu
from gpuasm.ranking.pull_cuda import PullCuda
from gpuasm.ranking.tiles_cuda import TiledRows
from gpuasm.ranking.walk_plan import plan_walks
from gpuasm.ranking.walks_cpu import walk_cpu
from gpuasm.ranking.walks_cuda import walk_cuda


@pytest.fixture(autouse=True)
def _on_the_cpu(monkeypatch, emulated_functions):
    monkeypatch.setattr(pull_cuda, "cuda_functions", emulated_functions)
    monkeypatch.setattr(tiles_cuda, "cuda_functions", emulated_functions)
    monkeypatch.setattr(walks_cuda, "cuda_functions", emulated_functions)
    monkeypatch.setattr(walks_cuda, "multiprocessor_count", lambda: 1)


def with_long_rows(rng: np.random.Generator) -> DirectedGraph:
    """Return a graph with rows of many tiles, of a few, within one, and many without edges."""
    target = [np.repeat([3, 9, 700], [30_000, 5000, 18_000]), rng.integers(0, 400, 3000), np.array([999])]
    target = np.concatenate(target)
    return from_edges(rng.integers(0, 600, target.size), target, 3000)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("personal", [False, True])
@pytest.mark.parametrize("moved", [False, True])  # by degree, and each block has more than one tile
@pytest.mark.parametrize("shape", ["power law", "long rows"])
def test_ranks_are_those_of_the_cpu(rng, monkeypatch, weighted, personal, moved, shape):
    monkeypatch.setattr(degree_order, "FEWEST_MOVED", 1 if moved else 1 << 20)
    monkeypatch.setattr(pull_cuda, "_MOST_BLOCKS", 2 if moved else 1 << 11)
    monkeypatch.setattr(tiles_cuda, "_MOST_BLOCKS", 2 if moved else 1 << 13)
    graph = rmat(9, 60, seed=1) if shape == "power law" else with_long_rows(rng)
    surfer = make_surfer(
        graph,
        weights=rng.integers(0, 3, graph.n_edges) if weighted else None,
        teleport=rng.random(graph.n_vertices) if personal else None,
    )
    one, other = PullCpu(surfer), PullCuda(surfer)
    for _ in range(6):
        change = one.step()
        assert other.step() == pytest.approx(change, rel=1e-9, abs=1e-14)
    # Of 30,000 parallel edges the CPU's sum, in their order, is the less exact.
    assert np.abs(one.finish() - other.finish()).sum() < (1e-14 if shape == "power law" else 1e-13)


@pytest.mark.parametrize(("n", "edges"), [(5, []), (3, [(0, 0)]), (1, [(0, 0)] * 5000), (2, [(0, 1)])])
def test_ranks_of_the_least_graphs(n, edges):
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    surfer = make_surfer(from_edges(source, target, n))
    one, other = PullCpu(surfer), PullCuda(surfer)
    for _ in range(3):
        assert other.step() == pytest.approx(one.step(), abs=1e-12)
    assert np.abs(one.finish() - other.finish()).sum() < 1e-12


@pytest.mark.parametrize(("n", "kind"), [(50, np.int32), (1 << 31, np.int64)])
@pytest.mark.parametrize("part", [slice(0, None), slice(2, 9), slice(9, None), slice(4, 4)])
def test_sums_of_some_rows(rng, part, n, kind):
    lengths = rng.choice([0, 1, 3, 40, 2048, 20_000], 40)
    lengths[5] = 40_000
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    m = int(offsets[-1])
    columns, weights, values = rng.integers(0, 50, m).astype(kind), rng.random(m), rng.random(50)
    bounds = offsets[part] if part.stop is None else offsets[part.start : part.stop + 1]
    rows = TiledRows(bounds, n)
    terms = {"gathered": values[columns], "weighted": weights * values[columns], "weights": weights}
    for name, own in terms.items():
        sums = np.full(bounds.size - 1, np.nan)
        rows.sum(
            sums,
            columns=None if name == "weights" else columns,
            weights=None if name == "gathered" else weights,
            values=None if name == "weights" else values,
        )
        expected = [own[low:high].sum() for low, high in itertools.pairwise(bounds)]
        assert sums == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_rows_are_taken_in_another_order(rng, kind):
    lengths = rng.choice([0, 1, 3, 40, 3000], 60)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    columns, weights = rng.integers(0, 60, offsets[-1]).astype(kind), rng.random(offsets[-1])
    order, place = rng.permutation(60).astype(kind), rng.permutation(60).astype(kind)
    rows = TiledRows(np.concatenate([[0], np.cumsum(lengths[order])]), 60 if kind is np.int32 else 1 << 31)
    slots = np.concatenate([np.arange(offsets[v], offsets[v + 1]) for v in order])
    assert np.array_equal(rows.take(order, offsets, columns, place=place), place[columns[slots]])
    assert np.array_equal(rows.take(order, offsets, weights), weights[slots])


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
