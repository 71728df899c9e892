"""Undirected graphs without loops and parallel edges, as compressed sparse rows with each edge in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.checks import array_of
from gpuasm.errors import DataError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.names import Label
from gpuasm.graph.rows import index_type, offsets_of, rows_of_slots, sums_of_rows
from gpuasm.primitives.counting import count_true
from gpuasm.primitives.runs import begins_run


class UndirectedGraph:
    """An undirected graph: no self-loops, no parallel edges, the neighbours of each vertex in rising order.

    Arrays are on the host or on a device and stay there; they must not be changed afterwards.

    Parameters
    ----------
    row_offsets : (n + 1,) int64
        Start of the neighbours of each vertex; the last entry is twice the number of edges.
    columns : (2 m,) int32, int64 where n is above 2^31 - 1
        The neighbours, rising in each row.
    weights : (2 m,) float64, optional
        The weight of the edge in each slot, the same in both of its slots; None: all are 1.
    names
        A name for each vertex, or None: then vertices are called by their numbers.
    """

    def __init__(
        self,
        row_offsets: Array,
        columns: Array,
        *,
        weights: Array | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        array_of(row_offsets, "row offsets (n + 1,)", "iu", (None,))
        array_of(columns, "neighbours (2 m,)", "iu", (None,))
        if weights is not None:
            array_of(weights, "weights (2 m,)", "iuf", (int(columns.size),))
        self.row_offsets, self.columns, self.weights, self.names = row_offsets, columns, weights, names

    @property
    def n_vertices(self) -> int:
        return int(self.row_offsets.size) - 1

    @property
    def n_edges(self) -> int:
        return int(self.columns.size) // 2

    @cached_property
    def degree(self) -> Array:
        """Neighbours of each vertex, (n,) int64."""
        return self.row_offsets[1:] - self.row_offsets[:-1]

    @cached_property
    def strength(self) -> Array:
        """Weight of the edges of each vertex, (n,) float64, summed in the order of the row."""
        if self.weights is None:
            return self.degree.astype(np.float64)
        return sums_of_rows(self.row_offsets, self.weights)

    def label_of(self, number: int) -> Label:
        """Return the name of a vertex, or its number in a graph without names."""
        return int(number) if self.names is None else self.names[int(number)]

    def moved_to(self, xp: Any) -> UndirectedGraph:
        """Return the graph with its arrays where namespace ``xp`` keeps them; itself, if they are there."""
        if array_namespace(self.columns) is xp:
            return self
        weights = None if self.weights is None else to_namespace(xp, self.weights)
        return UndirectedGraph(
            to_namespace(xp, self.row_offsets), to_namespace(xp, self.columns), weights=weights, names=self.names
        )

    def induced(self, vertices: Array) -> UndirectedGraph:
        """Return the subgraph of some vertices, (s,) integers in rising order: they are numbered 0 to s - 1.

        It has no names: its vertex i is ``vertices[i]`` of this graph.
        """
        xp, n = array_namespace(self.columns), int(vertices.size)
        number = xp.full(self.n_vertices, -1, index_type(n))
        number[vertices] = xp.arange(n, dtype=number.dtype)
        offsets = xp.zeros(n + 1, np.int64)
        xp.cumsum(self.degree[vertices], out=offsets[1:])
        row = rows_of_slots(offsets, int(offsets[-1]))
        slot = (self.row_offsets[vertices] - offsets[:-1])[row] + xp.arange(row.size)
        target = number[self.columns[slot]]
        kept = target >= 0
        weights = None if self.weights is None else self.weights[slot[kept]]
        return UndirectedGraph(offsets_of(row[kept], n), target[kept], weights=weights)


def undirected_graph(graph: DirectedGraph, weights: Array | None = None) -> UndirectedGraph:
    """Return the undirected graph of a directed one: each pair of joined vertices once, self-loops left out.

    Weights of parallel edges and of the two directions are summed. If the weights are symmetric, as in a symmetric
    matrix, an edge and its reverse are one edge instead.

    Parameters
    ----------
    graph
        On the host or on a device.
    weights : (m,) numbers, optional
        The weight of each edge of ``graph``, where its arrays are.

    Raises
    ------
    DataError
        If there are not as many weights as edges, or sums of them are not finite.
    """
    xp, n = array_namespace(graph.columns), graph.n_vertices
    if weights is not None:
        array_of(weights, f"a weight for each of {graph.n_edges} edges", "iuf", (graph.n_edges,))
    source, target = (ends.astype(np.int64) for ends in graph.edges())
    forward, back = source * n + target, target * n + source
    proper = source != target
    del source, target
    if weights is None:
        keys = xp.concatenate([forward[proper], back[proper]])
        del forward, back, proper
        keys.sort()
        keys = keys[begins_run(keys)]
        return _of_keys(keys, None, n=n, names=graph.names)
    values = weights.astype(np.float64, copy=False)[proper]
    ahead, reverse = (_summed(keys[proper], values) for keys in (forward, back))
    if all(map(_equal, ahead, reverse)):
        return _of_keys(*ahead, n=n, names=graph.names)
    keys, values = (xp.concatenate(parts) for parts in zip(ahead, reverse, strict=True))
    return _of_keys(*_summed(keys, values), n=n, names=graph.names)


def _equal(first: Array, second: Array) -> bool:
    return first.shape == second.shape and not count_true(first != second)


def _summed(keys: Array, values: Array) -> tuple[Array, Array]:
    """Return the distinct keys, rising, and the sum of the values of each, added in the order they had."""
    xp = array_namespace(keys)
    order = xp.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    starts = xp.flatnonzero(begins_run(keys))
    bounds = xp.concatenate([starts.astype(np.int64), xp.asarray([keys.size], np.int64)])
    sums = sums_of_rows(bounds, values)
    if not bool(xp.isfinite(sums).all()):
        raise DataError(
            "weights of parallel and reverse edges with finite sums", "larger ones", "divide all weights by one number"
        )
    return keys[starts], sums


def _of_keys(keys: Array, values: Array | None, *, n: int, names: Sequence[str] | None) -> UndirectedGraph:
    """Make a graph of distinct rising keys, row * n + column."""
    xp = array_namespace(keys)
    offsets = xp.searchsorted(keys, xp.arange(n + 1, dtype=np.int64) * n).astype(np.int64, copy=False)
    return UndirectedGraph(offsets, (keys % max(n, 1)).astype(index_type(n)), weights=values, names=names)
