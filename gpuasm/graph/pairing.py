"""Pair each incoming edge of a vertex with an outgoing one, in graphs whose degrees balance.

A stable sort by target puts the incoming edges of vertex v at the positions that v's outgoing edges have in the rows
of the graph, as there are equally many. So the sort is the pairing: edge i follows the edge at position i. This is
*first in, first out*. *Mixed* rotates each vertex's positions by a hash of the vertex, which leaves far fewer circuits
to join in regular graphs, such as de Bruijn graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import for_each, inlined
from gpuasm.primitives.hashing import mix
from gpuasm.primitives.stable_order import stable_order

if TYPE_CHECKING:
    from gpuasm.graph.directed_graph import DirectedGraph

PairingName = Literal["mixed", "fifo"]
PAIRINGS = get_args(PairingName)


@dataclass(frozen=True)
class Pairing:
    """A complete pairing of the edges of a graph.

    Attributes
    ----------
    successor : (m,) int32 or int64
        The edge that follows each edge.
    order : (m,) int32 or int64
        Edges sorted by target.
    key : uint64
        Key of the rotations; 0 for first in, first out.
    """

    successor: Array
    order: Array
    key: Any


def pair_edges(graph: DirectedGraph, *, pairing: PairingName, seed: int) -> Pairing:
    """Pair every edge of a balanced graph with an edge that leaves its target.

    Parameters
    ----------
    graph
        Every vertex has as many incoming as outgoing edges.
    pairing
        "fifo" or "mixed".
    seed
        Seed of the mixed pairing.
    """
    order = stable_order(graph.columns, graph.n_vertices)
    key = np.uint64(0) if pairing == "fifo" else np.uint64(2 * seed + 1)
    successor = array_namespace(order).empty(order.size, np.int32 if order.size < 1 << 31 else np.int64)
    _pair(order.size, order, graph.columns, graph.row_offsets, key, successor)
    return Pairing(successor, order, key)


@inlined()
def _rotation(vertex, degree, key):
    """Return by how many positions the edges of a vertex are rotated."""
    if key == np.uint64(0) or degree < 2:
        return np.int64(0)
    return np.int64((mix(np.uint64(vertex) * np.uint64(0x9E3779B97F4A7C15) + key) >> np.uint64(1)) % np.uint64(degree))


@for_each
def _pair(i, order, columns, row_offsets, key, successor):
    edge = np.int64(order[i])
    vertex = np.int64(columns[edge])
    first = row_offsets[vertex]
    degree = row_offsets[vertex + 1] - first
    place = i - first + _rotation(vertex, degree, key)
    successor[edge] = first + (place - degree if place >= degree else place)


def exchange(graph: DirectedGraph, paired: Pairing, links: Array) -> None:
    """Exchange the predecessors of edges i and i + 1, for all links i at once.

    Adjacent links form a run of slots: all its exchanges together rotate their predecessors by one place.

    Parameters
    ----------
    graph, paired
        The graph and its pairing, whose successors change.
    links : (k,) int64, ascending
        Slots whose next slot belongs to the same vertex.
    """
    places = (paired.order, graph.columns, graph.row_offsets, paired.key)
    _exchange(links.size, links, links.size, *places, paired.successor)


@for_each
def _exchange(i, links, n_links, order, columns, row_offsets, key, successor):
    link = np.int64(links[i])
    successor[_before(link + 1, order, columns, row_offsets, key)] = link
    if i > 0 and links[i - 1] == link - 1:
        return
    # The first of a run; its last is the last link whose number and position in the list rise together.
    low, high = i, np.int64(n_links)
    while high - low > 1:
        middle = (low + high) >> 1
        if links[middle] - link == middle - i:
            low = middle
        else:
            high = middle
    successor[_before(link, order, columns, row_offsets, key)] = np.int64(links[low]) + 1


@inlined()
def _before(edge, order, columns, row_offsets, key):
    """Return the initial predecessor of an edge, before any exchange."""
    vertex = np.int64(columns[order[edge]])
    first = row_offsets[vertex]
    degree = row_offsets[vertex + 1] - first
    place = edge - first - _rotation(vertex, degree, key)
    return np.int64(order[first + (place + degree if place < 0 else place)])
