"""Directed graphs in compressed sparse rows: storage, degrees, edges, and vertices by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.checks import array_of
from gpuasm.errors import DataError, UsageError
from gpuasm.graph.names import Label, StringNames, number_names, short_list
from gpuasm.graph.rows import group_by, index_type, offsets_of, rows_of_slots

_MOST_DIGITS = 18  # of the number of a vertex


class CsrGraph:
    """The rows of a `DirectedGraph`: edge e is slot e, and its target is ``columns[e]``.

    Arrays are on the host or on a device and stay there. They must not be changed afterwards: derived arrays are kept.

    Parameters
    ----------
    row_offsets : (n + 1,) int64
        Start of the edges of each vertex; the last entry is the number of edges.
    columns : (m,) int32, int64 where n is above 2^31 - 1
        The target of each edge.
    names
        A name for each vertex, or None: then vertices are called by their numbers.

    Raises
    ------
    DataError
        If the arrays are no integers, offsets fall or do not go from 0 to the number of edges, a column is no vertex,
        or the number of names does not fit.
    """

    def __init__(self, row_offsets: Array, columns: Array, names: Sequence[str] | None = None) -> None:
        array_of(row_offsets, "row offsets (n + 1,)", "iu", (None,))
        array_of(columns, "columns (m,)", "iu", (None,))
        array_namespace(row_offsets, columns)  # refuses a mixture of host and device
        _check_rows(row_offsets, columns)
        n = int(row_offsets.size) - 1
        if names is not None and len(names) != n:
            raise DataError(f"a name for each of {n} vertices", f"{len(names)} names", "give as many names as vertices")
        self.row_offsets = row_offsets.astype(np.int64, copy=False)
        self.columns = columns.astype(index_type(n), copy=False)
        self.names = names if names is None or isinstance(names, (tuple, StringNames)) else tuple(names)

    @classmethod
    def from_csr(cls, row_offsets: Array, columns: Array, names: Sequence[str] | None = None) -> Self:
        """Make a graph of CSR arrays, or of sequences of numbers.

        Raises
        ------
        DataError
            As the class.
        """
        xp = array_namespace(row_offsets, columns)
        return cls(xp.asarray(row_offsets), xp.asarray(columns), names)

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

    def reverse(self) -> Self:
        """Return the graph with all edges reversed; edges into a vertex keep their order. The result is cached."""
        return self._reversed

    @cached_property
    def _reversed(self) -> Self:
        source, target = self.edges()
        offsets, columns = group_by(target, source, self.n_vertices)
        return type(self)(offsets, columns, self.names)

    def moved_to(self, xp: Any) -> Self:
        """Return the graph with its arrays where namespace ``xp`` keeps them; itself, if they are there."""
        if array_namespace(self.columns) is xp:
            return self
        return type(self)(to_namespace(xp, self.row_offsets), to_namespace(xp, self.columns), self.names)

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
        block = 1 << 16  # copies many rows at once from a device
        for first in range(0, self.n_vertices, block):
            offsets = to_host(self.row_offsets[first : first + block + 1])
            columns = to_host(self.columns[int(offsets[0]) : int(offsets[-1])]).tolist()
            bounds = (offsets - offsets[0]).tolist()
            for i in range(len(bounds) - 1):
                yield self.label_of(first + i), [self.label_of(v) for v in columns[bounds[i] : bounds[i + 1]]]

    def _index(self, name: str) -> int:
        """Return the number of a name, -1 if there is none."""
        if self.names is None:
            return int(name) if name.isascii() and name.isdigit() and len(name) <= _MOST_DIGITS else -1
        if isinstance(self.names, StringNames):
            return self.names.index(name) if name in self.names else -1
        return self._numbers.get(name, -1)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return number_names(self.names or ())

    def _some_labels(self) -> str:
        return short_list((self.label_of(i) for i in range(min(self.n_vertices, 6))), 5) or "none: it has no vertices"


def _check_rows(row_offsets: Array, columns: Array) -> None:
    n = int(row_offsets.size) - 1
    if n < 0 or (
        int(row_offsets[0]) != 0
        or int(row_offsets[-1]) != columns.size
        or bool((row_offsets[1:] < row_offsets[:-1]).any())
    ):
        raise DataError(f"row offsets that rise from 0 to {columns.size}", "others", "count the edges of each row anew")
    if columns.size and (int(columns.min()) < 0 or int(columns.max()) >= n):
        found = f"{int(columns.min())} to {int(columns.max())}"
        raise DataError(f"columns from 0 to {n - 1}", found, "check the vertex numbers")
