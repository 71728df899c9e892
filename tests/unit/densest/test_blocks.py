"""The densest block of rows and columns against all subsets of rows, and planted ones."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_namespace
from gpuasm.densest import SearchOptions, densest_block
from gpuasm.errors import DataError, UsageError
from gpuasm.graph.building import from_edges
from tests.oracles import densest as oracle


def directed(matrix: np.ndarray):
    source, target = np.nonzero(matrix)
    return from_edges(source, target, len(matrix)), matrix[source, target]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_random_graphs_against_all_rows(rank: int) -> None:
    rng, hits, tried = np.random.default_rng(9), 0, 60
    for _ in range(tried):
        n = int(rng.integers(4, 9))
        matrix = (rng.random((n, n)) < rng.uniform(0.2, 0.7)) * rng.integers(1, 4, (n, n))
        matrix[0, 1] = 1
        sizes = tuple(int(k) for k in rng.integers(1, n, 2))
        graph, weights = directed(matrix)
        found, best = (
            densest_block(graph, sizes, SearchOptions(rank=rank), weights=weights),
            oracle.heaviest_block(matrix, *sizes),
        )
        assert found.weight == matrix[np.ix_(found.rows, found.columns)].sum()
        assert min(found.bounds.values()) * (sizes[0] * sizes[1]) ** 0.5 >= best
        assert found.weight >= found.baselines["power"]
        hits += found.weight == best
    assert hits >= 0.95 * tried


def test_a_planted_block(xp) -> None:
    rng = np.random.default_rng(4)
    source, target = rng.integers(0, 20_000, (2, 160_000))
    rows, columns = (np.sort(rng.choice(20_000, size, replace=False)) for size in (25, 60))
    inside = rng.random((25, 60)) < 0.8
    pairs = np.nonzero(inside)
    graph = from_edges(np.concatenate([source, rows[pairs[0]]]), np.concatenate([target, columns[pairs[1]]]), 20_000)
    found = densest_block(graph.moved_to(xp), (25, 60))
    assert (found.rows.tolist(), found.columns.tolist()) == (rows.tolist(), columns.tolist())
    assert found.weight >= inside.sum()
    assert found.density == found.weight / 1500
    assert 0.9 < found.average_degree / found.bound <= 1


def test_loops_and_parallel_edges() -> None:
    graph = from_edges([0, 0, 0, 1, 2], [0, 1, 1, 1, 2], 3)
    found = densest_block(graph, (2, 2))
    assert (found.rows.tolist(), found.columns.tolist(), found.weight) == ([0, 1], [0, 1], 3)
    assert densest_block(graph, (1, 1), weights=np.ones(5)).weight == 2


def test_without_singular_vectors_that_converge_the_greatest_degrees_are_improved() -> None:
    n = 2000  # rows and columns alternate on a ring
    graph = from_edges(np.repeat(np.arange(n), 2), (np.arange(2 * n) + 1) // 2 % n, n)
    found = densest_block(graph, (3, 3), SearchOptions(max_products=20, tolerance=1e-12))
    assert (found.weight, found.start, set(found.bounds)) == (5, "power", {"degrees"})
    assert found.average_degree <= found.bound == pytest.approx(2)
    assert found.singular_values.size == 0
    assert found.note.startswith("eigenvectors did not converge in 20 products")


def test_refusals(xp) -> None:
    graph, weights = directed(np.ones((3, 3)))
    with pytest.raises(DataError, match="at least k = 4"):
        densest_block(graph, (2, 4))
    with pytest.raises(UsageError, match="at least one row and one column"):
        densest_block(graph, (0, 1))
    with pytest.raises(DataError, match="finite weight of 0 or more"):
        densest_block(graph.moved_to(xp), (1, 1), weights=to_namespace(xp, -weights))
    with pytest.raises(DataError, match="a graph with edges"):
        densest_block(from_edges([], [], 3), (1, 1))
