"""Union-find for compiled loops: a forest of parents, whose root of an element names its set (Tarjan 1975).

``parent`` is an array of integers; a root is its own parent. See doi:10.1145/321879.321884.
"""

from __future__ import annotations

from gpuasm.parallel import inlined


@inlined()
def root_of(parent, element):
    """Return the root of an element and halve the path to it."""
    while parent[element] != element:
        parent[element] = parent[parent[element]]
        element = parent[element]
    return element
