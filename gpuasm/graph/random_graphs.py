"""Random graphs: R-MAT, regular, Eulerian with several components, and the vertices of a graph shuffled."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.checks import instance, real, whole
from gpuasm.errors import UsageError
from gpuasm.graph.building import from_edges
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.rows import index_type
from gpuasm.parallel import for_each
from gpuasm.primitives.randomness import below, random_bits, stream_key

GRAPH500 = (0.57, 0.19, 0.19)
"""Probabilities of the upper left, upper right and lower left quarter in the Graph500 benchmark."""

_MOST = 1 << 48


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    chances: tuple[float, float, float] = GRAPH500,
    seed: int = 0,
    xp: Any = np,
) -> DirectedGraph:
    """Generate an R-MAT graph, whose degrees follow a power law (Chakrabarti 2004, doi:10.1137/1.9781611972740.43).

    Vertices are not shuffled, so the early ones have the high degrees; edges may repeat, and self-loops occur.

    Parameters
    ----------
    scale
        There are 2^scale vertices.
    edge_factor
        Edges for each vertex.
    chances
        Probabilities of the upper left, upper right and lower left quarter of the adjacency matrix, at every level.
    seed, xp
        Seed, and the array namespace of the graph.
    """
    whole(scale, "scale", least=1, most=40)
    n_edges = whole(edge_factor, "edge_factor", most=1 << 20) << scale
    source, target = rmat_edges(scale, n_edges, chances=chances, seed=seed, xp=xp)
    return from_edges(source, target, 1 << scale)


def rmat_edges(
    scale: int,
    m: int,
    *,
    chances: tuple[float, float, float] = GRAPH500,
    seed: int = 0,
    xp: Any = np,
) -> tuple[Array, Array]:
    """Return source and target of m edges of an R-MAT graph of 2^scale vertices, in random order; see `rmat`."""
    whole(scale, "scale", least=1, most=40)
    whole(m, "edges", most=1 << 48)
    if not isinstance(chances, (tuple, list)):
        raise UsageError("three chances", repr(chances), "give a tuple")
    if len(chances) != len(GRAPH500):
        raise UsageError("three chances", str(len(chances)), "leave the last one out, which follows")
    a, b, c = (real(chance, "chances", least=0, most=1) for chance in chances)
    if not (0 < scale <= 40 and m >= 0 and min(a, b, c) >= 0 and a + b + c <= 1):
        raise UsageError(
            "a scale of 1 to 40 and chances that sum up to at most 1", f"{scale} and {chances}", "change them"
        )
    kind = index_type(1 << scale)
    source, target = xp.empty(m, kind), xp.empty(m, kind)
    bounds = [np.uint64(min(int(share * 2.0**64), 2**64 - 1)) for share in (a, a + b, a + b + c)]
    _descend(m, source, target, stream_key(seed, "rmat"), scale, *bounds)
    return source, target


def random_regular(n: int, d: int, *, seed: int = 0, xp: Any = np) -> DirectedGraph:
    """Generate a graph with d edges out of and d into each vertex: the union of d random permutations.

    It has Euler circuits; self-loops and repeated edges occur, by chance about d and d^2 / 2 of them.
    """
    whole(n, "vertices", least=1, most=_MOST)
    whole(d, "edges of each", most=_MOST)
    columns = xp.empty((n, d), index_type(n))
    for j in range(d):
        columns[:, j] = random_permutation(n, seed=seed, name=j, xp=xp)
    return DirectedGraph(xp.arange(n + 1, dtype=np.int64) * d, columns.ravel())


def random_eulerian(
    n: int, m: int, *, components: int = 1, path: bool = False, seed: int = 0, xp: Any = np
) -> DirectedGraph:
    """Generate an Eulerian graph with self-loops and repeated edges: a random closed walk in each component.

    Parameters
    ----------
    n, m
        Vertices and edges; both are divided among the components as evenly as possible. Vertices that no walk visits
        have no edges.
    components
        Closed walks that share no vertex.
    path
        Leave the first walk open: without the edge from its last vertex back to its first, so m - 1 edges are left.
    seed, xp
        Seed, and the array namespace of the graph.
    """
    for number, what in ((n, "vertices"), (m, "edges"), (components, "components")):
        whole(number, what, most=_MOST)
    if components < 1 or n < components or m < 0 or (path and min(n, m) < 2 * components):
        raise UsageError(
            "a vertex and an edge for each component, two if there is a path",
            f"{n} and {m} for {components}",
            "ask for fewer components",
        )
    position = xp.arange(m)
    part = position * components // max(m, 1)
    first_vertex = part * n // components
    width = (part + 1) * n // components - first_vertex
    walk = xp.empty(m, np.int64)
    _draw_within(m, walk, stream_key(seed, "walk"), first_vertex, width)
    following = xp.arange(1, m + 1)
    if m:
        is_last = xp.concatenate([part[1:] != part[:-1], xp.ones(1, dtype=bool)])
        ends = xp.flatnonzero(is_last)
        following[ends] = xp.concatenate([xp.zeros(1, ends.dtype), ends[:-1] + 1])
    kept = xp.ones(m, dtype=bool)
    if path:
        kept[ends[0]] = False
        if walk[ends[0]] == walk[0]:
            walk[ends[0]] = (walk[0] + 1) % width[0]  # else the open walk would be a circuit
    return from_edges(walk[kept], walk[following][kept], n)


def random_permutation(n: int, *, seed: int = 0, name: str | int = "order", xp: Any = np) -> Array:
    """Return the numbers 0 to n - 1 in a random order, (n,) int64, the same on every device."""
    bits = xp.empty(n, np.uint64)
    _draw_bits(n, bits, stream_key(seed, "permutation", name))
    return xp.argsort(bits, kind="stable").astype(np.int64, copy=False)


def shuffled(graph: DirectedGraph, *, seed: int = 0) -> DirectedGraph:
    """Return the graph with its vertices renumbered at random; the edges of a vertex keep their order."""
    instance(graph, DirectedGraph, "the graph")
    xp = array_namespace(graph.columns)
    n, m = graph.n_vertices, graph.n_edges
    old = random_permutation(n, seed=seed, xp=xp)
    new = xp.empty_like(old)
    new[old] = xp.arange(n)
    offsets = xp.zeros(n + 1, np.int64)
    xp.cumsum(graph.out_degree[old], out=offsets[1:])
    columns = xp.zeros(m, graph.columns.dtype)
    names = None if graph.names is None else [graph.names[v] for v in old.tolist()]
    result = DirectedGraph(offsets, columns, names)
    source, _ = result.edges()
    _renumber(m, source, offsets, graph.row_offsets, graph.columns, old, new, columns)
    return result


@for_each
def _descend(edge, source, target, key, scale, a, ab, abc):
    row = 0
    column = 0
    for level in range(scale):
        bits = random_bits(key, np.uint64(edge * scale + level))
        row = 2 * row + (1 if bits >= ab else 0)
        column = 2 * column + (1 if (bits >= a and bits < ab) or bits >= abc else 0)
    source[edge] = row
    target[edge] = column


@for_each
def _draw_within(i, values, key, first, width):
    values[i] = first[i] + below(random_bits(key, np.uint64(i)), width[i])


@for_each
def _draw_bits(i, bits, key):
    bits[i] = random_bits(key, np.uint64(i))


@for_each
def _renumber(edge, source, offsets, old_offsets, old_columns, old, new, columns):
    row = source[edge]
    columns[edge] = new[old_columns[old_offsets[old[row]] + edge - offsets[row]]]
