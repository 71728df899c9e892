"""The densest subgraph of any size by maximum flow, against all subsets and on graphs whose densest part is known."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.densest import any_size, densest_of_any_size, peel
from gpuasm.densest.flow import Division
from gpuasm.errors import UsageError
from gpuasm.graph.building import from_edges
from gpuasm.graph.undirected_graph import UndirectedGraph, undirected_graph
from tests.oracles import densest as oracle
from tests.unit.densest.test_peeling import matrix_of

SEEDS = st.integers(0, 10_000)


def graph_of(edges: list[tuple[int, int]], n: int) -> UndirectedGraph:
    return undirected_graph(from_edges(*np.array(edges, np.int64).reshape(-1, 2).T, n))


def random_graph(seed: int, n: int, m: int) -> UndirectedGraph:
    return undirected_graph(from_edges(*np.random.default_rng(seed).integers(0, n, (2, m)), n))


@given(SEEDS, st.sampled_from(["none", "whole", "real", "extreme"]), st.integers(1, 9))
def test_all_subsets(seed: int, weights: str, rounds: int) -> None:
    matrix, rng = matrix_of(seed, 7), np.random.default_rng(seed)
    matrix[0, 1] = 1
    if weights != "none":
        matrix *= rng.integers(1, 5, matrix.shape) if weights == "whole" else rng.random(matrix.shape)
    if weights == "extreme":
        matrix *= 10.0 ** rng.integers(-50, 50)
    found = densest_of_any_size(oracle.graph_of(matrix, weighted=weights != "none"), rounds=rounds)
    best = oracle.densest(matrix)
    assert found.is_proven
    assert found.vertices.tolist() == oracle.largest_densest(matrix)
    assert found.weight == pytest.approx(oracle.weight_within(matrix, found.vertices), rel=1e-12)
    assert best * (1 - 1e-12) <= found.density_bound <= best * (1 + 1e-9)


@given(SEEDS, st.integers(0, 30))
def test_the_closed_vertices_do_not_depend_on_the_division(seed: int, limit: int) -> None:
    graph, rng = oracle.graph_of(matrix_of(seed, 8)), np.random.default_rng(seed)
    closed = []
    for n_orders in (1, 2, 5):
        places = np.array([rng.permutation(8) for _ in range(n_orders)], np.int32).T.copy()
        division = Division(graph, np.full(1, 8), places)
        assert division.load.sum() == 8 * graph.n_edges
        closed.append(division.level(limit, most_visits=10_000))
        assert division.load.sum() == 8 * graph.n_edges
        assert (division.load >= 0).all()
        outside = np.setdiff1d(np.arange(8), closed[-1])
        assert (division.load[outside] <= limit).all()
        inside = graph.induced(closed[-1])
        assert division.load[closed[-1]].sum() == 8 * inside.n_edges
        excess = 8 * inside.n_edges - limit * closed[-1].size
        for k in range(1, 9):
            assert excess >= 8 * oracle.heaviest(oracle.matrix_of(graph), k) - limit * k
    assert closed[0].tolist() == closed[1].tolist() == closed[2].tolist()


@given(SEEDS)
def test_new_numbers_and_rounds_do_not_change_the_members(seed: int) -> None:
    graph = random_graph(seed, 60, 150)
    order = np.random.default_rng(seed).permutation(60)
    row = np.repeat(np.arange(60), graph.degree)
    other = undirected_graph(from_edges(order[row], order[graph.columns], 60))
    found = densest_of_any_size(graph)
    for again in (densest_of_any_size(other, rounds=1), densest_of_any_size(other, rounds=30)):
        assert np.sort(order[found.vertices]).tolist() == again.vertices.tolist()
    assert peel(graph, rounds=8).density <= found.density == found.density_bound <= peel(graph).density_bound


def test_a_flow_finds_what_peeling_misses() -> None:
    graph = random_graph(1, 4000, 15_000)
    found, peeled = densest_of_any_size(graph), peel(graph, rounds=8)
    assert found.density > peeled.density
    assert found.density == found.density_bound < peeled.density_bound
    assert graph.induced(found.vertices).n_edges == found.weight


PATH = [(i, i + 1) for i in range(499)]
CLIQUES = [(u, v) for base in (0, 7) for u in range(base, base + 5) for v in range(base, u)]


@pytest.mark.parametrize(
    ("edges", "n", "members", "weight"),
    [
        ([], 0, range(0), 0),
        ([], 1, range(1), 0),
        ([], 3, range(3), 0),
        ([(0, 0), (1, 1)], 2, range(2), 0),
        ([(0, 1)], 2, range(2), 1),
        ([(0, 1), (1, 1), (1, 0)], 3, range(2), 1),
        (PATH, 500, range(500), 499),
        ([*PATH, (499, 0)], 500, range(500), 500),
        ([(0, i) for i in range(1, 400)], 400, range(400), 399),
        ([*CLIQUES, (5, 6)], 12, [0, 1, 2, 3, 4, 7, 8, 9, 10, 11], 20),
        (list(nx.complete_bipartite_graph(3, 50).edges()), 53, range(53), 150),
        (list(nx.lollipop_graph(6, 40).edges()), 46, range(6), 15),
        (list(nx.grid_graph([1, 1]).edges()), 1, range(1), 0),
    ],
)
def test_known_graphs(edges: list[tuple[int, int]], n: int, members: list[int], weight: int) -> None:
    found = densest_of_any_size(graph_of(edges, n))
    assert (found.vertices.tolist(), found.weight) == (list(members), weight)
    assert found.density_bound == pytest.approx(weight / max(1, n if len(members) == n else len(members)))


def test_a_grid_is_its_own_densest_subgraph() -> None:
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(40, 30))
    found = densest_of_any_size(graph_of(list(grid.edges()), 1200))
    assert (found.vertices.size, found.weight, found.is_proven) == (1200, grid.number_of_edges(), True)


@pytest.mark.parametrize("limits", [{"_FEW_SLOTS": 0}, {"_VISITS": 0, "_LEAST_VISITS": 0}])
def test_where_flows_take_long_peeling_gives_the_result(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]
) -> None:
    graph = random_graph(1, 4000, 15_000)
    exact = densest_of_any_size(graph)
    for name, value in limits.items():
        monkeypatch.setattr(any_size, name, value)
    found = densest_of_any_size(graph)
    assert peel(graph).density <= found.density < exact.density < found.density_bound
    assert not found.is_proven
    assert graph.induced(found.vertices).n_edges == found.weight
    whole = densest_of_any_size(graph, is_limited=False)
    assert (whole.vertices.tolist(), whole.is_proven) == (exact.vertices.tolist(), True)


def test_a_flow_in_a_small_core_of_a_large_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(any_size, "_FEW_SLOTS", 0)
    graph = graph_of([*CLIQUES, *((i, i + 1) for i in range(12, 200))], 201)
    found = densest_of_any_size(graph)
    assert (found.vertices.size, found.is_proven) == (10, True)


def test_weights_of_zero_and_refusals() -> None:
    graph = undirected_graph(from_edges([0, 1], [1, 2], 3), np.zeros(2))
    found = densest_of_any_size(graph)
    assert (found.vertices.size, found.weight, found.density_bound) == (3, 0, 0)
    with pytest.raises(UsageError, match="at least one round"):
        densest_of_any_size(graph, rounds=0)
