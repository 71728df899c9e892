"""Union-find: a forest of parents, whose root of an element names its set (Tarjan 1975).

``parent`` is an array of integers; a root is its own parent. See doi:10.1145/321879.321884.
"""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import compiled, inlined, signatures


def least_of_components(n: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the least element of the component of each of n elements: (n,) int64.

    Elements ``a`` and ``b``, (m,) int32 each, are linked.
    """
    least = np.arange(n)
    _link(a, b, least)
    return least


@signatures("int32[::1], int32[::1], int64[::1]")
@compiled()
def _link(a, b, least):
    for i in range(a.size):
        one, other = root_of(least, a[i]), root_of(least, b[i])
        least[max(one, other)] = min(one, other)
    for element in range(least.size):
        least[element] = root_of(least, element)


@inlined()
def root_of(parent, element):
    """Return the root of an element and halve the path to it, in compiled loops."""
    while parent[element] != element:
        parent[element] = parent[parent[element]]
        element = parent[element]
    return element
