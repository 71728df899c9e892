"""The backend of networkx gives what networkx itself computes."""

from __future__ import annotations

import networkx as nx
import pytest

from gpuasm import networkx_backend
from gpuasm.networkx_backend import algorithms


def random_graph(kind, *, n=40, m=150, seed=1):
    graph = kind()
    graph.add_nodes_from(f"v{i}" for i in range(n))
    edges = nx.gnm_random_graph(n, m, seed=seed, directed=True).edges()
    graph.add_edges_from((f"v{u}", f"v{v}", {"weight": 1 + (u * v) % 5}) for u, v in edges if v % 7)
    graph.add_edge("v3", "v3", weight=2)
    return graph


def balanced(kind=nx.MultiDiGraph):
    graph = kind()
    nx.add_cycle(graph, "abcd")
    nx.add_cycle(graph, "cexz")
    return graph


@pytest.fixture(autouse=True)
def _installed():
    if "gpuasm" not in nx.config.backends:
        pytest.skip("gpuasm was installed before it had the entry points: install it again")


def test_networkx_finds_the_backend():
    assert set(networkx_backend.describe()["functions"]) == set(networkx_backend.FUNCTIONS)
    assert all("gpuasm" in getattr(nx, name).backends for name in networkx_backend.FUNCTIONS)


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.Graph, nx.MultiDiGraph, nx.MultiGraph])
@pytest.mark.parametrize("options", [{}, {"weight": None}, {"alpha": 0.5, "personalization": {"v1": 2, "v4": 1}}])
def test_pagerank(kind, options):
    graph = random_graph(kind)
    found = nx.pagerank(graph, backend="gpuasm", tol=1e-12, max_iter=500, **options)
    expected = nx.pagerank(graph, backend="networkx", tol=1e-12, max_iter=500, **options)
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-9)


def test_pagerank_without_convergence():
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(random_graph(nx.DiGraph), backend="gpuasm", max_iter=1, tol=1e-15)


def test_pagerank_of_no_vertices():
    assert nx.pagerank(nx.DiGraph(), backend="gpuasm") == {}


@pytest.mark.parametrize("source", [None, "x", "c"])
@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_euler_circuit(kind, source):
    graph = balanced(kind)
    found = list(nx.eulerian_circuit(graph, source, backend="gpuasm"))
    assert sorted(found) == sorted(graph.edges())
    assert all(first[1] == second[0] for first, second in zip(found, found[1:] + found[:1], strict=True))
    assert source in (None, found[0][0])


def test_euler_circuit_with_keys():
    graph = balanced()
    graph.add_edges_from([("a", "b", "one"), ("b", "a", "two"), ("a", "b", 7), ("b", "a", 8)])
    found = list(nx.eulerian_circuit(graph, keys=True, backend="gpuasm"))
    assert sorted(found, key=str) == sorted(graph.edges(keys=True), key=str)


def broken(change):
    graph = balanced()
    change(graph)
    return graph


@pytest.mark.parametrize(
    "graph",
    [
        broken(lambda graph: graph.add_edge("a", "c")),
        broken(lambda graph: graph.add_node("alone")),
        broken(lambda graph: nx.add_cycle(graph, "pqr")),
    ],
)
def test_no_euler_circuit(graph):
    for backend in ("networkx", "gpuasm"):
        with pytest.raises(nx.NetworkXError, match="not Eulerian"):
            list(nx.eulerian_circuit(graph, backend=backend))


def test_what_the_backend_leaves_to_networkx():
    graph = random_graph(nx.DiGraph)
    assert algorithms.can_run("pagerank", (graph, 0.9), {})
    assert not algorithms.can_run("pagerank", (graph, 0.9, None, 100, 1e-6, {"v1": 1}), {})
    assert not algorithms.can_run("pagerank", (graph,), {"dangling": {"v1": 1}})
    assert not algorithms.can_run("pagerank", (graph,), {"alpha": 1.0})
    assert algorithms.can_run("eulerian_circuit", (balanced(),), {})
    assert not algorithms.can_run("eulerian_circuit", (), {"G": nx.cycle_graph(4)})
