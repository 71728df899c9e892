"""Products, eigenpairs, selection, the search of supports and local improvement against plain computations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gpuasm.arrays import to_host, to_namespace
from gpuasm.densest import Adjacency, adjacency, selection
from gpuasm.densest.bounds import scaled_vectors, search_rank, spectral_bound
from gpuasm.densest.candidates import random_directions
from gpuasm.densest.local_search import improve, weights_within
from gpuasm.densest.selection import top_k
from gpuasm.densest.spectrum import largest_eigenpairs
from gpuasm.densest.supports import SupportFunction, search_sphere, squared_length
from gpuasm.graph.building import from_edges
from gpuasm.graph.undirected_graph import UndirectedGraph, undirected_graph
from tests.oracles import densest as oracle


def skewed_graph(n: int = 500, m: int = 5000, *, weighted: bool = False) -> UndirectedGraph:
    rng = np.random.default_rng(8)
    graph = from_edges(*(rng.random((2, m)) ** 3 * n).astype(np.int64), n)
    return undirected_graph(graph, rng.random(m) if weighted else None)


def as_scipy(graph: UndirectedGraph) -> csr_array:
    values = np.ones(graph.columns.size) if graph.weights is None else graph.weights
    return csr_array((values, graph.columns, graph.row_offsets), shape=(graph.n_vertices,) * 2)


@pytest.mark.parametrize("weighted", [False, True])
def test_products(xp, rng, weighted: bool) -> None:
    graph, vector = skewed_graph(weighted=weighted), rng.normal(size=500)
    product = Adjacency(graph.moved_to(xp)) @ to_namespace(xp, vector)
    assert to_host(product) == pytest.approx(as_scipy(graph) @ vector, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_kernel_of_products(emulated_functions, rng, weighted: bool) -> None:
    graph, vector = skewed_graph(weighted=weighted), rng.integers(0, 9, 500).astype(np.float64)
    (multiply,) = emulated_functions(adjacency._CUDA["int32", weighted], "multiply_rows")
    for lanes in adjacency._LANES:
        result = np.full(500, -1.0)
        rows = np.flatnonzero(graph.degree % 3 > 0)[: 4096 // lanes]
        per_block = max(lanes, 256) // lanes
        grid = ((rows.size + per_block - 1) // per_block,)
        weights = vector if graph.weights is None else graph.weights
        multiply(
            grid,
            (max(lanes, 256),),
            (graph.row_offsets, graph.columns, weights, rows, np.int64(rows.size), np.int32(lanes), vector, result),
            shared_mem=8 * max(lanes, 256),
        )
        assert result[rows] == pytest.approx((as_scipy(graph) @ vector)[rows], rel=1e-12)
        assert np.all(np.delete(result, rows) == -1)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=6, max_size=6), min_size=1, max_size=4), st.integers(1, 6))
def test_top_k_takes_the_first_of_equals(rows: list[list[int]], k: int) -> None:
    scores = np.array(rows, np.float64) / 2
    expected = [sorted(sorted(range(6), key=lambda i: (-row[i], i))[:k]) for row in rows]
    assert top_k(scores, k).tolist() == expected


@pytest.mark.parametrize("most_blocks", [6, 2048])  # segments longer and shorter than a block
@pytest.mark.parametrize("b", [1, 3])
def test_the_kernels_of_top_k(monkeypatch, emulated_functions, rng, b: int, most_blocks: int) -> None:
    monkeypatch.setattr(selection, "cuda_functions", emulated_functions)
    monkeypatch.setattr(selection, "_MOST_BLOCKS", most_blocks)
    few = rng.integers(-3, 3, (b, 4000)) / 8 * -1.0  # with zeros of both signs, and thousands of equals
    for scores in (few, rng.normal(size=(b, 4000)) * 10.0 ** rng.integers(-200, 200, (b, 4000)), few[:, :5]):
        for k in {1, 2, min(1777, scores.shape[1]), scores.shape[1]}:
            assert selection._top_k_cuda(scores, k).tolist() == top_k(scores, k).tolist()


@pytest.mark.parametrize("b", [1, 3])
def test_top_k_on_both_devices(xp, rng, b: int) -> None:
    scores = rng.integers(-50, 50, (b, 5000)) / 8
    for k in (1, 77, 5000):
        assert to_host(top_k(to_namespace(xp, scores), k)).tolist() == top_k(scores, k).tolist()


@pytest.mark.parametrize(("weighted", "rank"), [(False, 1), (False, 4), (True, 2)])
def test_eigenpairs_are_those_of_the_whole_matrix(xp, weighted: bool, rank: int) -> None:
    graph = skewed_graph(weighted=weighted)
    found = largest_eigenpairs(Adjacency(graph.moved_to(xp)), rank)
    exact = np.linalg.eigvalsh(oracle.matrix_of(graph))[::-1]
    assert np.abs(found.values - exact[: rank + 1]).max() <= found.error < 1e-3 * exact[0]
    vectors = to_host(found.vectors)
    assert vectors.T @ vectors == pytest.approx(np.eye(rank), abs=1e-12)
    assert np.linalg.norm(as_scipy(graph) @ vectors - vectors * found.values[:rank]) <= found.error
    largest = np.abs(vectors).argmax(axis=0)
    assert np.all(vectors[largest, range(rank)] > 0)


def test_small_graphs_are_solved_in_full() -> None:
    graph = oracle.graph_of(np.ones((5, 5)))
    found = largest_eigenpairs(Adjacency(graph), 9)
    assert found.values == pytest.approx([4, -1, -1, -1, -1], abs=1e-12)
    assert found.rank == 4


@given(st.integers(0, 10_000), st.integers(1, 2), st.booleans())
def test_the_longest_sum_of_any_k_points(seed: int, d: int, one_sided: bool) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(9, d)) * rng.random((9, 1)) ** 3
    points[:, 0] = np.abs(points[:, 0]) if one_sided else points[:, 0]
    k = int(rng.integers(1, 10))
    found, best = search_rank(points, k), oracle.longest_sum(points, k)
    assert found.best == pytest.approx(best, rel=1e-9)
    assert found.best <= found.bound * (1 + 1e-12)
    assert found.bound == pytest.approx(best, rel=1e-5)
    sums = np.array([points[own].sum(axis=0) for own in found.corners.supports])
    assert squared_length(sums).max() == pytest.approx(found.best, rel=1e-12)


def test_points_left_out_are_in_the_bound(rng) -> None:
    points = rng.normal(size=(400, 2)) / np.arange(1, 401)[:, None]
    whole = search_rank(points, 30)
    kept = SupportFunction(points, 30, keep=60)(np.array([[1.0, 0.0], [0.6, 0.8]]))
    exact = SupportFunction(points, 30)(np.array([[1.0, 0.0], [0.6, 0.8]]))
    assert np.all(kept.heights >= exact.heights)
    assert np.all((kept.sums * kept.directions).sum(axis=1) <= exact.heights + 1e-12)
    assert whole.best <= whole.bound


def test_ties_and_equal_points() -> None:
    found = search_rank(np.ones((6, 2)), 3)
    assert found.best == pytest.approx(18)
    assert found.corners.supports[0].tolist() == [0, 1, 2]
    assert search_rank(np.zeros((4, 2)), 2).bound == 0


def test_iteration_never_shortens_the_sum(rng) -> None:
    points = rng.normal(size=(40, 4))
    support = SupportFunction(points, 10)
    for direction in random_directions(4, 20, seed=1):
        lengths = [squared_length(found.sums)[0] for found in search_sphere(support, direction[None])]
        assert all(b >= a - 1e-9 for a, b in itertools.pairwise(lengths))


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_bounds_by_eigenvalues_hold(seed: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.random((9, 9)) < 0.5, 1).astype(float)
    matrix[0, 1] = 1
    spectrum = largest_eigenpairs(Adjacency(oracle.graph_of(matrix)), rank)
    k = int(rng.integers(2, 10))
    bound, _ = spectral_bound(spectrum, k)
    assert bound >= 2 * oracle.heaviest(matrix, k) / k
    assert bound <= spectrum.values[0] + 1e-6


def test_more_vectors_never_loosen_the_bound() -> None:
    graph = skewed_graph()
    bounds = [spectral_bound(largest_eigenpairs(Adjacency(graph), rank, tolerance=1e-10), 50)[0] for rank in (1, 2)]
    assert bounds[1] <= bounds[0] + 1e-6
    points = scaled_vectors(largest_eigenpairs(Adjacency(graph), 2), 2, 0.0)
    assert points.shape == (500, 2)


def test_improvement_ends_where_no_exchange_gains(rng) -> None:
    matrix = np.triu(rng.random((30, 30)) < 0.4, 1).astype(float)
    graph, full = oracle.graph_of(matrix), matrix + matrix.T
    start = np.arange(8)
    found = improve(graph, start)
    assert found.size == 8
    before, after = weights_within(graph, np.array([start, found]))
    assert (before, after) == (oracle.weight_within(matrix, start), oracle.weight_within(matrix, found))
    inside = set(found.tolist())
    for u, v in itertools.product(found.tolist(), set(range(30)) - inside):
        assert oracle.weight_within(full, inside - {u} | {v}) <= after
    assert weights_within(graph, improve(graph, start, patience=30)[None])[0] >= after


def test_improvement_of_isolated_vertices() -> None:
    matrix = np.zeros((6, 6))
    matrix[0, 1] = 1
    assert improve(oracle.graph_of(matrix), np.array([4, 5])).tolist() == [4, 5]
    assert improve(oracle.graph_of(matrix), np.array([0, 5])).tolist() == [0, 1]
