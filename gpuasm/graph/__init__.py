"""Directed graphs: building, generating and drawing them, and Euler circuits."""

from __future__ import annotations

from gpuasm.graph.balance import EulerCheck
from gpuasm.graph.building import (
    from_edges,
    from_function,
    from_named_edges,
    from_networkx,
    from_scipy,
    from_strings,
    to_networkx,
    to_scipy,
    undirected,
)
from gpuasm.graph.directed_graph import DirectedGraph

__all__ = [
    "DirectedGraph",
    "EulerCheck",
    "from_edges",
    "from_function",
    "from_named_edges",
    "from_networkx",
    "from_scipy",
    "from_strings",
    "to_networkx",
    "to_scipy",
    "undirected",
]
