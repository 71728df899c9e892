"""The densest block of a directed graph: k rows X and l columns Y with the most edges from X to Y.

With singular values s_i and vectors u_i, v_i of the adjacency matrix B, a_i = u_i . 1_X, b_i = v_i . 1_Y and
m = s_(d+1), the weight from X to Y is

    sum_i s_i a_i b_i <= sum_(i<=d) s_i a_i b_i + m sqrt(k - |a|^2) sqrt(l - |b|^2)
                      <= sum_(i<=d) (s_i - m) a_i b_i + m sqrt(k l),

the first by Cauchy and Schwarz, the second by Aczel: sqrt((k - |a|^2)(l - |b|^2)) <= sqrt(k l) - |a||b|. The last sum
is a bilinear form of a sum of rows of U sqrt(s - m) and one of rows of V sqrt(s - m): for each sum over X the best Y
has the l largest products with it, and the value is convex in the sum over X. So with d = 1 and 2 the largest is found
as in `gpuasm.densest.supports`. Singular pairs are eigenpairs of the graph that has a vertex for each row and one
for each column; an error e of those adds at most 4 e sqrt(k l), as in `gpuasm.densest.bounds`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.densest.adjacency import Adjacency
from gpuasm.densest.bounds import raised, scaled_vectors
from gpuasm.densest.candidates import random_directions
from gpuasm.densest.inputs import SearchOptions, check_block, without_eigenvectors
from gpuasm.densest.selection import top_k
from gpuasm.densest.spectrum import Spectrum, largest_eigenpairs
from gpuasm.densest.supports import SupportFunction, Value, search_line, search_plane, search_sphere
from gpuasm.errors import ConvergenceError
from gpuasm.graph.building import from_edges
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.undirected_graph import UndirectedGraph, undirected_graph
from gpuasm.stages import NoStages, Stages

_MOST_STEPS = 100


@dataclass(frozen=True)
class DenseBlock:
    """A block of rows and columns with many edges.

    Attributes
    ----------
    rows : (k,) int64
        Sources of the edges, ascending.
    columns : (l,) int64
        Targets of the edges, ascending; a vertex may be on both sides.
    weight
        Weight of the edges from rows to columns; parallel ones count once without weights.
    start
        Kind of its initial candidate.
    bounds
        Bounds on weight / sqrt(k l) of any block, by kind.
    baselines
        The weight of the blocks of single methods.
    singular_values : (d + 1,) float64
        Empty if singular vectors did not converge.
    note
        Why there are no candidates of singular vectors; else empty.
    """

    rows: np.ndarray
    columns: np.ndarray
    weight: float
    start: str
    bounds: dict[str, float] = field(default_factory=dict)
    baselines: dict[str, float] = field(default_factory=dict)
    singular_values: np.ndarray = field(default_factory=lambda: np.empty(0))
    note: str = ""

    @property
    def density(self) -> float:
        """Edge weight per pair of a row and a column."""
        return self.weight / max(1, self.rows.size * self.columns.size)

    @property
    def average_degree(self) -> float:
        """Edge weight divided by the root of rows times columns: of a symmetric block the average degree."""
        return self.weight / max(1, self.rows.size * self.columns.size) ** 0.5

    @property
    def bound(self) -> float:
        """Upper bound of the average degree of any block of this size."""
        return min(self.bounds.values())


def densest_block(
    graph: DirectedGraph,
    sizes: tuple[int, int],
    options: SearchOptions | None = None,
    *,
    weights: Array | None = None,
    stages: Stages | NoStages | None = None,
) -> DenseBlock:
    """Find k rows and l columns with as much edge weight from the rows to the columns as possible.

    Candidates are the supports of the rank-d form (Papailiopoulos et al. 2014) and the rows of greatest out-degree.
    From the best of them, rows and columns are alternately replaced by those with most weight to the other side, which
    never lowers the weight, until they are stable.

    Parameters
    ----------
    graph
        On the host or a device. Self-loops count: a vertex is a row and a column.
    sizes
        Numbers of rows and columns.
    options
        Only rank, directions, starts, seed and the limits of the eigensolver are used.
    weights : (m,) numbers, optional
        Weights of the edges; those of parallel edges are summed.
    stages
        Record of the stages.

    Raises
    ------
    DataError
        If there are no edges or too few vertices, or a weight is negative.
    """
    options, stages = options or SearchOptions(), stages or NoStages()
    check_block(graph, sizes, weights)
    n = graph.n_vertices
    source, target = (ends.astype(np.int64) for ends in graph.edges())
    sides = undirected_graph(from_edges(source, target + n, 2 * n), weights)
    adjacency = Adjacency(sides)
    spectrum = None
    with stages.stage("eigenvectors", rank=options.rank) as stage, suppress(ConvergenceError):
        spectrum = largest_eigenpairs(
            adjacency,
            min(options.rank, n),
            seed=options.seed,
            tolerance=options.tolerance,
            max_products=options.max_products,
        )
        stage.note(products=spectrum.products)
    bounds, rows = {"degrees": _degree_bound(sides, sizes)}, np.empty((0, sizes[0]), np.int64)
    if spectrum is not None:
        with stages.stage("candidates") as stage:
            bounds["eigenvalues"], rows = _low_rank_rows(spectrum, sizes, options)
            stage.note(candidates=len(rows))
    with stages.stage("improve") as stage:
        by_degree = to_host(top_k(sides.strength[None, :n], sizes[0]))
        found = [(*_alternate(adjacency, own, sizes), kind) for kind, own in _starts(rows, by_degree)]
        best = max(found, key=lambda one: one[0])
        stage.note(start=best[3])
    baselines = {"power": found[0][0]}
    values, note = (np.empty(0), without_eigenvectors(options)) if spectrum is None else (spectrum.values, "")
    return DenseBlock(best[1], best[2], best[0], best[3], bounds, baselines, values, note)


def _starts(rows: np.ndarray, by_degree: np.ndarray):
    yield "power", by_degree[0]
    for own in rows:
        yield "rank", own


def _degree_bound(sides: UndirectedGraph, sizes: tuple[int, int]) -> float:
    """Return a bound by degrees: a row has at most l edges into the block, a column at most k."""
    xp, n = array_namespace(sides.columns), sides.n_vertices // 2
    totals = []
    for side, k, other in ((slice(0, n), *sizes), (slice(n, 2 * n), *sizes[::-1])):
        strength = sides.strength[side]
        most = strength if sides.weights is not None else xp.minimum(strength, other)
        totals.append(float(most[top_k(most[None], k)[0]].sum()))
    return raised(min(totals) / (sizes[0] * sizes[1]) ** 0.5)


def _low_rank_rows(spectrum: Spectrum, sizes: tuple[int, int], options: SearchOptions) -> tuple[float, np.ndarray]:
    """Return the bound by singular values, and supports of rows, in descending order of their forms."""
    n, root = spectrum.vectors.shape[0] // 2, (sizes[0] * sizes[1]) ** 0.5
    floor = max(float(spectrum.values[-1]), 0.0)
    points = scaled_vectors(spectrum, spectrum.rank, floor) * 2**0.5  # of a pair each half has length 1 / sqrt(2)
    left, right = points[:n], points[n:]
    first, second = SupportFunction(left[:, :2], sizes[0]), SupportFunction(right[:, :2], sizes[1])
    search = search_line if spectrum.rank == 1 else search_plane
    plane = search(first, *_values(second))
    # Each further pair adds at most the largest product of its two sums alone.
    others = 0.0
    for i in range(2, spectrum.rank):
        ends = SupportFunction(right[:, i : i + 1], sizes[1])
        line = search_line(SupportFunction(left[:, i : i + 1], sizes[0]), *_values(ends))
        others += line.bound
    bound = min(float(spectrum.values[0]), (plane.bound + others) / root + floor) + 4 * spectrum.error
    supports, values = plane.corners.supports, _reached(second, plane.corners.sums)
    if spectrum.rank > 2:
        ends, firsts = SupportFunction(right, sizes[1]), SupportFunction(left, sizes[0])
        found = search_sphere(firsts, random_directions(spectrum.rank, options.directions, seed=options.seed))
        supports = np.concatenate([supports, *(corners.supports for corners in found)])
        values = np.concatenate([values, *(_reached(ends, corners.sums) for corners in found)])
    order = np.argsort(-values, kind="stable")
    _, where = np.unique(supports[order], axis=0, return_index=True)
    return raised(bound), supports[order][np.sort(where)[: options.starts]]


def _values(support: SupportFunction) -> tuple[Value, Value]:
    """Return the value of a sum over rows with the best columns, and a bound on it."""

    def reached(sums: np.ndarray) -> np.ndarray:
        return _reached(support, sums)

    def bound(sums: np.ndarray) -> np.ndarray:
        return support(sums).heights

    return reached, bound


def _reached(support: SupportFunction, sums: np.ndarray) -> np.ndarray:
    corners = support(sums)
    return (corners.sums * sums).sum(axis=1)


def _alternate(adjacency: Adjacency, rows: np.ndarray, sizes: tuple[int, int]) -> tuple[float, np.ndarray, np.ndarray]:
    """Replace columns and rows alternately by those with most weight; return the stable weight, rows and columns."""
    xp, n, weight = array_namespace(adjacency.graph.columns), adjacency.n // 2, -1.0
    rows = xp.asarray(rows)
    for _ in range(_MOST_STEPS):
        joined = _joined(adjacency, rows, xp)[n:]
        columns = top_k(joined[None], sizes[1])[0]
        joined = _joined(adjacency, n + columns, xp)[:n]
        following = top_k(joined[None], sizes[0])[0]
        reached = float(joined[following].sum())
        if reached <= weight:
            break
        rows, weight, kept = following, reached, columns
    return weight, to_host(rows), to_host(kept)


def _joined(adjacency: Adjacency, members: Array, xp) -> Array:
    vector = xp.zeros(adjacency.n, np.float64)
    vector[members] = 1.0
    return adjacency @ vector
