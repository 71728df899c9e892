"""Write graphs: adjacency text, edge list, Matrix Market, GFA and .npz."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np

from gpuasm.errors import UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.names import StringNames
from gpuasm.io.digits import put_number
from gpuasm.io.edge_lists import VERTICES_COMMENT
from gpuasm.io.output import atomic_output
from gpuasm.parallel import compiled

NPZ_FORMAT = 1

_log = logging.getLogger("gpuasm")
_CHUNK = 1 << 18
_DIGITS = 20


def write_adjacency(path: str | os.PathLike[str], graph: DirectedGraph) -> None:
    """Write "a -> b, c" lines, one for each vertex."""
    _check_names(graph, ",\n\r", "->", "adjacency text")
    with atomic_output(path) as file:
        for source, targets in graph:
            file.write(f"{source} -> {', '.join(map(str, targets))}".rstrip() + "\n")


def write_edge_list(path: str | os.PathLike[str], graph: DirectedGraph, weights: np.ndarray | None = None) -> None:
    """Write two columns with a tab between them, and weights as the third; a comment holds the numbers."""
    _check_names(graph, ", \t\n\r", "", "an edge list")
    comment = VERTICES_COMMENT.format(graph.n_vertices, graph.n_edges)
    with atomic_output(path, "wb") as file:
        file.write(f"{comment}\n".encode())
        if graph.names is None and weights is None:
            _write_pairs(file, graph, "\t", 0)
            return
        n_alone = int(((graph.out_degree + graph.in_degree) == 0).sum())
        if n_alone and graph.names is not None:
            _log.warning("an edge list cannot hold the %d vertices without edges", n_alone)
        names = [graph.label_of(i) for i in range(graph.n_vertices)]
        thirds = [""] * graph.n_edges if weights is None else [f"\t{_number(value)}" for value in weights.tolist()]
        edges = zip(_each_edge(graph), thirds, strict=True)
        file.writelines(f"{names[source]}\t{names[target]}{third}\n".encode() for (source, target), third in edges)


def write_matrix_market(path: str | os.PathLike[str], graph: DirectedGraph, weights: np.ndarray | None = None) -> None:
    """Write a matrix in coordinate format, vertex i as row and column i + 1, of weights or a pattern; no names."""
    n, field = graph.n_vertices, "pattern" if weights is None else "real"
    with atomic_output(path, "wb") as file:
        file.write(f"%%MatrixMarket matrix coordinate {field} general\n{n} {n} {graph.n_edges}\n".encode())
        if weights is None:
            _write_pairs(file, graph, " ", 1)
            return
        entries = zip(_each_edge(graph), weights.tolist(), strict=True)
        file.writelines(f"{row + 1} {column + 1} {_number(value)}\n".encode() for (row, column), value in entries)


def write_oriented_gfa(path: str | os.PathLike[str], graph: DirectedGraph) -> None:
    """Write segments without sequence and links without overlap.

    A graph whose vertices are "name+" and "name-" in turn, with a twin for each edge, gets a segment for each two
    vertices, as it was read; of any other graph each vertex is a segment, and links lead from "+" to "+".
    """
    _check_names(graph, "\t\n\r ", "", "GFA")
    oriented = is_oriented(graph)
    with atomic_output(path) as file:
        file.write("H\tVN:Z:1.0\n")
        names = [str(graph.label_of(i)) for i in range(graph.n_vertices)]
        file.writelines(f"S\t{name[:-1] if oriented else name}\t*\n" for name in names[:: 2 if oriented else 1])
        for source, target in _each_edge(graph):
            if not oriented:
                file.write(f"L\t{names[source]}\t+\t{names[target]}\t+\t0M\n")
            elif (source, target) <= (target ^ 1, source ^ 1):  # of a link and its twin, one
                a, b = names[source], names[target]
                file.write(f"L\t{a[:-1]}\t{a[-1]}\t{b[:-1]}\t{b[-1]}\t0M\n")


def write_npz(
    path: str | os.PathLike[str],
    graph: DirectedGraph,
    weights: np.ndarray | None = None,
    *,
    others: Mapping[str, np.ndarray] | None = None,
) -> None:
    """Write the arrays, weights and others with them, and names as UTF-8 with bounds, or an alphabet and a length."""
    graph = graph.moved_to(np)
    arrays: dict[str, Any] = {"row_offsets": graph.row_offsets, "columns": graph.columns}
    if isinstance(graph.names, StringNames):
        arrays |= {"alphabet": np.array(graph.names.alphabet), "word_length": np.int64(graph.names.length)}
    elif graph.names is not None:
        texts = [name.encode() for name in graph.names]
        arrays["name_bytes"] = np.frombuffer(b"".join(texts), np.uint8)
        arrays["name_offsets"] = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    if weights is not None:
        arrays["weights"] = weights
    arrays |= others or {}
    with atomic_output(path, "wb") as file:
        np.savez(file, gpuasm_graph=np.int64(NPZ_FORMAT), **arrays)


def is_oriented(graph: DirectedGraph) -> bool:
    """Return whether vertices 2 i and 2 i + 1 are "name+" and "name-", with each edge on both strands."""
    names = graph.names
    if (
        names is None
        or len(names) % 2
        or not all(
            a[:-1] == b[:-1] and a[-1:] == "+" and b[-1:] == "-" for a, b in zip(names[::2], names[1::2], strict=True)
        )
    ):
        return False
    edges = list(_each_edge(graph))
    distinct = set(edges)
    return len(distinct) == len(edges) and all((target ^ 1, source ^ 1) in distinct for source, target in edges)


def _number(value: float) -> str:
    return f"{value:.9g}"


def _each_edge(graph: DirectedGraph) -> Iterator[tuple[int, int]]:
    source, target = graph.moved_to(np).edges()
    return zip(source.tolist(), target.tolist(), strict=True)


def _check_names(graph: DirectedGraph, letters: str, text: str, where: str) -> None:
    if graph.names is None:
        return
    names: Sequence[str] = graph.names
    if isinstance(names, StringNames):  # each letter is the first of a name, and the last of one
        has_text = bool(text) and set(text) <= set(names.alphabet) and names.length >= len(text)
        names = [*(names.alphabet if names.length else [""]), *([text] if has_text else [])]
    for name in names:
        bad = not name or name != name.strip() or name[0] in "#%" or any(c in name for c in letters)
        if bad or (text and text in name):
            raise UsageError(f"names that {where} can hold", repr(name), "write .npz instead, or rename the vertex")


def _write_pairs(file: IO[bytes], graph: DirectedGraph, between: str, first: int) -> None:
    source, target = graph.moved_to(np).edges()
    room = np.empty(2 * (_DIGITS + 1) * _CHUNK, np.uint8)
    for begin in range(0, graph.n_edges, _CHUNK):
        end = begin + _CHUNK
        size = _format_pairs(source[begin:end], target[begin:end], room, ord(between), first)
        file.write(room[:size].tobytes())


@compiled()
def _format_pairs(source, target, text, between, first):
    at = 0
    for i in range(source.size):
        for part in range(2):
            at = put_number(text, at, np.int64(source[i] if part == 0 else target[i]) + first)
            text[at] = between if part == 0 else 10
            at += 1
    return at
