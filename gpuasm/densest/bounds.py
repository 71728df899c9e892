"""Upper bounds of the average degree 2 w(S) / k of any k vertices, each with its proof.

**By eigenvalues.** Let A have eigenvalues l_1 >= l_2 >= ... with orthonormal vectors v_i, x be the indicator of S,
|S| = k, and a_i = v_i . x, so that the a_i^2 sum to k. With m = l_(d+1), which may be negative,

    2 w(S) = x'Ax = sum_i l_i a_i^2 <= sum_(i<=d) l_i a_i^2 + m (k - sum_(i<=d) a_i^2)
           = sum_(i<=d) (l_i - m) a_i^2 + m k,

as no eigenvalue after the d-th is above m. The first sum has no negative terms: it is |sum of the rows of P in S|^2,
where P has the columns sqrt(l_i - m) v_i, so `gpuasm.densest.supports` maximises it directly. Papailiopoulos
et al. (2014, PMLR 32(2), 1890-1898) take the d eigenvalues of largest size and |l_(d+1)|, and need two supports where
some are negative. Taken by value and shifted by m they need one support, and the bound is no larger: with d vectors it
exceeds neither that with d - 1 nor l_1. Their a-posteriori bound opt_d + |l_(d+1)| k has l_i for l_i - m.

With d = 1 and 2 the largest first sum is found exactly. With d > 2 it is at most the largest for the first two columns
plus the largest of each other column alone, and never above (l_1 - m) k.

*Inexact vectors.* Let V be orthonormal with residual R = AV - V diag(l), |R| <= e. Split x = Va + z with z orthogonal
to V. Then x'Ax <= a'diag(l)a + e|a|^2 + 2 e|a||z| + m'|z|^2, where m' is the largest eigenvalue of A on the complement
of V: at most e above that of rank d + 1, which is at most e above its computed value. As |a|^2 + |z|^2 = k, this is at
most 4 e k more than with exact vectors. It is *not* proven that the eigensolver has missed no eigenvalue; its first
vector has a component along each eigenvector. Graphs of at most 256 vertices are solved completely.

**By degrees.** A vertex has at most min(degree, k - 1) edges within S; with weights, at most its strength and at most
k - 1 times its heaviest edge. The k largest of these sum to at least 2 w(S).

**By peeling.** See `gpuasm.densest.peeling`.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.densest.selection import top_k
from gpuasm.densest.spectrum import Spectrum
from gpuasm.densest.supports import Search, SupportFunction, search_line, search_plane, squared_length
from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.parallel import for_each

_ROUNDING = 1e-9


def scaled_vectors(spectrum: Spectrum, rank: int, floor: float) -> Array:
    """Return the first ``rank`` vectors, scaled by the root of its eigenvalue minus ``floor``, (n, rank)."""
    xp = array_namespace(spectrum.vectors)
    return spectrum.vectors[:, :rank] * xp.asarray(np.sqrt(np.maximum(spectrum.values[:rank] - floor, 0.0)))


def search_rank(points: Array, k: int) -> Search:
    """Return the supports with the longest sums for points of one or two columns, and the square of the longest."""
    support = SupportFunction(points, k)
    search = search_line if points.shape[1] == 1 else search_plane
    return search(support, squared_length, squared_length)


def spectral_bound(spectrum: Spectrum, k: int) -> tuple[float, list[Search]]:
    """Return a bound on the average degree of k vertices by eigenvalues, and the searches behind it."""
    values, rank = spectrum.values, spectrum.rank
    searches = []
    bound = float(values[0])
    for count in sorted({min(rank, 2), rank}):
        floor = float(values[count])
        plane = search_rank(scaled_vectors(spectrum, min(count, 2), floor), k)
        searches.append(plane)
        others = 0.0
        for i in range(2, count):
            column = scaled_vectors(spectrum, i + 1, floor)[:, i:]
            others += min(search_rank(column, k).bound, (float(values[i]) - floor) * k)
        bound = min(bound, (plane.bound + others) / k + floor)
    return raised(bound + 4 * spectrum.error), searches


def degree_bound(graph: UndirectedGraph, k: int) -> float:
    """Return a bound on the average degree of k vertices by their degrees."""
    xp = array_namespace(graph.columns)
    if graph.weights is None:
        most = xp.minimum(graph.degree, k - 1).astype(np.float64)
    else:
        heaviest = xp.zeros(graph.n_vertices, np.float64)
        _heaviest(graph.n_vertices, graph.row_offsets, graph.weights, heaviest)
        most = xp.minimum(graph.strength, (k - 1) * heaviest)
    total = float(most[top_k(most[None], k)[0]].sum())
    return total / k if graph.weights is None else raised(total / k)


def load_bound(loads: Array, k: int) -> float:
    """Return a bound on the average degree of k vertices by the loads of one round of peeling."""
    return raised(2 * float(loads[top_k(loads[None], k)[0]].sum()) / k)


def raised(bound: float) -> float:
    """Return a bound raised by the rounding error."""
    return float(bound + _ROUNDING * max(1.0, abs(bound)))


@for_each
def _heaviest(v, offsets, weights, heaviest):
    for slot in range(offsets[v], offsets[v + 1]):
        heaviest[v] = max(heaviest[v], weights[slot])
