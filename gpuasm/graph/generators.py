"""Eulerian graphs for tests and benchmarks: few long, many short or very many circuits, de Bruijn, random.

All random numbers are hashes of a seed and a position, so a seed gives the same graph on the CPU and on CUDA.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.checks import whole
from gpuasm.errors import UsageError
from gpuasm.graph.building import from_edges
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.names import StringNames
from gpuasm.graph.random_graphs import GRAPH500, random_eulerian, random_permutation, random_regular, rmat, shuffled
from gpuasm.graph.rows import index_type
from gpuasm.parallel import compiled, for_each
from gpuasm.primitives.randomness import below, random_bits, stream_key

__all__ = [
    "GRAPH500",
    "de_bruijn_graph",
    "deep_eulerian",
    "many_circuits",
    "random_eulerian",
    "random_permutation",
    "random_regular",
    "rmat",
    "shallow_eulerian",
    "shuffled",
]

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def deep_eulerian(n: int, k: int, *, path: bool = False, seed: int = 0, xp: Any = np) -> DirectedGraph:
    """Generate an Eulerian graph whose circuits are few and long.

    Each vertex has equally many incoming and outgoing edges, 1 to k with equal probability. Vertex i is joined to the
    next vertices i + 1, i + 2, ... (modulo n) that still lack an incoming edge.

    Parameters
    ----------
    n
        Vertices.
    k
        Most edges out of a vertex, at least 1.
    path
        Omit the last edge between different vertices: the rest has an Euler path and no circuit.
    seed
        Seed of the degrees.
    xp
        Array namespace of the result, numpy or cupy; the sequential generation runs on the CPU.
    """
    whole(n, "vertices", most=_MOST)
    whole(k, "edges", most=_MOST)
    _check(n >= 1 and k >= 1, "at least one vertex and one edge out of it", f"{n} and {k}")
    degrees = np.empty(n, np.int64)
    _draw_degrees(n, degrees, stream_key(seed, "deep"), k)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(degrees)])
    columns = np.empty(int(offsets[-1]), index_type(n))
    _take_next(offsets, degrees, np.arange(n, dtype=index_type(n)), columns)
    if path:
        offsets, columns = _without_last_proper_edge(offsets, columns)
    return DirectedGraph(offsets, columns).moved_to(xp)


def shallow_eulerian(n: int, m: int, *, seed: int = 0, xp: Any = np) -> DirectedGraph:
    """Generate an Eulerian graph whose circuits are many and short: tens of thousands in a graph of millions of edges.

    It starts as 0 <-> 1; each further vertex i brings the edges a -> i, i -> b and b -> a with a, b < i at random;
    then pairs x -> y, y -> x of any two vertices are added until there are m edges. It is connected.

    Parameters
    ----------
    n
        Vertices, at least 2.
    m
        Edges, at least 3 n - 4 and even where 3 n is.
    seed, xp
        Seed, and the array namespace of the graph.
    """
    whole(n, "vertices", most=_MOST)
    whole(m, "edges", most=_MOST)
    least = 3 * n - 4
    _check(n >= 2, "at least 2 vertices", str(n))
    _check(m >= least and (m - least) % 2 == 0, f"{least} edges, {least + 2}, {least + 4}, ...", str(m))
    source, target = xp.empty(m, index_type(n)), xp.empty(m, index_type(n))
    source[:2], target[:2] = xp.arange(2), 1 - xp.arange(2)
    _grow(n - 2, source, target, stream_key(seed, "shallow"))
    _add_pairs((m - least) // 2, source, target, stream_key(seed, "pairs"), least, n)
    return from_edges(source, target, n)


def many_circuits(n: int, *, seed: int = 0, xp: Any = np) -> DirectedGraph:
    """Generate an Eulerian graph of 3 n / 4 circuits if edges are paired first in, first out.

    A quarter of the vertices, the hubs, form a ring; each other vertex is a leaf with an edge to and an edge from a
    hub drawn at random. Paired first in, first out, the ring is one circuit and each leaf has its own; paired at
    random, there is still about one circuit to seven edges. It is connected.

    Parameters
    ----------
    n
        Vertices, at least 4; 10,485,760 give 18,350,080 edges and 7,864,321 circuits.
    seed, xp
        Seed, and the array namespace of the graph.
    """
    whole(n, "vertices", most=_MOST)
    _check(n >= 4, "at least 4 vertices", str(n))
    hubs = n // 4
    hub = xp.arange(hubs)
    leaf = xp.arange(hubs, n)
    home = xp.empty(n - hubs, np.int64)
    _draw_below(n - hubs, home, stream_key(seed, "leaves"), hubs)
    source, target = xp.concatenate([hub, home, leaf]), xp.concatenate([(hub + 1) % hubs, leaf, home])
    return from_edges(source, target, n)


def de_bruijn_graph(alphabet: str | int, order: int, *, xp: Any = np) -> DirectedGraph:
    """Make the graph whose edges are the strings of one length: edge e is string e in the order of the alphabet.

    Vertices are the strings of one letter less; an edge leads from its prefix to its suffix.

    Parameters
    ----------
    alphabet
        Its letters, all different, or how many there are: then they are digits, and above 10 letters.
    order
        Letters of a string, at least 1.
    xp
        Array namespace of the graph.
    """
    letters = _LETTERS[:alphabet] if isinstance(alphabet, int) else alphabet
    size = len(alphabet) if isinstance(alphabet, str) else whole(alphabet, "letters", most=_MOST)
    whole(order, "order", most=_MOST_ORDER)
    _check(size >= 1 and len(set(letters)) == len(letters), "distinct letters", repr(alphabet))
    _check(order >= 1, "strings of at least one letter", str(order))
    n = size ** (order - 1)
    _check(n * size < 2**40, "fewer than 2^40 strings", f"{size}^{order}")
    string = xp.arange(n * size, dtype=index_type(n * size))
    columns = (string % n).astype(index_type(n), copy=False)
    names = StringNames(letters, order - 1) if len(letters) == size else None
    return DirectedGraph(xp.arange(n + 1, dtype=np.int64) * size, columns, names)


_MOST, _MOST_ORDER = 1 << 48, 1 << 12


def _check(holds: bool, expected: str, found: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not holds:
        raise UsageError(expected, found, "change the numbers of the generator")


def _without_last_proper_edge(offsets: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    for source in range(offsets.size - 2, -1, -1):
        for slot in range(int(offsets[source + 1]) - 1, int(offsets[source]) - 1, -1):
            if columns[slot] != source:
                offsets[source + 1 :] -= 1
                return offsets, np.delete(columns, slot)
    raise UsageError("an edge between different vertices", "only self-loops", "ask for more vertices")


@for_each
def _draw_degrees(i, degrees, key, k):
    degrees[i] = 1 + below(random_bits(key, np.uint64(i)), k)


@for_each
def _draw_below(i, values, key, n):
    values[i] = below(random_bits(key, np.uint64(i)), n)


@compiled()
def _take_next(offsets, room, next_open, columns):
    """Assign each vertex its targets; ``next_open`` points from a full vertex towards the next one with room."""
    n = room.size
    for vertex in range(n):
        at = vertex
        for slot in range(offsets[vertex], offsets[vertex + 1]):
            at += 1
            if at == n:
                at = 0
            while next_open[at] != at:
                next_open[at] = next_open[next_open[at]]
                at = next_open[at]
            columns[slot] = at
            room[at] -= 1
            if room[at] == 0:
                next_open[at] = at + 1 if at + 1 < n else 0


@for_each
def _grow(step, source, target, key):
    i = step + 2
    a = below(random_bits(key, np.uint64(2 * step)), i)
    b = below(random_bits(key, np.uint64(2 * step + 1)), i)
    edge = 2 + 3 * step
    source[edge], target[edge] = a, i
    source[edge + 1], target[edge + 1] = i, b
    source[edge + 2], target[edge + 2] = b, a


@for_each
def _add_pairs(pair, source, target, key, first, n):
    x = below(random_bits(key, np.uint64(2 * pair)), n)
    y = below(random_bits(key, np.uint64(2 * pair + 1)), n)
    edge = first + 2 * pair
    source[edge], target[edge] = x, y
    source[edge + 1], target[edge + 1] = y, x
