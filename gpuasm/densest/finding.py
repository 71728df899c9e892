"""The densest subgraph of k vertices: candidates of several kinds, improved by exchanges, with an upper bound."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass, field

import numpy as np

from gpuasm.arrays import is_on_device
from gpuasm.checks import instance
from gpuasm.densest.adjacency import Adjacency
from gpuasm.densest.candidates import CandidateSearch
from gpuasm.densest.inputs import SearchOptions, check_graph, without_eigenvectors
from gpuasm.densest.local_search import improve, weights_within
from gpuasm.densest.peeling import peel
from gpuasm.errors import ConvergenceError
from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.stages import NoStages, Stages
from gpuasm.threads import in_background


@dataclass(frozen=True)
class DenseSubgraph:
    """A dense subgraph of k vertices.

    Attributes
    ----------
    vertices : (k,) int64
        Ascending.
    weight
        Weight of the edges within; their number, if they have no weights.
    start
        Kind of its initial candidate.
    bounds
        Bounds on the average degree of any k vertices, by kind.
    baselines
        The weight within the unimproved support of each other method.
    eigenvalues : (d + 1,) float64
        Empty if not computed.
    note
        Why there are no candidates of eigenvectors though the method has them; else empty.
    """

    vertices: np.ndarray
    weight: float
    start: str
    bounds: dict[str, float] = field(default_factory=dict)
    baselines: dict[str, float] = field(default_factory=dict)
    eigenvalues: np.ndarray = field(default_factory=lambda: np.empty(0))
    note: str = ""

    @property
    def k(self) -> int:
        return int(self.vertices.size)

    @property
    def average_degree(self) -> float:
        """Twice the edge weight per vertex."""
        return 2 * self.weight / max(1, self.k)

    @property
    def density(self) -> float:
        """Edge weight per pair of vertices: 1 for a clique without weights."""
        return 2 * self.weight / max(1, self.k * (self.k - 1))

    @property
    def bound(self) -> float:
        """Upper bound of the average degree of any k vertices: the least of the bounds."""
        return min(self.bounds.values())


def densest_subgraph(
    graph: UndirectedGraph, k: int, options: SearchOptions | None = None, *, stages: Stages | NoStages | None = None
) -> DenseSubgraph:
    """Find k vertices with as much edge weight among them as possible, and an upper bound of that weight.

    The candidates are the supports that maximise the low-rank form of the adjacency matrix (Papailiopoulos et al. 2014,
    PMLR 32(2), 1890-1898), the last k vertices of peeling, the result of the truncated power method and the vertices of
    greatest degree. Those with most weight within are improved by exchanges of vertices, and the best is returned. So
    it is at least as dense as each of ``baselines``. Without eigenvectors that converge, the others are the candidates.

    Without weights the improvement uses integers on the host. Host and device then find the same vertices if their
    eigenvectors give the same candidates, which is not certain for nearly equal scores.

    Parameters
    ----------
    graph
        On the host or a device.
    k
        From 1 to n.
    options
        None: the defaults of `SearchOptions`.
    stages
        Record of the stages.

    Raises
    ------
    DataError
        If there are no edges or fewer than k vertices, or a weight is negative.
    """
    options, stages = SearchOptions() if options is None else options, stages or NoStages()
    instance(options, SearchOptions, "options")
    check_graph(graph, k)
    search = CandidateSearch(Adjacency(graph), k, options)
    with in_background(lambda: load_host_loops(graph)) if is_on_device(graph.columns) else nullcontext():
        vertices, start = _searched(search, options, stages)
    weight = float(weights_within(search.pool, vertices[None])[0])
    values = search.spectrum.values if search.spectrum else np.empty(0)
    note = "" if search.spectrum or options.method != "rank" else without_eigenvectors(options)
    return DenseSubgraph(search.numbers[vertices], weight, start, search.bounds, search.baselines, values, note)


def _searched(search: CandidateSearch, options: SearchOptions, stages: Stages | NoStages) -> tuple[np.ndarray, str]:
    """Find candidates, improve them, and return the best as vertices of the pool, and its kind."""
    search.by_degree()
    if options.method == "rank":
        with stages.stage("eigenvectors", rank=options.rank) as stage, suppress(ConvergenceError):
            stage.note(products=search.find_eigenpairs().products)
        if search.spectrum is not None:
            with stages.stage("candidates") as stage:
                search.by_rank()
                stage.note(candidates=len(search.supports["rank"]))
    if options.method in ("rank", "power"):
        with stages.stage("power method"):
            search.by_power()
    with stages.stage("peel") as stage:
        search.by_peeling()
        stage.note(pool=search.pool.n_vertices)
    with stages.stage("improve") as stage:
        vertices, start = search.best()
        stage.note(start=start)
    return vertices, start


def load_host_loops(graph: UndirectedGraph) -> None:
    """Compile the host loops of the improvement, or load them from the disk, by a run on two vertices.

    Their first compilation takes seconds, and overlaps with the work of the device.
    """
    columns = np.array([1, 0], graph.columns.dtype)
    weights = None if graph.weights is None else np.ones(2)
    pair = UndirectedGraph(np.arange(3), columns, weights=weights)
    pair = pair.induced(np.arange(2))
    peel(pair)
    weights_within(pair, np.arange(2)[None])
    improve(pair, np.arange(2))
