"""Find candidates for the densest subgraph of k vertices, and choose among them."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import array_namespace, to_host
from gpuasm.densest.adjacency import Adjacency
from gpuasm.densest.batch_peeling import peel_in_batches
from gpuasm.densest.bounds import degree_bound, load_bound, scaled_vectors, spectral_bound
from gpuasm.densest.inputs import SearchOptions
from gpuasm.densest.local_search import improve, weights_within
from gpuasm.densest.peeling import peel
from gpuasm.densest.power_method import power_support
from gpuasm.densest.selection import top_k
from gpuasm.densest.spectrum import Spectrum, largest_eigenpairs
from gpuasm.densest.supports import SupportFunction, search_sphere
from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.primitives.randomness import random_units, stream_key
from gpuasm.threads import ordered_map


class CandidateSearch:
    """Supports of k vertices by several methods, with the bounds that these methods yield.

    Attributes
    ----------
    supports
        (b, k) int64 arrays of vertices by kind; the main result of each kind comes first.
    bounds
        Bounds of the average degree, by kind.
    baselines
        The weight within the main result of each kind that is a method by itself.
    spectrum
        None before `find_eigenpairs`.
    pool
        The subgraph on the host in which candidates are improved: the candidates and a dense core.
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
        """Add the vertices of greatest degree."""
        self.supports["degree"] = to_host(top_k(self._graph.strength[None], self._k))
        self.bounds["degrees"] = degree_bound(self._graph, self._k)

    def find_eigenpairs(self) -> Spectrum:
        """Compute the eigenvectors for `by_rank`."""
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
        """Add the supports found in the search of the low-rank form, each once."""
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
        """Add the result of the truncated power method."""
        self.supports["power"] = to_host(power_support(self._adjacency, self._k))[None]

    def by_peeling(self) -> None:
        """Add the last vertices of peeling; peel a large graph in batches down to a core first. Make the pool."""
        if self._graph.columns.size <= self._options.whole_slots:
            self._peel_all()
        else:
            self._peel_core()

    def _peel_all(self) -> None:
        graph = self._graph.moved_to(np)
        peeling = peel(graph, rounds=self._rounds(graph))
        self.supports["peel"] = np.array(peeling.left(self._k))
        self.bounds["peeling"] = 2 * float(peeling.load_bounds[self._k - 1]) / self._k
        core = np.concatenate(peeling.left(min(self._core_size, graph.n_vertices)))
        self.numbers = self._with_candidates(core)
        self.pool = graph if self.numbers.size == graph.n_vertices else graph.induced(self.numbers)

    def _peel_core(self) -> None:
        graph = self._graph
        peeled = peel_in_batches(self._adjacency, stop=self._core_size)
        core = to_host(peeled.core)
        self.numbers = self._with_candidates(core)
        self.pool = graph.induced(array_namespace(graph.columns).asarray(self.numbers)).moved_to(np)
        inner = self.pool.induced(np.searchsorted(self.numbers, core))
        peeling = peel(inner, rounds=self._rounds(inner))
        self.supports["peel"] = core[np.array(peeling.left(self._k))]
        # Edges within the core are assigned again; all others were assigned to the end removed first.
        loads = to_host(peeled.loads)
        loads[core] = peeling.loads
        self.bounds["peeling"] = load_bound(loads, self._k)

    @property
    def _core_size(self) -> int:
        return max(self._options.core_vertices, 4 * self._k)

    def _rounds(self, graph: UndirectedGraph) -> int:
        rounds = self._options.rounds if self._options.method == "rank" else 1
        return max(1, min(rounds, self._options.whole_slots // max(1, graph.columns.size)))

    def _with_candidates(self, core: np.ndarray) -> np.ndarray:
        return np.unique(np.concatenate([core, *(support.ravel() for support in self.supports.values())]))

    def best(self) -> tuple[np.ndarray, str]:
        """Return the best support after improvement, as vertices of the pool, and its kind."""
        supports = {name: np.searchsorted(self.numbers, own) for name, own in self.supports.items()}
        weights = {name: weights_within(self.pool, own) for name, own in supports.items()}
        self.baselines |= {name: float(own[0]) for name, own in weights.items() if name != "rank"}
        method = self._options.method
        if method != "rank":
            return supports[method][0], method
        candidates = np.concatenate(list(supports.values()))
        kinds = np.repeat(list(supports), [len(own) for own in supports.values()])
        order = np.argsort(-np.concatenate(list(weights.values())), kind="stable")
        # The best of each kind is always improved: they differ, while the best of all may be nearly alike.
        tops = [int(order[np.flatnonzero(kinds[order] == name)[0]]) for name in supports]
        chosen = list(dict.fromkeys([*tops, *order[: self._options.starts].tolist()]))
        improved = self._improved(candidates[chosen])
        heaviest = weights_within(self.pool, improved)
        # Of equals the lexicographically first, so that the order of the candidates does not matter.
        top = min(np.flatnonzero(heaviest == heaviest.max()).tolist(), key=lambda i: improved[i].tolist())
        return improved[top], str(kinds[chosen[top]])

    def _improved(self, supports: np.ndarray) -> np.ndarray:
        patience = self._options.patience
        return np.array(list(ordered_map(lambda own: improve(self.pool, own, patience=patience), supports)), np.int64)


def random_directions(d: int, n: int, *, seed: int) -> np.ndarray:
    """Return unit vectors: the axes in both directions and n random ones, (2 d + n, d)."""
    units = random_units(stream_key(seed, "directions"), 0, 2 * n * d).reshape(2, n, d)
    normal = np.sqrt(-2 * np.log1p(-units[0])) * np.cos(2 * np.pi * units[1])
    normal = np.concatenate([np.eye(d), -np.eye(d), normal])
    return normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
