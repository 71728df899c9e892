"""Directed graphs as compressed sparse rows: edge e is slot e, and its target is ``columns[e]``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.errors import DataError, UsageError
from gpuasm.graph.names import WordNames, number_names, short_list
from gpuasm.graph.rows import group_by, index_type, offsets_of, rows_of_slots

if TYPE_CHECKING:
    from gpuasm.graph.balance import EulerCheck
    from gpuasm.graph.drawing import Drawing, DrawingOptions

Label = str | int
"""A vertex as users see it: its name, or its number in a graph without names."""

_SHOWN_VERTICES, _SHOWN_TARGETS = 8, 12


class DirectedGraph:
    """A directed graph; self-loops and several edges between the same vertices are allowed.

    Arrays are on the host or on a device and stay there. They must not be changed afterwards: what is derived from
    them is kept.

    Parameters
    ----------
    row_offsets : (n + 1,) int64
        Where the edges of each vertex begin; the last entry is the number of edges.
    columns : (m,) int32, int64 where n is above 2^31 - 1
        The vertex that each edge leads to.
    names
        A name for each vertex, or None: then vertices are called by their numbers.

    Raises
    ------
    DataError
        If the shapes or the number of names do not fit. The content is checked by `from_csr`.
    """

    def __init__(self, row_offsets: Array, columns: Array, names: Sequence[str] | None = None) -> None:
        if row_offsets.ndim != 1 or columns.ndim != 1 or row_offsets.size == 0:
            raise DataError(
                "row offsets (n + 1,) and columns (m,)",
                f"shapes {row_offsets.shape} and {columns.shape}",
                "give one-dimensional arrays",
            )
        array_namespace(row_offsets, columns)  # refuses a mixture of host and device
        n = int(row_offsets.size) - 1
        if names is not None and len(names) != n:
            raise DataError(f"a name for each of {n} vertices", f"{len(names)} names", "give as many names as vertices")
        self.row_offsets = row_offsets.astype(np.int64, copy=False)
        self.columns = columns.astype(index_type(n), copy=False)
        self.names = names if names is None or isinstance(names, (tuple, WordNames)) else tuple(names)

    @classmethod
    def from_csr(cls, row_offsets: Array, columns: Array, names: Sequence[str] | None = None) -> DirectedGraph:
        """Make a graph of CSR arrays of any integer type after a look at their content.

        Raises
        ------
        DataError
            If offsets fall, do not go from 0 to the number of edges, or a column is no vertex.
        """
        xp = array_namespace(row_offsets, columns)
        row_offsets, columns = xp.asarray(row_offsets), xp.asarray(columns)
        n = int(row_offsets.size) - 1
        if n >= 0 and (
            int(row_offsets[0]) != 0
            or int(row_offsets[-1]) != columns.size
            or bool((row_offsets[1:] < row_offsets[:-1]).any())
        ):
            raise DataError(
                f"row offsets that rise from 0 to {columns.size}", "others", "count the edges of each row anew"
            )
        if columns.size and (int(columns.min()) < 0 or int(columns.max()) >= n):
            raise DataError(
                f"columns from 0 to {n - 1}",
                f"{int(columns.min())} to {int(columns.max())}",
                "check the vertex numbers",
            )
        return cls(row_offsets, columns, names)

    # Counts and degrees

    @property
    def n_vertices(self) -> int:
        return int(self.row_offsets.size) - 1

    @property
    def n_edges(self) -> int:
        return int(self.columns.size)

    def __len__(self) -> int:
        return self.n_vertices

    @cached_property
    def out_degree(self) -> Array:
        """Edges that leave each vertex, (n,) int64."""
        return self.row_offsets[1:] - self.row_offsets[:-1]

    @cached_property
    def in_degree(self) -> Array:
        """Edges that enter each vertex, (n,) int64."""
        offsets = offsets_of(self.columns, self.n_vertices)
        return offsets[1:] - offsets[:-1]

    # Edges and derived graphs

    def edges(self) -> tuple[Array, Array]:
        """Return source and target of each edge, both (m,) of the type of ``columns``."""
        return rows_of_slots(self.row_offsets, self.n_edges), self.columns

    def reverse(self) -> DirectedGraph:
        """Return the graph with every edge turned round; edges into a vertex keep the order they had. It is kept."""
        return self._reversed

    @cached_property
    def _reversed(self) -> DirectedGraph:
        source, target = self.edges()
        offsets, columns = group_by(target, source, self.n_vertices)
        return DirectedGraph(offsets, columns, self.names)

    def induced(self, vertices: Iterable[Label] | Array) -> DirectedGraph:
        """Return the subgraph of some vertices and all edges between them.

        Parameters
        ----------
        vertices
            Names or numbers, each once; they are numbered anew in this order. The names are kept; the vertices of a
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

    def moved_to(self, xp: Any) -> DirectedGraph:
        """Return the graph with its arrays where namespace ``xp`` keeps them; itself, if they are there."""
        if array_namespace(self.columns) is xp:
            return self
        return DirectedGraph(to_namespace(xp, self.row_offsets), to_namespace(xp, self.columns), self.names)

    # Connectivity

    def components(self) -> Array:
        """Return the least vertex of the weakly connected component of each vertex, (n,) int64. It is kept."""
        return self._components

    @cached_property
    def _components(self) -> Array:
        from gpuasm.graph.components import weak_components  # noqa: PLC0415 - imports this module

        return weak_components(self)

    def is_connected(self) -> bool:
        """Tell whether all vertices are in one weakly connected component."""
        return bool((self.components() == 0).all())

    def spanning_edges(self) -> Array:
        """Return the numbers of the edges of a spanning forest, directions aside; see `spanning_tree`."""
        from gpuasm.graph.spanning_tree import spanning_edges  # noqa: PLC0415 - imports this module

        return spanning_edges(self)

    def is_eulerian(self, *, path: bool = False) -> bool:
        """Tell whether each component has an Euler circuit, or with ``path`` one of them a path; see `euler_check`."""
        check = self.euler_check()
        return check.has_circuits or (path and check.has_path)

    def euler_check(self) -> EulerCheck:
        """Return whether there are Euler circuits or a path, and why not."""
        from gpuasm.graph.balance import check_balance  # noqa: PLC0415 - imports this module

        return check_balance(self)

    # Vertices by name

    def label_of(self, number: int) -> Label:
        """Return the name of a vertex, or its number in a graph without names."""
        return int(number) if self.names is None else self.names[int(number)]

    def number_of(self, vertex: Any) -> int:
        """Return the number of a vertex given by name or by number.

        Raises
        ------
        UsageError
            If there is no such vertex.
        """
        number = self._index(vertex) if isinstance(vertex, str) else int(vertex)
        if not 0 <= number < self.n_vertices:
            raise UsageError("a vertex of the graph", repr(vertex), f"take one of {self._some_labels()}")
        return number

    def successors(self, vertex: Label) -> list[Label]:
        """Return the vertices that edges from this one lead to, in the order of the edges."""
        number = self.number_of(vertex)
        first, last = (int(x) for x in self.row_offsets[number : number + 2])
        return [self.label_of(v) for v in to_host(self.columns[first:last])]

    def predecessors(self, vertex: Label) -> list[Label]:
        """Return the vertices that edges to this one come from, in the order of the edges."""
        return self.reverse().successors(vertex)

    def neighbours(self, vertex: Label) -> list[Label]:
        """Return the vertices joined with this one by an edge in either direction, each once, in their order."""
        near = {self.number_of(v) for v in (*self.successors(vertex), *self.predecessors(vertex))}
        return [self.label_of(v) for v in sorted(near)]

    def named_edges(self, edges: Array | None = None) -> Iterator[tuple[Label, Label]]:
        """Yield source and target of the edges with these numbers, of all if None, by name."""
        source, target = self.edges()
        chosen = slice(None) if edges is None else edges
        for a, b in zip(to_host(source[chosen]).tolist(), to_host(target[chosen]).tolist(), strict=True):
            yield self.label_of(a), self.label_of(b)

    def __getitem__(self, vertex: Label) -> list[Label]:
        return self.successors(vertex)

    def __iter__(self) -> Iterator[tuple[Label, list[Label]]]:
        """Yield each vertex with the vertices that its edges lead to."""
        block = 1 << 16  # a device hands over many rows at once
        for first in range(0, self.n_vertices, block):
            offsets = to_host(self.row_offsets[first : first + block + 1])
            columns = to_host(self.columns[int(offsets[0]) : int(offsets[-1])]).tolist()
            bounds = (offsets - offsets[0]).tolist()
            for i in range(len(bounds) - 1):
                yield self.label_of(first + i), [self.label_of(v) for v in columns[bounds[i] : bounds[i + 1]]]

    def _index(self, name: str) -> int:
        """Return the number of a name, -1 if there is none."""
        if self.names is None:
            return int(name) if name.isascii() and name.isdigit() else -1
        if isinstance(self.names, WordNames):
            return self.names.index(name) if name in self.names else -1
        return self._numbers.get(name, -1)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return number_names(self.names or ())

    def _some_labels(self) -> str:
        return short_list((self.label_of(i) for i in range(min(self.n_vertices, 6))), 5) or "none: it has no vertices"

    # Comparison and print

    def __eq__(self, other: object) -> bool:
        """Tell whether the vertices have the same names and each the same edges, whatever their order."""
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


def _sorted_edges(graph: DirectedGraph, numbers: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    source, target = graph.edges()
    if numbers is not None:
        source, target = numbers[source], numbers[target]
    order = np.lexsort((target, source))
    return source[order], target[order]
