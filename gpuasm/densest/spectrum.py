"""The largest eigenvalues of a graph and their vectors, with an error bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, sparse_linear_algebra, to_host, to_namespace
from gpuasm.densest.adjacency import Adjacency
from gpuasm.errors import ConvergenceError
from gpuasm.parallel import for_each
from gpuasm.primitives.counting import count_true
from gpuasm.primitives.randomness import random_bits, stream_key, unit_interval

_DENSE = 256
"""Graphs of at most so many vertices are solved as dense matrices."""
_WORST = 1e-2
"""A residual above this share of the largest eigenvalue means no convergence."""
_POWER_STEPS = 6
_MOST_CELLS = 2**31 - 1
"""The basis of the device's solver is addressed by 32 bits."""


@dataclass(frozen=True)
class Spectrum:
    """The d largest eigenvalues of a symmetric matrix with their vectors, and the next eigenvalue.

    Largest by value, not by size: see `gpuasm.densest.bounds` for why.

    Attributes
    ----------
    values : (d + 1,) float64
        Descending; on the host.
    vectors : (n, d) float64
        Orthonormal columns; the first entry of largest size of each is positive.
    error
        Upper bound of the spectral norm of ``A V - V diag(values)``, including the residual of the last pair.
    products
        Number of products of the matrix with a vector.
    """

    values: np.ndarray
    vectors: Array
    error: float
    products: int

    @property
    def rank(self) -> int:
        return int(self.vectors.shape[1])


def largest_eigenpairs(
    adjacency: Adjacency, rank: int, *, seed: int = 0, tolerance: float = 1e-6, max_products: int = 2000
) -> Spectrum:
    """Return the largest eigenvalues and vectors of a graph: ARPACK on the host, thick-restart Lanczos on a device.

    The first vector is a hash of the seed, so runs are reproducible; vectors agree between devices within the limits of
    the tolerance and of the gaps between the eigenvalues.

    Parameters
    ----------
    adjacency
        Of a graph of at least two vertices.
    rank
        Number of vectors; at most n - 1.
    tolerance
        The largest residual, as a share of the eigenvalue.
    max_products
        Greatest number of products with the matrix.

    Raises
    ------
    ConvergenceError
        If they do not converge.
    """
    rank = min(rank, adjacency.n - 1)
    before = adjacency.products
    if adjacency.n <= max(_DENSE, 4 * (rank + 1)):
        vectors = _dense(adjacency, rank + 1)
    else:
        vectors = _krylov(adjacency, rank + 1, stream_key(seed, "eigenvectors"), (tolerance, max_products))
    xp = array_namespace(vectors)
    vectors = _orthonormal(vectors, xp)
    images = [adjacency @ vectors[:, i] for i in range(rank + 1)]
    values = np.array([float(vectors[:, i] @ images[i]) for i in range(rank + 1)])
    residuals = [float(xp.linalg.norm(images[i] - values[i] * vectors[:, i])) for i in range(rank + 1)]
    error = float(np.linalg.norm(residuals)) + 1e-12 * abs(values).max()
    if not np.isfinite(error) or error > _WORST * abs(values).max():
        raise _not_converged(f"residual {error:.3g} for eigenvalue {values.max():.3g}")
    order = np.argsort(-values, kind="stable")
    kept = vectors[:, xp.asarray(order[:rank])]
    return Spectrum(values[order], kept * _signs(kept, xp), error, adjacency.products - before)


def _dense(adjacency: Adjacency, count: int) -> Array:
    """Return the vectors of the largest eigenvalues of the dense matrix, computed on the host."""
    graph = adjacency.graph.moved_to(np)
    matrix = np.zeros((adjacency.n, adjacency.n))
    rows = np.repeat(np.arange(adjacency.n), graph.degree)
    matrix[rows, graph.columns] = 1.0 if graph.weights is None else graph.weights
    vectors = np.linalg.eigh(matrix)[1][:, ::-1][:, :count]
    return to_namespace(array_namespace(adjacency.graph.columns), np.ascontiguousarray(vectors))


def _krylov(adjacency: Adjacency, count: int, key: np.uint64, limits: tuple[float, int]) -> Array:
    """Return the vectors of the largest eigenvalues of the matrix, scaled so that the first of them is about 1."""
    xp, n, (tolerance, max_products) = array_namespace(adjacency.graph.columns), adjacency.n, limits
    linalg = sparse_linear_algebra(xp)
    start = xp.empty(n, np.float64)
    _start(n, key, start)
    for _ in range(_POWER_STEPS):
        image = adjacency @ start
        norm = float(xp.linalg.norm(image))
        if norm == 0.0:
            break
        start = start / xp.linalg.norm(start) + image / norm  # A + I does not oscillate if A is bipartite
    size = float(xp.linalg.norm(adjacency @ start) / xp.linalg.norm(start)) or 1.0
    operator = linalg.LinearOperator((n, n), matvec=lambda x: (adjacency @ x.ravel()) / size, dtype=np.float64)
    n_basis = min(n - 1, max(20, 3 * count))
    if xp is np:
        options: dict[str, Any] = {
            "ncv": n_basis,
            "maxiter": max(1, max_products // (n_basis - count)),
            "tol": tolerance,
        }
        try:
            return linalg.eigsh(operator, count, which="LA", v0=start, **options)[1]
        except linalg.ArpackNoConvergence as error:
            raise _not_converged(f"{len(error.eigenvalues)} of {count} after {max_products}") from error
    n_basis = max(count + 2, min(n_basis, _MOST_CELLS // n))
    vectors = linalg.eigsh(operator, count, which="LA", v0=start, ncv=n_basis, maxiter=max_products, tol=tolerance)[1]
    if not count_true(~xp.isfinite(vectors)):
        return vectors
    # An invariant subspace ends Lanczos' recurrence; ARPACK restarts in another one.
    return to_namespace(xp, _krylov(Adjacency(adjacency.graph.moved_to(np)), count, key, limits))


def _not_converged(found: str) -> ConvergenceError:
    return ConvergenceError("eigenvectors that converge", found, "allow more products, lower the rank, or peel instead")


def _orthonormal(vectors: Array, xp: Any) -> Array:
    """Return the columns made orthonormal by Gram and Schmidt, twice."""
    result = xp.array(vectors, np.float64, order="F")
    for i in [*range(result.shape[1])] * 2:
        column = result[:, i]
        for j in range(i):
            column = column - (result[:, j] @ column) * result[:, j]
        result[:, i] = column / xp.linalg.norm(column)
    return result


def _signs(vectors: Array, xp: Any) -> Array:
    largest = xp.abs(vectors).argmax(axis=0)
    return xp.asarray(np.where(to_host(vectors[largest, xp.arange(largest.size)]) < 0, -1.0, 1.0))


@for_each
def _start(i, key, vector):
    vector[i] = 0.5 + unit_interval(random_bits(key, np.uint64(i)))
