"""PageRank by power iteration: against equations, networkx and scikit-network."""

from __future__ import annotations

from types import ModuleType

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from sknetwork.ranking import PageRank

from gpuasm.arrays import to_host
from gpuasm.errors import ConvergenceError, DataError, UsageError
from gpuasm.graph import DirectedGraph, from_edges
from gpuasm.graph.random_graphs import rmat
from gpuasm.ranking import l1_distance, power_iteration
from gpuasm.threads import set_threads
from tests.oracles.ranking import exact_ranks, transition_matrix
from tests.strategies import graphs

CLOSE = 1e-9


def random_case(number: int) -> tuple[DirectedGraph, np.ndarray, np.ndarray]:
    """Return a graph of the numbered case, weights some of which are 0, and a teleport vector with zeros."""
    rng = np.random.default_rng(number)
    n = int(rng.integers(1, 80))
    m = int(rng.integers(1, 4 * n))
    graph = from_edges(rng.integers(0, n, m), rng.integers(0, n, m), n)
    teleport = rng.random(n) * (rng.random(n) < 0.5)
    teleport[0] += 0.1
    return graph, rng.random(m) * (rng.random(m) < 0.9), teleport


def of_networkx(graph: DirectedGraph, weights: np.ndarray | None, teleport: np.ndarray | None) -> np.ndarray:
    peer = nx.MultiDiGraph()
    peer.add_nodes_from(range(graph.n_vertices))
    for e, (u, v) in enumerate(graph.named_edges()):
        peer.add_edge(u, v, weight=1.0 if weights is None else weights[e])
    shares = None if teleport is None else dict(enumerate(teleport))
    ranks = nx.pagerank(peer, tol=1e-15, max_iter=10_000, personalization=shares)
    return np.array([ranks[i] for i in range(graph.n_vertices)])


@pytest.mark.parametrize("number", range(50))
def test_equals_networkx_and_scikit_network(number: int, xp: ModuleType) -> None:
    graph, weights, teleport = random_case(number)
    chosen = [(None, None), (weights, None), (None, teleport), (weights, teleport)][number % 4]
    ranks = power_iteration(graph.moved_to(xp), weights=chosen[0], teleport=chosen[1], tolerance=1e-13).ranks
    assert np.abs(to_host(ranks) - of_networkx(graph, *chosen)).sum() < CLOSE
    # Where no edge leads on, scikit-network has a rule of its own: it gets the jumps as edges.
    matrix = sparse.csr_matrix(transition_matrix(graph, *chosen))
    peer = PageRank(damping_factor=0.85, solver="piteration", n_iter=2000, tol=1e-15)
    assert np.abs(to_host(ranks) - peer.fit_predict(matrix, chosen[1])).sum() < CLOSE


@given(graph=graphs())
def test_solves_the_equations_within_its_bound(graph: DirectedGraph) -> None:
    found = power_iteration(graph, tolerance=1e-6)
    distance = l1_distance(found.ranks, exact_ranks(graph))
    assert distance <= found.error_bound + 1e-14
    assert found.change <= 1e-6
    assert found.ranks.sum() == pytest.approx(1, abs=1e-14)


def test_same_bits_with_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:

    graph = rmat(14, 8, seed=3)
    found = []
    for n_threads in (1, 2, 3):
        set_threads(n_threads)
        found.append(power_iteration(graph).ranks)
    set_threads(None)
    assert len({ranks.tobytes() for ranks in found}) == 1


def test_devices_agree(xp: ModuleType) -> None:
    graph, rng = rmat(13, 30, seed=1), np.random.default_rng(1)
    weights, teleport = rng.random(graph.n_edges), rng.random(graph.n_vertices)
    mine = power_iteration(graph, weights=weights, teleport=teleport, tolerance=1e-12).ranks
    there = power_iteration(graph.moved_to(xp), weights=weights, teleport=teleport, tolerance=1e-12).ranks
    assert l1_distance(mine, there) < 1e-13


def test_edges_given_twice_count_twice() -> None:
    graph = from_edges([0, 0, 0, 1, 2], [1, 1, 2, 0, 0])
    weighted = from_edges([0, 0, 1, 2], [1, 2, 0, 0])
    twice = power_iteration(weighted, weights=np.array([2, 1, 1, 1]))
    assert l1_distance(power_iteration(graph).ranks, twice.ranks) < 1e-15


def test_a_single_reset_is_the_teleport_vector(xp: ModuleType) -> None:
    graph, _, teleport = random_case(7)
    ranks = power_iteration(graph.moved_to(xp), teleport=teleport, reset=1.0).ranks
    assert l1_distance(ranks, teleport / teleport.sum()) < 1e-15


def test_graphs_without_edges_or_vertices(xp: ModuleType) -> None:
    nothing = np.zeros(0, np.int64)
    empty = power_iteration(from_edges(nothing, nothing).moved_to(xp))
    assert (empty.ranks.size, empty.n_iterations) == (0, 0)
    alone = power_iteration(from_edges(nothing, nothing, 4).moved_to(xp)).ranks
    assert to_host(alone).tolist() == [0.25] * 4
    weightless = power_iteration(from_edges([0, 1], [1, 0], 3).moved_to(xp), weights=np.zeros(2)).ranks
    assert to_host(weightless) == pytest.approx(np.full(3, 1 / 3), abs=1e-15)


def test_components_share_by_their_sizes() -> None:
    ring = from_edges([0, 1, 2, 3, 4], [1, 2, 0, 4, 3])
    assert power_iteration(ring).ranks == pytest.approx(np.full(5, 0.2), abs=1e-12)


def test_failed_convergence_suggests_a_remedy() -> None:
    graph = from_edges(np.arange(50), np.arange(1, 51))
    with pytest.raises(ConvergenceError, match="more iterations") as caught:
        power_iteration(graph, max_iterations=20, tolerance=1e-10)
    enough = int(caught.value.remedy.split(",")[1].split()[0])
    assert power_iteration(graph, max_iterations=enough, tolerance=1e-10).n_iterations > 20
    with pytest.raises(ConvergenceError, match="rounding"):
        power_iteration(rmat(8, 8), max_iterations=5, tolerance=1e-30)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"weights": np.array([1.0, -1.0])}, DataError, "-1.0 at edge 1"),
        ({"weights": np.array([1.0, np.nan])}, DataError, "nan at edge 1"),
        ({"weights": np.ones(3)}, DataError, "each edge, 2"),
        ({"teleport": np.zeros(2)}, DataError, "sums to more than 0"),
        ({"teleport": np.array([1.0, -1.0])}, DataError, "-1.0 at vertex 1"),
        ({"teleport": np.ones(5)}, DataError, "each vertex, 2"),
        ({"reset": 0.0}, UsageError, "reset probability"),
        ({"reset": 1.1}, UsageError, "reset probability"),
        ({"tolerance": 0.0}, UsageError, "tolerance above 0"),
        ({"max_iterations": 0}, UsageError, "at least one iteration"),
    ],
)
def test_bad_parameters(options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        power_iteration(from_edges([0, 1], [1, 0]), **options)


@pytest.mark.parametrize("scale", [1.0, 5e-324, 1e-310, 1e300])
def test_only_ratios_of_weights_count(scale):
    graph = from_edges([0, 0, 1, 2], [1, 2, 0, 0])
    found = power_iteration(graph, weights=np.array([scale, scale, 1.0, 1.0])).ranks
    assert np.allclose(found, power_iteration(graph, weights=np.ones(4)).ranks, atol=1e-14)
    teleport = power_iteration(graph, teleport=np.full(3, scale)).ranks
    assert np.allclose(teleport, power_iteration(graph).ranks, atol=1e-12)


def test_weights_whose_sum_overflows():
    graph = from_edges([0, 1, 0, 2, 2], [1, 2, 2, 0, 1])
    found = power_iteration(graph, weights=np.array([1e308, 1e308, 1e308, 1e-308, 1e308])).ranks
    assert np.allclose(found, [0.05, 0.475, 0.475], atol=1e-6)
