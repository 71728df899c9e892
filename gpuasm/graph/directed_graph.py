"""Directed graphs: compressed sparse rows with their components, spanning forest, Euler check and drawing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.errors import UsageError
from gpuasm.graph.balance import EulerCheck, check_balance
from gpuasm.graph.components import number_components, spanning_edges, weak_components
from gpuasm.graph.csr_graph import CsrGraph
from gpuasm.graph.names import Label, short_list
from gpuasm.graph.rows import group_by
from gpuasm.primitives.counting import count_values

if TYPE_CHECKING:
    from gpuasm.graph.drawing import Drawing, DrawingOptions

_SHOWN_VERTICES, _SHOWN_TARGETS = 8, 12


class DirectedGraph(CsrGraph):
    """A directed graph; self-loops and several edges between the same vertices are allowed.

    See `CsrGraph` for its parameters.
    """

    def induced(self, vertices: Iterable[Label] | Array) -> DirectedGraph:
        """Return the subgraph of some vertices and all edges between them.

        Parameters
        ----------
        vertices
            Names or numbers, each once; they are renumbered in this order. The names are kept; the vertices of a
            graph without names are called by their old numbers.
        """
        xp, n = array_namespace(self.columns), self.n_vertices
        chosen = np.asarray([self.number_of(v) for v in vertices], np.int64)
        if np.unique(chosen).size != chosen.size:
            raise UsageError("each vertex once", "one of them twice", "leave the second out")
        new_number = xp.full(n, -1, self.columns.dtype)
        new_number[xp.asarray(chosen)] = xp.arange(chosen.size, dtype=self.columns.dtype)
        source, target = self.edges()
        source, target = new_number[source], new_number[target]
        kept = (source >= 0) & (target >= 0)
        offsets, columns = group_by(source[kept], target[kept], chosen.size)
        return DirectedGraph(offsets, columns, [str(self.label_of(int(v))) for v in chosen])

    # Connectivity

    def components(self) -> Array:
        """Return the least vertex of the weakly connected component of each vertex, (n,) int64. It is kept."""
        return self._components

    @cached_property
    def _components(self) -> Array:
        return weak_components(self)

    def is_connected(self) -> bool:
        """Return whether all vertices are in one weakly connected component."""
        return bool((self.components() == 0).all())

    def spanning_edges(self) -> Array:
        """Return the numbers of the edges of a spanning forest, directions ignored; see `components`."""
        return spanning_edges(self)

    def is_eulerian(self, *, path: bool = False) -> bool:
        """Return whether each component has an Euler circuit, or with ``path`` one a path; see `euler_check`."""
        check = self.euler_check()
        return check.has_circuits or (path and check.has_path)

    def euler_check(self) -> EulerCheck:
        """Return whether there are Euler circuits or a path, and why not."""
        return check_balance(self)

    # Comparison and print

    def __eq__(self, other: object) -> bool:
        """Return whether the vertices have the same names and each the same edges, in any order."""
        if not isinstance(other, DirectedGraph):
            return NotImplemented
        if (self.n_vertices, self.n_edges) != (other.n_vertices, other.n_edges):
            return False
        mine, theirs = self.moved_to(np), other.moved_to(np)
        if mine.names == theirs.names:
            numbers = None
        else:
            try:
                numbers = np.array([mine.number_of(str(theirs.label_of(i))) for i in range(len(theirs))], np.int64)
            except UsageError:
                return False
        return all(map(np.array_equal, _sorted_edges(mine, None), _sorted_edges(theirs, numbers)))

    def __hash__(self) -> int:
        degrees = np.sort(to_host(self.out_degree))
        return hash((self.n_vertices, self.n_edges, degrees.tobytes()))

    def __repr__(self) -> str:
        lines = [f"DirectedGraph: {self.n_vertices:,} vertices, {self.n_edges:,} edges"]
        for number in range(min(self.n_vertices, _SHOWN_VERTICES)):
            first, last = (int(x) for x in self.row_offsets[number : number + 2])
            shown = to_host(self.columns[first : min(last, first + _SHOWN_TARGETS + 1)])
            targets = short_list((self.label_of(v) for v in shown), _SHOWN_TARGETS)
            lines.append(f"  {self.label_of(number)} -> {targets}".rstrip())
        return "\n".join([*lines, "  ..."] if self.n_vertices > _SHOWN_VERTICES else lines)

    def draw(self, options: DrawingOptions | None = None, **changes: Any) -> Drawing:
        """Draw the graph; the result shows itself in a notebook. The options are those of `DrawingOptions`."""
        from gpuasm.graph.drawing import draw_graph  # noqa: PLC0415 - graphviz only for those who draw

        return draw_graph(self, options, **changes)


def describe(graph: DirectedGraph) -> dict[str, Any]:
    """Return counts, degrees, components and the Euler check by name, in the order in which they are printed."""
    n = graph.n_vertices
    source, target = graph.edges()
    component, n_components = number_components(graph.components())
    with_edges = graph.out_degree + graph.in_degree > 0
    sizes = count_values(component, max(1, n_components))
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


def _sorted_edges(graph: DirectedGraph, numbers: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    source, target = graph.edges()
    if numbers is not None:
        source, target = numbers[source], numbers[target]
    order = np.lexsort((target, source))
    return source[order], target[order]
