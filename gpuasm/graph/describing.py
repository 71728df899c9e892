"""What there is to say about a graph in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpuasm.arrays import array_namespace
from gpuasm.graph.components import number_components

if TYPE_CHECKING:
    from gpuasm.graph.directed_graph import DirectedGraph


def describe(graph: DirectedGraph) -> dict[str, Any]:
    """Return counts, degrees, components and what Euler says, by name, in the order to print them."""
    xp, n = array_namespace(graph.columns), graph.n_vertices
    source, target = graph.edges()
    component, n_components = number_components(graph.components())
    with_edges = graph.out_degree + graph.in_degree > 0
    sizes = xp.bincount(component, minlength=1) if n else xp.zeros(1, int)
    check = graph.euler_check()
    return {
        "vertices": n,
        "edges": graph.n_edges,
        "mean_degree": graph.n_edges / n if n else 0.0,
        "most_edges_out": int(graph.out_degree.max()) if n else 0,
        "most_edges_in": int(graph.in_degree.max()) if n else 0,
        "self_loops": int((source == target).sum()),
        "vertices_without_edges": n - int(with_edges.sum()),
        "weak_components": n_components,
        "largest_component": int(sizes.max()),
        "euler_circuits": check.has_circuits,
        "euler_path": check.has_path,
        "path_from": None if check.start is None else graph.label_of(check.start),
        "path_to": None if check.end is None else graph.label_of(check.end),
        "why_no_circuits": check.reason or None,
    }
