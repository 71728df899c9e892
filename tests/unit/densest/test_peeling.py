"""Greedy peeling, Greedy++ and peeling in batches against plain peeling and all subsets."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.densest import Adjacency, peel, peel_in_batches, power_support
from gpuasm.densest.bounds import load_bound
from gpuasm.errors import UsageError
from gpuasm.graph.building import from_edges
from gpuasm.graph.undirected_graph import undirected_graph
from tests.oracles import densest as oracle

SEEDS = st.integers(0, 10_000)


def matrix_of(seed: int, n: int = 8, *, weighted: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.random((n, n)) < rng.uniform(0.2, 0.9), 1).astype(float)
    return matrix * rng.integers(1, 6, (n, n)) if weighted else matrix


@given(SEEDS, st.booleans())
def test_one_round_is_greedy_peeling(seed: int, weighted: bool) -> None:
    matrix = matrix_of(seed, 7, weighted=weighted)
    found = peel(oracle.graph_of(matrix, weighted=weighted))
    low, high = oracle.peeled_density(matrix)
    assert low - 1e-9 <= found.density <= high + 1e-9
    assert found.weight == oracle.weight_within(matrix, found.vertices)
    assert found.density >= 0.5 * oracle.densest(matrix)


@given(SEEDS, st.booleans())
def test_every_removal_takes_a_least_degree(seed: int, weighted: bool) -> None:
    matrix = matrix_of(seed, 9, weighted=weighted)
    full, left = matrix + matrix.T, set(range(9))
    for v in peel(oracle.graph_of(matrix, weighted=weighted)).tails[0].tolist():
        degree = {u: sum(full[u, w] for w in left) for u in left}
        assert degree[v] == min(degree.values())
        left.remove(v)


@given(SEEDS, st.booleans(), st.sampled_from([1, 3, 30]))
def test_bounds_of_loads_hold(seed: int, weighted: bool, rounds: int) -> None:
    matrix = matrix_of(seed, 8, weighted=weighted)
    found = peel(oracle.graph_of(matrix, weighted=weighted), rounds=rounds)
    for k in range(1, 9):
        assert found.load_bounds[k - 1] >= oracle.heaviest(matrix, k)
    assert found.density <= oracle.densest(matrix) + 1e-12 <= found.density_bound + 1e-9


def test_rounds_approach_the_densest_subgraph() -> None:
    for seed in range(20):
        matrix = matrix_of(seed, 10)
        found, best = peel(oracle.graph_of(matrix), rounds=200), oracle.densest(matrix)
        assert found.density == pytest.approx(best, abs=1e-12)
        assert found.density_bound == pytest.approx(best, rel=0.05)


@pytest.mark.parametrize("graph", [nx.karate_club_graph(), nx.powerlaw_cluster_graph(400, 6, 0.5, seed=2)])
def test_as_dense_as_networkx_finds(graph: nx.Graph) -> None:
    theirs, _ = nx.approximation.densest_subgraph(graph, iterations=100, method="greedy++")
    found = peel(undirected_graph(from_edges(*np.array(graph.edges()).T, len(graph))), rounds=100)
    assert found.density == pytest.approx(theirs, rel=1e-12)
    assert found.density_bound >= theirs


def test_peeling_leaves_the_last_k_vertices() -> None:
    matrix = np.zeros((8, 8))
    matrix[2:6, 2:6] = 1
    matrix[0, 1] = matrix[6, 7] = matrix[1, 2] = 1
    found = peel(oracle.graph_of(matrix), rounds=2)
    assert found.vertices.tolist() == [2, 3, 4, 5]
    assert [left.tolist() for left in found.left(4)] == [[2, 3, 4, 5]] * 2
    assert (found.weight, found.density) == (6, 1.5)


@given(SEEDS, st.booleans(), st.sampled_from([0.01, 0.1, 1.0]))
def test_batch_peeling_reaches_its_approximation_ratio(seed: int, weighted: bool, slack: float) -> None:
    matrix = matrix_of(seed, 9, weighted=weighted)
    found = peel_in_batches(Adjacency(oracle.graph_of(matrix, weighted=weighted)), slack=slack)
    assert found.weight == oracle.weight_within(matrix, found.vertices)
    assert found.weight / found.vertices.size >= oracle.densest(matrix) / (2 + 2 * slack) - 1e-9
    for k in range(2, 10):
        assert load_bound(found.loads, k) >= 2 * oracle.heaviest(matrix, k) / k


def test_batches_on_both_devices(xp, rng) -> None:
    graph = undirected_graph(from_edges(*(rng.random((2, 30_000)) ** 3 * 2000).astype(np.int64), 2000))
    host, here = (peel_in_batches(Adjacency(g), stop=50) for g in (graph, graph.moved_to(xp)))
    assert to_host(here.vertices).tolist() == host.vertices.tolist()
    assert to_host(here.core).tolist() == host.core.tolist()
    assert to_host(here.loads).tolist() == host.loads.tolist()
    assert (here.weight, here.passes) == (host.weight, host.passes)
    assert 50 <= host.core.size < 1000
    assert host.passes >= 2


def test_the_power_method_on_both_devices(xp, rng) -> None:
    graph = undirected_graph(from_edges(*(rng.random((2, 30_000)) ** 2 * 2000).astype(np.int64), 2000))
    support = to_host(power_support(Adjacency(graph.moved_to(xp)), 60))
    assert support.tolist() == power_support(Adjacency(graph), 60).tolist()
    matrix = oracle.matrix_of(graph)
    degrees = np.argsort(-graph.degree, kind="stable")[:60]
    assert oracle.weight_within(matrix, support) >= oracle.weight_within(matrix, degrees)


def test_nothing_to_peel() -> None:
    empty = undirected_graph(from_edges([], [], 3))
    assert (peel(empty).weight, peel(empty).vertices.tolist()) == (0, [0, 1, 2])
    assert peel_in_batches(Adjacency(empty)).weight == 0
    with pytest.raises(UsageError, match="at least one round"):
        peel(empty, rounds=0)
