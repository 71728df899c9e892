"""Build graphs from edges, adjacency strings, functions, scipy matrices and networkx graphs."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.checks import instance, whole
from gpuasm.errors import DataError, UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.rows import group_by, index_type

ARROW = "->"
_DIMENSIONS = 2
_MOST_VERTEX = (1 << 63) - 2
_OTHER_ARROW = re.compile(r"[-<=]->|->>")


def from_edges(
    source: Array | Sequence[int],
    target: Array | Sequence[int],
    n: int | None = None,
    *,
    names: Sequence[str] | None = None,
) -> DirectedGraph:
    """Make a graph of edges between numbered vertices.

    A vertex keeps its number whether or not edges leave it; edges of one source keep their order.

    Parameters
    ----------
    source, target : (m,) integers, from 0 to n - 1
        Host or device arrays, or sequences of numbers.
    n
        Number of vertices; None: the greatest number plus one.
    names
        A name for each vertex.

    Raises
    ------
    DataError
        If a number is below 0 or not below n, or the two differ in length.
    """
    if n is not None:
        whole(n, "vertices")
    if names is not None and (isinstance(names, str) or not hasattr(names, "__len__")):
        raise DataError("a name for each vertex", f"a {type(names).__name__}", "give a list of texts")
    xp = array_namespace(source, target)
    source, target = _integers(source, xp), _integers(target, xp)
    if source.shape != target.shape:
        raise DataError(
            "as many sources as targets", f"{source.size} and {target.size}", "give both ends of every edge"
        )
    lowest, highest = 0, -1
    if source.size:
        lowest = min(int(source.min()), int(target.min()))
        highest = max(int(source.max()), int(target.max()))
    n = (highest + 1 if names is None else len(names)) if n is None else n
    if lowest < 0 or highest >= min(n, _MOST_VERTEX):
        raise DataError(f"vertices from 0 to {n - 1}", f"{lowest} to {highest}", "number the vertices from 0 on")
    kind = index_type(n)
    offsets, columns = group_by(source.astype(kind, copy=False), target.astype(kind, copy=False), n)
    return DirectedGraph(offsets, columns, names)


def from_named_edges(edges: Iterable[tuple[str, str]], *, vertices: Iterable[str] = ()) -> DirectedGraph:
    """Make a graph of edges between named vertices, numbered as they first occur.

    Parameters
    ----------
    edges
        Pairs of names.
    vertices
        Vertices to number first, or that have no edges.
    """
    try:
        numbers = {name: number for number, name in enumerate(dict.fromkeys(vertices))}
        ends = [numbers.setdefault(name, len(numbers)) for first, second in edges for name in (first, second)]
    except (TypeError, ValueError) as error:
        raise DataError("pairs of names", str(error), "give two texts for each edge") from error
    if not all(isinstance(name, str) for name in numbers):
        raise DataError("names as texts", "others", "make texts of them, or use from_edges with numbers")
    source, target = np.array(ends, np.int64).reshape(-1, 2).T
    return _without_needless_names(source, target, list(numbers))


def from_strings(lines: Iterable[str]) -> DirectedGraph:
    """Make a graph of adjacency strings, "a -> b, c": an edge from a to b and one from a to c.

    Lines with the same source are merged; "a" alone, or "a ->", is a vertex without edges; a repeated target is a
    parallel edge; empty lines and those that begin with # are skipped. Vertices are numbered as they first occur; if
    the names are exactly the numbers 0 to n - 1, they are the numbers, and the graph has no names.

    Raises
    ------
    DataError
        If a line has two arrows, or a name is missing.
    """
    try:
        numbered = enumerate(lines, start=1)
    except TypeError as error:
        raise DataError("lines of text", f"a {type(lines).__name__}", "give a list of texts") from error
    return from_numbered_strings(numbered)


def from_numbered_strings(lines: Iterable[tuple[int, str]]) -> DirectedGraph:
    """Make a graph of adjacency strings that come with the numbers of their lines; see `from_strings`."""
    edges: list[tuple[str, str]] = []
    vertices: dict[str, None] = {}
    for number, line in lines:
        parsed = parse_adjacency(line, number)
        if parsed is not None:
            source, targets = parsed
            vertices.update(dict.fromkeys([source, *targets]))
            edges.extend((source, target) for target in targets)
    return from_named_edges(edges, vertices=vertices)


def parse_adjacency(line: str, number: int) -> tuple[str, list[str]] | None:
    """Return source and targets of an adjacency line; None for an empty one or a comment.

    Raises
    ------
    DataError
        If the line has another form; with its number.
    """
    if not isinstance(line, str):
        raise DataError("lines of text", f"a {type(line).__name__}", "decode it first", place=f"line {number}")
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    source, *rest = (part.strip() for part in text.split(ARROW))
    if _OTHER_ARROW.search(text):
        raise DataError("the arrow '->'", _shown(text), "write it so, with blanks around", place=f"line {number}")
    targets = [name.strip() for name in rest[0].split(",")] if rest and rest[0] else []
    if len(rest) > 1 or not source or "," in source or "" in targets:
        raise DataError(
            "'vertex -> vertex, vertex, ...'",
            _shown(text),
            "write one source, one arrow and its targets with commas between them",
            place=f"line {number}",
        )
    return source, targets


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def from_function(successor: Array | Sequence[int]) -> DirectedGraph:
    """Make the graph of a function: an edge from each vertex i to ``successor[i]``; none where that is below 0."""
    xp = array_namespace(successor)
    successor = _integers(successor, xp)
    source = xp.flatnonzero(successor >= 0)
    return from_edges(source, successor[source], int(successor.size))


def from_scipy(matrix: Any) -> DirectedGraph:
    """Make a graph of a square scipy sparse matrix or array: an edge from i to j for each entry stored at (i, j).

    Values do not matter, stored zeros count as edges; entries stored twice in COO format are two edges.

    Raises
    ------
    UsageError
        If the matrix is not square.
    """
    if not all(hasattr(matrix, name) for name in ("format", "tocoo", "shape")) or len(matrix.shape) != _DIMENSIONS:
        raise DataError("a sparse matrix of scipy", f"a {type(matrix).__name__}", "make one first, as with csr_array")
    n, n_columns = matrix.shape
    if n != n_columns:
        raise UsageError("a square matrix", f"{n} x {n_columns}", "make rows and columns the same vertices")
    if matrix.format == "csr":
        return DirectedGraph.from_csr(matrix.indptr.astype(np.int64), matrix.indices.copy())
    entries = matrix.tocoo()
    return from_edges(entries.row, entries.col, n)


def to_scipy(graph: DirectedGraph) -> Any:
    """Return the adjacency matrix as ``scipy.sparse.csr_array`` of int32: how many edges lead from i to j."""
    from scipy import sparse  # noqa: PLC0415 - slow to import, and few need it

    instance(graph, DirectedGraph, "the graph")
    graph = graph.moved_to(np)
    n = graph.n_vertices
    ones = np.ones(graph.n_edges, np.int32)
    matrix = sparse.csr_array((ones, graph.columns.copy(), graph.row_offsets.copy()), shape=(n, n))
    matrix.sum_duplicates()
    return matrix


def from_networkx(graph: Any) -> DirectedGraph:
    """Make a graph of a networkx graph; an undirected edge becomes two edges, a self-loop one.

    Vertices are named by ``str`` of networkx's nodes; nodes that are exactly the numbers 0 to n - 1 become the numbers.

    Raises
    ------
    DataError
        If two nodes have the same text.
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise DataError("a graph of networkx", f"a {type(graph).__name__}", "make one first")
    nodes: dict[Hashable, str] = {node: str(node) for node in graph.nodes}
    if len(set(nodes.values())) != len(nodes):
        raise DataError("nodes with different texts", "two that str() makes equal", "rename them with relabel_nodes")
    edges = [(nodes[u], nodes[v]) for u, v in graph.edges()]
    if not graph.is_directed():
        edges = [edge for u, v in edges for edge in (((u, v), (v, u)) if u != v else ((u, v),))]
    return from_named_edges(edges, vertices=nodes.values())


def to_networkx(graph: DirectedGraph) -> Any:
    """Return the graph as ``networkx.MultiDiGraph``; its nodes are the names, or the numbers where there are none."""
    import networkx as nx  # noqa: PLC0415 - not needed for anything else

    instance(graph, DirectedGraph, "the graph")
    result = nx.MultiDiGraph()
    result.add_nodes_from(graph.label_of(i) for i in range(graph.n_vertices))
    result.add_edges_from((source, target) for source, targets in graph for target in targets)
    return result


def undirected(graph: DirectedGraph) -> DirectedGraph:
    """Return the graph with a reverse edge for each edge; in each row the reverse edges come last."""
    instance(graph, DirectedGraph, "the graph")
    xp = array_namespace(graph.columns)
    source, target = graph.edges()
    return from_edges(
        xp.concatenate([source, target]), xp.concatenate([target, source]), graph.n_vertices, names=graph.names
    )


def _without_needless_names(source: np.ndarray, target: np.ndarray, names: list[str]) -> DirectedGraph:
    """Make a graph; names that are the numbers 0 to n - 1 in any order are taken as the vertices' numbers."""
    n = len(names)
    if not all(name.isascii() and name.isdigit() and len(name) <= len(str(n)) for name in names):
        return from_edges(source, target, n, names=names)
    numbers = np.array(names or [], np.int64)
    if any(str(number) != name for number, name in zip(numbers.tolist(), names, strict=True)):
        return from_edges(source, target, n, names=names)  # "01" is a name
    if n == 0 or int(numbers.max()) != n - 1:
        return from_edges(source, target, n, names=names or None)
    return from_edges(numbers[source], numbers[target], n)


def _integers(values: Array | Sequence[int], xp: Any) -> Array:
    try:
        array = xp.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError("a row of integers", str(error), "give vertex numbers") from error
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError("a row of integers", f"{array.dtype} of shape {array.shape}", "give vertex numbers")
    return array if array.size else array.astype(np.int64)
