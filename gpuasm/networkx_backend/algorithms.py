"""PageRank and Euler circuits for networkx: the same arguments and results, by gpuasm's algorithms."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np

from gpuasm.errors import ConvergenceError, DataError
from gpuasm.graph.building import from_edges
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.finding import find_euler_tour
from gpuasm.graph.rows import group_by
from gpuasm.ranking.power_iteration import power_iteration

_ALPHA = 0.85
_PAGERANK = ("G", "alpha", "personalization", "max_iter", "tol", "nstart", "weight", "dangling")
_NOT_EULERIAN = "G is not Eulerian."


class BackendGraph:
    """A graph of networkx as the backend computes with it; an undirected edge is two edges, a self-loop one.

    Parameters
    ----------
    graph
        Of networkx.
    weight
        The attribute that holds the weights of edges, and the weight of edges without it; None: no weights.

    Attributes
    ----------
    nodes : list
    graph : DirectedGraph
        Vertex i is ``nodes[i]``.
    weights : (m,) float64, or None
        In the order of the edges.
    keys : list, or None
        Of the edges of a multigraph, in their order.
    """

    __networkx_backend__ = "gpuasm"

    def __init__(self, graph: nx.Graph, weight: tuple[str, float] | None = None) -> None:
        self._directed, self._multigraph = graph.is_directed(), graph.is_multigraph()
        self.nodes: list[Hashable] = list(graph)
        number = {node: i for i, node in enumerate(self.nodes)}
        ends = np.array([(number[u], number[v]) for u, v in graph.edges()], np.int64).reshape(-1, 2)
        order = np.arange(len(ends))
        if not self._directed:
            both = np.stack([ends, ends[:, ::-1]], axis=1).reshape(-1, 2)
            kept = np.ones(len(both), bool)
            kept[1::2] = ends[:, 0] != ends[:, 1]
            ends, order = both[kept], np.repeat(order, 2)[kept]
        source, target = ends.T
        order = group_by(source, order, len(self.nodes))[1]
        self.graph: DirectedGraph = from_edges(source, target, len(self.nodes))
        self.weights: np.ndarray | None = None
        if weight is not None:
            name, default = weight
            values = [value for _, _, value in graph.edges(data=name, default=default)]
            self.weights = np.array(values, np.float64)[order]
        keys = [key for _, _, key in graph.edges(keys=True)] if self._multigraph else None
        self.keys: list[Hashable] | None = None if keys is None else [keys[edge] for edge in order.tolist()]

    def is_directed(self) -> bool:
        return self._directed

    def is_multigraph(self) -> bool:
        return self._multigraph


def convert_from_nx(graph: nx.Graph, *, edge_attrs: Mapping[str, Any] | None = None, **_: object) -> BackendGraph:
    """Return a graph of networkx as one of the backend."""
    name, default = next(iter((edge_attrs or {}).items()), (None, None))
    return BackendGraph(graph, None if name is None else (name, 1.0 if default is None else default))


def convert_to_nx(result: Any, **_: object) -> Any:
    """Return a result, which needs no conversion."""
    return result


def can_run(name: str, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> bool:
    """Return whether the backend takes the arguments of a function of networkx."""
    if name == "pagerank":
        given = {**dict(zip(_PAGERANK, arguments, strict=False)), **options}
        return given.get("nstart") is None and given.get("dangling") is None and given.get("alpha", _ALPHA) < 1
    graph = arguments[0] if arguments else options["G"]
    return bool(graph.is_directed()) and graph.number_of_edges() > 0


def pagerank(  # networkx gives all arguments by position
    G: BackendGraph,  # noqa: N803
    alpha: float = _ALPHA,
    personalization: Mapping[Hashable, float] | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: None = None,  # noqa: ARG001 - can_run refuses others
    weight: str | None = "weight",  # noqa: ARG001 - the graph has been converted with it
    dangling: None = None,  # noqa: ARG001 - can_run refuses others
) -> dict[Hashable, float]:
    """Return the PageRank of each node; the arguments are those of `networkx.pagerank`.

    Raises
    ------
    networkx.PowerIterationFailedConvergence
        If the tolerance is not reached.
    DataError, UsageError
        As `gpuasm.ranking.power_iteration.power_iteration`.
    """
    teleport = None
    if personalization is not None:
        teleport = np.array([personalization.get(node, 0.0) for node in G.nodes], np.float64)
    try:
        found = power_iteration(
            G.graph, weights=G.weights, teleport=teleport, reset=1 - alpha, tolerance=tol * max(len(G.nodes), 1),
            max_iterations=max_iter,
        )  # fmt: skip
    except ConvergenceError as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error
    return dict(zip(G.nodes, found.ranks.tolist(), strict=True))


def eulerian_circuit(
    G: BackendGraph,  # noqa: N803 - networkx's name
    source: Hashable | None = None,
    keys: bool = False,  # noqa: FBT001, FBT002 - networkx's signature
) -> Iterator[tuple[Hashable, ...]]:
    """Return the edges of an Euler circuit; the arguments are those of `networkx.eulerian_circuit`.

    Raises
    ------
    networkx.NetworkXError
        If there is none: vertices are not balanced, or not all of one component.
    """
    try:
        tour = find_euler_tour(G.graph)
    except DataError as error:
        raise nx.NetworkXError(_NOT_EULERIAN) from error
    if tour.n != 1 or not (G.graph.out_degree > 0).all():
        raise nx.NetworkXError(_NOT_EULERIAN)
    if source is not None:
        tour = tour.starting_at(G.graph, G.nodes.index(source))
    steps = [G.nodes[vertex] for vertex in tour.vertices(G.graph).tolist()]
    if keys and G.keys is not None:
        return zip(steps, steps[1:], (G.keys[edge] for edge in tour.edges.tolist()), strict=False)
    return itertools.pairwise(steps)
