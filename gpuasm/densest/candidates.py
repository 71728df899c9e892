"""Candidates for the densest subgraph of k vertices, and the choice among them."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import array_namespace, to_host
from gpuasm.densest.adjacency import Adjacency
from gpuasm.densest.batch_peeling import peel_in_batches
from gpuasm.densest.bounds import degree_bound, load_bound, scaled_vectors, spectral_bound
from gpuasm.densest.local_search import improve, weights_within
from gpuasm.densest.options import SearchOptions
from gpuasm.densest.peeling import peel
from gpuasm.densest.power_method import power_support
from gpuasm.densest.selection import top_k
from gpuasm.densest.spectrum import Spectrum, largest_eigenpairs
from gpuasm.densest.supports import SupportFunction, search_sphere
from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.parallel import ordered_map
from gpuasm.sequence.randomness import random_units, stream_key


class CandidateSearch:
    """Supports of k vertices found in several ways, and bounds that fell off on the way.

    Attributes
    ----------
    supports
        (b, k) int64 arrays of vertices by kind; each kind's own answer comes first.
    bounds
        On the average degree, by kind.
    baselines
        The weight within the own answer of each kind that is a method by itself.
    spectrum
        None before `find_eigenpairs`.
    pool
        The subgraph on the host in which candidates are weighed and improved: all of it, or of a large graph the
        candidates and a dense core.
    numbers : (p,) int64
        The vertices of the pool.
    """

    pool: UndirectedGraph
    numbers: np.ndarray

    def __init__(self, adjacency: Adjacency, k: int, options: SearchOptions) -> None:
        self._adjacency, self._graph, self._k, self._options = adjacency, adjacency.graph, k, options
        self.supports: dict[str, np.ndarray] = {}
        self.bounds: dict[str, float] = {}
        self.baselines: dict[str, float] = {}
        self.spectrum: Spectrum | None = None

    def by_degree(self) -> None:
        """Take the vertices of greatest degree."""
        self.supports["degree"] = to_host(top_k(self._graph.strength[None], self._k))
        self.bounds["degrees"] = degree_bound(self._graph, self._k)

    def find_eigenpairs(self) -> Spectrum:
        """Compute the eigenvectors that `by_rank` needs."""
        options = self._options
        self.spectrum = largest_eigenpairs(
            self._adjacency,
            options.rank,
            seed=options.seed,
            tolerance=options.tolerance,
            max_products=options.max_products,
        )
        return self.spectrum

    def by_rank(self) -> None:
        """Take the supports met in the search of the low-rank form, each once."""
        spectrum, k = self.spectrum, self._k
        assert spectrum is not None
        self.bounds["eigenvalues"], searches = spectral_bound(spectrum, k)
        found = [search.corners for search in searches]
        if spectrum.rank > 2:
            points = scaled_vectors(spectrum, spectrum.rank, float(spectrum.values[-1]))
            directions = random_directions(spectrum.rank, self._options.directions, seed=self._options.seed)
            found += search_sphere(SupportFunction(points, k), directions)
        self.supports["rank"] = np.unique(np.concatenate([corners.supports for corners in found]), axis=0)

    def by_power(self) -> None:
        """Take the support that the truncated power method ends with."""
        self.supports["power"] = to_host(power_support(self._adjacency, self._k))[None]

    def by_peeling(self) -> None:
        """Take what peeling leaves; of a large graph after peeling in batches down to a core."""
        k, options = self._k, self._options
        self._make_pool()
        rounds = options.rounds if options.method == "rank" else 1
        rounds = max(1, min(rounds, options.whole_slots // max(1, self.pool.columns.size)))
        peeling = peel(self.pool, rounds=rounds)
        self.supports["peel"] = self.numbers[np.array(peeling.left(k))]
        if self.pool.n_vertices == self._graph.n_vertices:
            self.bounds["peeling"] = 2 * float(peeling.load_bounds[k - 1]) / k

    def _make_pool(self) -> None:
        graph, options = self._graph, self._options
        if graph.columns.size <= options.whole_slots:
            self.pool, self.numbers = graph.moved_to(np), np.arange(graph.n_vertices)
            return
        peeled = peel_in_batches(self._adjacency, stop=max(options.core_vertices, 4 * self._k))
        self.bounds["peeling"] = load_bound(peeled.loads, self._k)
        own = [support.ravel() for support in self.supports.values()]
        self.numbers = np.unique(np.concatenate([to_host(peeled.core), *own]))
        self.pool = graph.induced(array_namespace(graph.columns).asarray(self.numbers)).moved_to(np)

    def best(self) -> tuple[np.ndarray, str]:
        """Return the best support after improvement, as vertices of the pool, and the kind it came from."""
        supports = {name: np.searchsorted(self.numbers, own) for name, own in self.supports.items()}
        weights = {name: weights_within(self.pool, own) for name, own in supports.items()}
        self.baselines |= {name: float(own[0]) for name, own in weights.items() if name != "rank"}
        method = self._options.method
        if method != "rank":
            return supports[method][0], method
        candidates = np.concatenate(list(supports.values()))
        kinds = np.repeat(list(supports), [len(own) for own in supports.values()])
        order = np.argsort(-np.concatenate(list(weights.values())), kind="stable")
        # The best of each kind is improved in any case: they lie apart, while the best of all may be much alike.
        tops = [int(order[np.flatnonzero(kinds[order] == name)[0]]) for name in supports]
        chosen = list(dict.fromkeys([*tops, *order[: self._options.starts].tolist()]))
        improved = self._improved(candidates[chosen])
        heaviest = weights_within(self.pool, improved)
        # Of equals the one whose members come first, so that the order of the candidates does not matter.
        top = min(np.flatnonzero(heaviest == heaviest.max()).tolist(), key=lambda i: improved[i].tolist())
        return improved[top], str(kinds[chosen[top]])

    def _improved(self, supports: np.ndarray) -> np.ndarray:
        patience = self._options.patience
        return np.array(list(ordered_map(lambda own: improve(self.pool, own, patience=patience), supports)), np.int64)


def random_directions(d: int, n: int, *, seed: int) -> np.ndarray:
    """Return unit vectors: the axes both ways and n random ones, (2 d + n, d)."""
    units = random_units(stream_key(seed, "directions"), 0, 2 * n * d).reshape(2, n, d)
    normal = np.sqrt(-2 * np.log1p(-units[0])) * np.cos(2 * np.pi * units[1])
    normal = np.concatenate([np.eye(d), -np.eye(d), normal])
    return normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
