"""The truncated power method: replace a support by the k vertices with most weight to it, until it is stable.

Yuan and Zhang (2013), Journal of Machine Learning Research 14, 899-925: for the densest k-subgraph the vector has k
entries of 1. If a step does not raise the weight within, a multiple of the identity is added to the matrix. This does
not change the order of supports of size k; once the matrix has no negative eigenvalue, no step lowers the weight.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.checks import array_of, whole
from gpuasm.densest.adjacency import Adjacency
from gpuasm.densest.selection import top_k
from gpuasm.graph.values import checked_vertices
from gpuasm.primitives.counting import count_true


def power_support(adjacency: Adjacency, k: int, *, start: Array | None = None, max_steps: int = 100) -> Array:
    """Return the last support of the truncated power method, (k,) int64, ascending.

    Parameters
    ----------
    adjacency
        Of a graph of at least k vertices.
    k
        Vertices of the support.
    start : (k,) integers, optional
        The first support; None: the k vertices of greatest (weighted) degree.
    max_steps
        Greatest number of products with the matrix.
    """
    whole(k, "k", least=1, most=adjacency.n)
    whole(max_steps, "max_steps")
    if start is not None:
        start = checked_vertices(array_of(start, "the first support", "iu", (k,)), adjacency.n)
    xp = array_namespace(adjacency.graph.columns)
    support = top_k(adjacency.graph.strength[None], k)[0] if start is None else start
    image = adjacency @ _indicator(support, adjacency.n, xp)
    value, shift = float(image[support].sum()), 0.0
    for _ in range(max_steps):
        own = _indicator(support, adjacency.n, xp)
        following = top_k((image + shift * own)[None], k)[0]
        if not count_true(following != support):
            break
        next_image = adjacency @ _indicator(following, adjacency.n, xp)
        next_value = float(next_image[following].sum())
        if next_value > value:
            support, image, value = following, next_image, next_value
        else:
            shift = max(2 * shift, value / k / 4, 1e-300)
    return support


def _indicator(support: Array, n: int, xp):
    vector = xp.zeros(n, np.float64)
    vector[support] = 1.0
    return vector
