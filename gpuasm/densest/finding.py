"""The densest subgraph of k vertices: candidates of several kinds, improved, with a bound on what could be."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np

from gpuasm.arrays import is_on_device
from gpuasm.densest.adjacency import Adjacency
from gpuasm.densest.candidates import CandidateSearch
from gpuasm.densest.checks import check_graph
from gpuasm.densest.host_loops import load_host_loops
from gpuasm.densest.local_search import weights_within
from gpuasm.densest.options import SearchOptions
from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.parallel import meanwhile
from gpuasm.stages import NoStages, Stages


@dataclass(frozen=True)
class DenseSubgraph:
    """A dense subgraph of k vertices.

    Attributes
    ----------
    vertices : (k,) int64
        Rising.
    weight
        Of the edges within; their number, if they have no weights.
    start
        What kind of candidate it came from.
    bounds
        Bounds on the average degree of any k vertices, by kind.
    baselines
        The weight within the support of each other method, as that method gives it.
    eigenvalues : (d + 1,) float64
        Empty where none were needed.
    """

    vertices: np.ndarray
    weight: float
    start: str
    bounds: dict[str, float] = field(default_factory=dict)
    baselines: dict[str, float] = field(default_factory=dict)
    eigenvalues: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def k(self) -> int:
        return int(self.vertices.size)

    @property
    def average_degree(self) -> float:
        """Twice the edge weight by vertex."""
        return 2 * self.weight / max(1, self.k)

    @property
    def density(self) -> float:
        """Edge weight by pair of vertices: 1 for a clique without weights."""
        return 2 * self.weight / max(1, self.k * (self.k - 1))

    @property
    def bound(self) -> float:
        """What the average degree of no k vertices exceeds: the least of the bounds."""
        return min(self.bounds.values())


def densest_subgraph(
    graph: UndirectedGraph, k: int, options: SearchOptions | None = None, *, stages: Stages | NoStages | None = None
) -> DenseSubgraph:
    """Find k vertices with as much edge weight among them as can be found, and a bound on how much there can be.

    The candidates are the supports over which the low-rank form of the adjacency matrix is longest (Papailiopoulos et
    al. 2014, PMLR 32(2), 1890-1898), what peeling leaves, the end of the truncated power method and the greatest
    degrees. They are weighed by the edges within; the best are improved by exchanges of vertices, and the best of all
    is returned. So it is at least as dense as each of ``baselines``.

    The improvement runs on the host in whole numbers where there are no weights. Host and device then give the same
    members as long as their eigenvectors lead to the same candidates; that is not certain where scores nearly tie.

    Parameters
    ----------
    graph
        On the host or a device.
    k
        From 2 to n.
    options
        As `SearchOptions` has them, if None.
    stages
        Where to report.

    Raises
    ------
    DataError
        If there are no edges or fewer than k vertices, or a weight is negative.
    ConvergenceError
        If eigenvectors do not converge.
    """
    options, stages = options or SearchOptions(), stages or NoStages()
    check_graph(graph, k)
    search = CandidateSearch(Adjacency(graph), k, options)
    with meanwhile(lambda: load_host_loops(graph)) if is_on_device(graph.columns) else nullcontext():
        vertices, start = _searched(search, options, stages)
    weight = float(weights_within(search.pool, vertices[None])[0])
    values = search.spectrum.values if search.spectrum else np.empty(0)
    return DenseSubgraph(search.numbers[vertices], weight, start, search.bounds, search.baselines, values)


def _searched(search: CandidateSearch, options: SearchOptions, stages: Stages | NoStages) -> tuple[np.ndarray, str]:
    """Find candidates, improve them, and return the best as vertices of the pool, and the kind it came from."""
    search.by_degree()
    if options.method == "rank":
        with stages.stage("eigenvectors", rank=options.rank) as stage:
            stage.note(products=search.find_eigenpairs().products)
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
