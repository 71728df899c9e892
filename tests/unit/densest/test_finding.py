"""The densest subgraph of k vertices against all subsets, planted ones, and refusals."""

from __future__ import annotations

import functools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.densest import DenseSubgraph, SearchOptions, densest_subgraph, local_search, peel, peeling
from gpuasm.densest.finding import load_host_loops
from gpuasm.densest.inputs import METHODS
from gpuasm.errors import DataError, UsageError
from gpuasm.graph.building import from_edges, from_strings
from gpuasm.graph.undirected_graph import UndirectedGraph, undirected_graph
from tests.oracles import densest as oracle

PORT = "ab bc bh ch ce cd dh de ef fg gh"
"""The graph of the published method's port to Numba."""


def random_matrix(rng: np.random.Generator, most: int = 14) -> np.ndarray:
    n = int(rng.integers(4, most + 1))
    matrix = np.triu(rng.random((n, n)) < rng.uniform(0.15, 0.9), 1).astype(float)
    matrix[0, 1] = 1
    return matrix


@functools.cache
def planted(n: int, k: int, *, share: float, degree: int, seed: int):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, n * degree // 2))
    members = np.sort(rng.choice(n, k, replace=False))
    pairs = np.array(np.triu_indices(k, 1))
    pairs = members[pairs[:, rng.random(pairs.shape[1]) < share]]
    return undirected_graph(from_edges(*np.concatenate([ends, pairs], axis=1), n)), members


def test_the_published_port_graph() -> None:
    graph = undirected_graph(from_strings(f"{a} -> {b}" for a, b in PORT.split()))
    found = densest_subgraph(graph, 5, SearchOptions(rank=2))
    assert [graph.label_of(v) for v in found.vertices] == ["b", "c", "h", "e", "d"]
    assert (found.weight, found.average_degree, found.density) == (7, 2.8, 0.7)


def test_random_graphs_against_all_subsets() -> None:
    rng, hits, tried = np.random.default_rng(6), {1: 0, 2: 0, 4: 0}, 60
    for _ in range(tried):
        matrix = random_matrix(rng)
        n = len(matrix)
        k = int(rng.choice([k for k in range(2, n) if k <= 5 or n - k <= 4 or n <= 11]))
        graph, best = oracle.graph_of(matrix), oracle.heaviest(matrix, k)
        for rank in hits:
            found = densest_subgraph(graph, k, SearchOptions(rank=rank))
            assert found.weight == oracle.weight_within(matrix, found.vertices)
            assert all(bound >= 2 * best / k for bound in found.bounds.values())
            hits[rank] += found.weight == best
    assert min(hits.values()) >= 0.95 * tried


def test_weighted_graphs_against_all_subsets() -> None:
    rng, hits = np.random.default_rng(7), 0
    for _ in range(60):
        matrix = random_matrix(rng, 10) * rng.random((1, 1)) * 3
        matrix *= rng.random(matrix.shape)
        k = int(rng.integers(2, len(matrix) + 1))
        found, best = densest_subgraph(oracle.graph_of(matrix, weighted=True), k), oracle.heaviest(matrix, k)
        assert found.weight == pytest.approx(oracle.weight_within(matrix, found.vertices), rel=1e-12)
        assert all(bound >= 2 * best / k for bound in found.bounds.values())
        hits += found.weight == pytest.approx(best, rel=1e-9)
    assert hits >= 57


@pytest.mark.parametrize("method", ["rank", "peel", "power"])
def test_a_planted_subgraph_of_30_in_100_000(method: str) -> None:
    graph, members = planted(100_000, 30, share=0.9, degree=8, seed=3)
    found = densest_subgraph(graph, 30, SearchOptions(method=method))
    assert found.vertices.tolist() == members.tolist()
    assert found.weight == pytest.approx(0.9 * 435, abs=30)
    if method == "rank":
        assert found.average_degree / found.bound > 0.97
        assert found.baselines["degree"] < found.weight


def test_a_planted_cluster_of_12_samples() -> None:
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(10), 12)
    similarity = np.where(groups[:, None] == groups, rng.uniform(0.5, 0.9, (120, 120)), rng.uniform(0, 0.2, (120, 120)))
    cluster = np.sort(rng.choice(120, 12, replace=False))
    similarity[np.ix_(cluster, cluster)] = rng.uniform(0.98, 1.0, (12, 12))
    graph = oracle.graph_of(similarity, weighted=True)
    found = densest_subgraph(graph, 12)
    assert found.vertices.tolist() == cluster.tolist()
    assert found.density > 0.98
    assert found.average_degree <= found.bound


def test_real_structure_beats_the_single_methods() -> None:
    graph = undirected_graph(from_edges(*np.array(nx.powerlaw_cluster_graph(3000, 12, 0.4, seed=1).edges()).T, 3000))
    for k in (20, 100, 400):
        found = densest_subgraph(graph, k)
        assert found.weight >= max(found.baselines.values())
        assert found.average_degree <= found.bound


@given(st.integers(0, 200), st.integers(2, 7))
def test_new_numbers_do_not_change_the_weight(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.integers(1, 10_000, (9, 9)) * (rng.random((9, 9)) < 0.6), 1).astype(float)
    matrix[0, 1] = 5
    order = rng.permutation(9)
    full = matrix + matrix.T
    found = densest_subgraph(oracle.graph_of(full, weighted=True), k)
    other = densest_subgraph(oracle.graph_of(full[np.ix_(order, order)], weighted=True), k)
    assert other.weight == found.weight
    assert oracle.weight_within(full, order[other.vertices]) == found.weight


def test_same_members_on_host_and_device(xp) -> None:
    graph, members = planted(20_000, 40, share=0.6, degree=10, seed=1)
    on_host, here = densest_subgraph(graph, 40), densest_subgraph(graph.moved_to(xp), 40)
    assert here.vertices.tolist() == on_host.vertices.tolist() == members.tolist()
    assert here.bounds == pytest.approx(on_host.bounds, rel=1e-4)


def test_a_large_graph_is_searched_in_its_core(xp) -> None:
    graph, members = planted(20_000, 40, share=0.6, degree=10, seed=2)
    found = densest_subgraph(graph.moved_to(xp), 40, SearchOptions(whole_slots=1000, core_vertices=300))
    assert found.vertices.tolist() == members.tolist()
    assert found.average_degree <= found.bound == min(found.bounds.values())


def test_cliques_and_whole_graphs() -> None:
    clique = oracle.graph_of(np.ones((20, 20)))
    found = densest_subgraph(clique, 7)
    assert (found.density, found.average_degree) == (1, 6)
    assert found.bound == pytest.approx(6, abs=1e-6)
    assert densest_subgraph(clique, 20).vertices.tolist() == list(range(20))
    pair = densest_subgraph(oracle.graph_of(np.ones((2, 2))), 2)
    assert (pair.weight, pair.density) == (1, 1)


def test_disconnected_graphs() -> None:
    matrix = np.zeros((9, 9))
    matrix[:4, :4] = matrix[4:7, 4:7] = 1
    assert densest_subgraph(oracle.graph_of(matrix), 4).vertices.tolist() == [0, 1, 2, 3]
    assert densest_subgraph(oracle.graph_of(matrix), 8).weight == 9


@pytest.mark.parametrize("n", [3000, 70])
def test_stars_and_bipartite_graphs(n: int) -> None:
    star = undirected_graph(from_edges(np.zeros(n - 1, np.int64), np.arange(1, n), n))
    found = densest_subgraph(star, 5)
    assert (found.weight, found.vertices[0]) == (4, 0)
    left, right = np.divmod(np.arange(40 * 30), 30)
    both = densest_subgraph(undirected_graph(from_edges(left, 40 + right, n)), 10)
    assert both.weight == 25


@pytest.mark.parametrize("method", ["rank", "peel", "power", "degree"])
def test_methods_answer_with_k_vertices(method: str) -> None:
    graph = undirected_graph(from_edges(*np.array(nx.gnm_random_graph(60, 200, seed=1).edges()).T, 60))
    found = densest_subgraph(graph, 9, SearchOptions(method=method))
    assert isinstance(found, DenseSubgraph)
    assert (found.k, np.unique(found.vertices).size) == (9, 9)
    assert found.weight == oracle.weight_within(oracle.matrix_of(graph), found.vertices)
    assert found.weight >= found.baselines.get(method, 0)
    assert np.all(np.diff(found.vertices) > 0)


def test_refusals() -> None:
    graph = oracle.graph_of(np.ones((4, 4)))
    with pytest.raises(DataError, match="at least k = 5 vertices"):
        densest_subgraph(graph, 5)
    with pytest.raises(UsageError, match="k of 1 or more"):
        densest_subgraph(graph, 0)
    with pytest.raises(DataError, match="a graph with edges"):
        densest_subgraph(undirected_graph(from_edges([0, 1], [0, 1], 2)), 2)
    with pytest.raises(DataError, match="a graph with vertices"):
        densest_subgraph(undirected_graph(from_edges([], [], 0)), 2)
    with pytest.raises(DataError, match="finite weight of 0 or more"):
        densest_subgraph(undirected_graph(from_edges([0], [1], 2), np.array([-1.0])), 2)


def test_one_vertex() -> None:
    matrix = np.zeros((5, 5))
    matrix[0, 1] = matrix[1, 2] = 1
    for graph in (oracle.graph_of(matrix), oracle.graph_of(3.5 * matrix, weighted=True)):
        for method in METHODS:
            found = densest_subgraph(graph, 1, SearchOptions(method=method))
            assert (found.k, found.weight, found.bound) == (1, 0, pytest.approx(0, abs=1e-8))


def chain(n: int, *, closed: bool, seed: int | None = None) -> UndirectedGraph:
    """Return a path or ring of n vertices, numbered in their order or at random."""
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    ends = np.arange(n if closed else n - 1)
    return undirected_graph(from_edges(order[ends], order[(ends + 1) % n], n))


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("seed", [None, 1])
def test_without_eigenvectors_that_converge_the_other_candidates_are_compared(closed: bool, seed: int | None) -> None:
    found = densest_subgraph(chain(5000, closed=closed, seed=seed), 10, SearchOptions(max_products=20, tolerance=1e-12))
    assert found.weight == 9
    assert 1.8 <= found.bound <= 2
    assert set(found.baselines) == {"degree", "power", "peel"}
    assert found.eigenvalues.size == 0
    assert found.note == "eigenvectors did not converge in 20 products: the other candidates were compared"
    assert not densest_subgraph(chain(300, closed=closed), 10, SearchOptions(method="peel")).note


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_bounds_hold_where_only_a_core_is_searched(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng, 10)
    k = min(k, len(matrix))
    found = densest_subgraph(oracle.graph_of(matrix), k, SearchOptions(whole_slots=0, core_vertices=2))
    assert all(bound >= 2 * oracle.heaviest(matrix, k) / k for bound in found.bounds.values())
    assert found.weight == oracle.weight_within(matrix, found.vertices)


@pytest.mark.parametrize("weighted", [False, True])
def test_all_host_loops_are_loaded_ahead(weighted: bool) -> None:
    graph, _ = planted(400, 20, share=1.0, degree=6, seed=1)
    if weighted:
        graph = UndirectedGraph(graph.row_offsets, graph.columns, weights=np.ones(graph.columns.size))
    loops = local_search._swap, local_search._weigh_all, peeling._peel_heap if weighted else peeling._peel_stacks
    load_host_loops(graph)
    loaded = [list(loop.signatures) for loop in loops]
    densest_subgraph(graph, 20, SearchOptions(whole_slots=100, core_vertices=64))
    assert all(loaded)
    assert [list(loop.signatures) for loop in loops] == loaded


@pytest.mark.parametrize("extreme", [1e308, 1e-100, 5e-324])
def test_weights_outside_the_range_are_refused(extreme):
    graph = undirected_graph(from_edges([0, 1, 2], [1, 2, 0]), np.array([1.0, extreme, 1.0]))
    for call in (lambda: densest_subgraph(graph, 2), lambda: peel(graph)):
        with pytest.raises(DataError, match=r"from 1e-60 to 1e\+60"):
            call()


def test_sums_of_weights_that_overflow_are_refused():
    with pytest.raises(DataError, match="finite sums"):
        undirected_graph(from_edges([0, 0], [1, 1]), np.array([1e308, 1e308]))


def test_weights_beyond_integers():
    graph = undirected_graph(from_edges([0, 1, 2], [1, 2, 0]), np.array([2.0**63, 1.0, 2.0**64]))
    found = densest_subgraph(graph, 2)
    assert (found.vertices.tolist(), found.weight) == ([0, 2], 2.0**64)
