"""Spanning forest of the undirected shadow of a graph: the same edges on every device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuasm.arrays import Array, array_namespace
from gpuasm.primitives.spanning_forest import spanning_forest

if TYPE_CHECKING:
    from gpuasm.graph.directed_graph import DirectedGraph


def spanning_edges(graph: DirectedGraph) -> Array:
    """Return the numbers of the edges of a spanning forest, (n_vertices - components,) int64, ascending.

    It is the minimum forest where an edge weighs its number: an edge is in it where edges of less number do not yet
    join its ends. Directions do not matter.
    """
    xp = array_namespace(graph.columns)
    source, target = graph.edges()
    chosen = spanning_forest(source, target.copy(), graph.n_vertices)  # it may overwrite what it is given
    return xp.flatnonzero(chosen)
