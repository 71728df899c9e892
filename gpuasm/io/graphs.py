"""Read and write graphs: the content determines the format of an input, the name that of an output."""

from __future__ import annotations

import itertools
import os
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.errors import DataError, GpuasmError, UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.names import StringNames
from gpuasm.io import graph_writers
from gpuasm.io.edge_lists import (
    read_edge_list,
    read_matrix_market,
    read_weighted_edge_list,
    read_weighted_matrix_market,
)
from gpuasm.io.edge_weights import EdgeWeights, check_weights
from gpuasm.io.graph_text import line_blocks, read_adjacency, read_gfa
from gpuasm.io.sources import STDIN, open_input

FORMATS: dict[str, Callable[..., None]] = {
    "adjacency": graph_writers.write_adjacency,
    "edges": graph_writers.write_edge_list,
    "mtx": graph_writers.write_matrix_market,
    "gfa": graph_writers.write_oriented_gfa,
    "npz": graph_writers.write_npz,
}
"""The formats that graphs are written in."""

_READERS: dict[str, Callable[..., DirectedGraph]] = {
    "adjacency": read_adjacency,
    "edges": read_edge_list,
    "mtx": read_matrix_market,
    "gfa": read_gfa,
}
_WEIGHTED_READERS: dict[str, Callable[..., tuple[DirectedGraph, np.ndarray | None]]] = {
    "edges": read_weighted_edge_list,
    "mtx": read_weighted_matrix_market,
}
_FORMAT_OF_SUFFIX = {
    ".npz": "npz",
    ".mtx": "mtx",
    ".gfa": "gfa",
    ".tsv": "edges",
    ".csv": "edges",
    ".edges": "edges",
    ".el": "edges",
}
_ZIP = b"PK\x03\x04"
_BANNER = b"%%matrixmarket"


def read_graph(path: str | os.PathLike[str]) -> DirectedGraph:
    """Read a graph of any format, compressed or not.

    Adjacency text ("a -> b, c"), edge list (two columns), Matrix Market (coordinate), GFA 1, or .npz as
    `write_graph` makes it; the content determines the format. An empty file is a graph without vertices.

    Parameters
    ----------
    path
        The file; "-" is standard input.

    Raises
    ------
    DataError
        If the content is wrong; it names the line.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    """
    return _read(path, None)[0]


def read_weighted_graph(
    path: str | os.PathLike[str], *, allow_negative: bool = False
) -> tuple[DirectedGraph, np.ndarray | None]:
    """Read a graph of any format and the weights of its edges.

    Weights are the values of a Matrix Market file, the third column of an edge list, or the array "weights" of .npz.

    Parameters
    ----------
    path
        The file; "-" is standard input.
    allow_negative
        Whether a weight may be below 0.

    Returns
    -------
    graph
        As `read_graph`.
    weights : (m,) float64, or None
        In the order of the edges; None where the file has none: pattern, two columns, adjacency text, GFA.

    Raises
    ------
    DataError
        If the content is wrong, or a weight is not finite or negative; it names the line or the edge.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    """
    return _read(path, EdgeWeights(allow_negative=allow_negative))


def _read(path: str | os.PathLike[str], weights: EdgeWeights | None) -> tuple[DirectedGraph, np.ndarray | None]:
    try:
        if _begins_with_zip(path):
            return _read_npz(path, weights)
        blocks = line_blocks(path)
        head = next(blocks, b"")
        if head.startswith(_ZIP):
            return _read_npz(BytesIO(b"".join([head, *blocks])), weights)
        chosen, text = format_of_text(head), itertools.chain([head] if head else [], blocks)
        if weights is not None and chosen in _WEIGHTED_READERS:
            return _WEIGHTED_READERS[chosen](text, weights)
        return _READERS[chosen](text), None
    except GpuasmError as error:
        raise error.of_file(path) from error


def write_graph(
    path: str | os.PathLike[str],
    graph: DirectedGraph,
    *,
    file_format: str | None = None,
    weights: np.ndarray | None = None,
) -> None:
    """Write a graph.

    Parameters
    ----------
    path
        The file; "-" is standard output.
    graph
        On the host or on a device.
    file_format
        A key of `FORMATS`. If None, by the suffix: .npz, .mtx, .gfa, .tsv or .edges for an edge list; adjacency
        text otherwise.
    weights : (m,) float64, optional
        Of the edges, on the host; for edge lists, Matrix Market and .npz.

    Raises
    ------
    UsageError
        If the format is unknown, or cannot hold a vertex's name or weights.
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    chosen = file_format or _FORMAT_OF_SUFFIX.get(Path(path).suffix.lower(), "adjacency")
    if chosen not in FORMATS:
        raise UsageError(f"a format: {', '.join(FORMATS)}", repr(chosen), "take one of those")
    if weights is None:
        FORMATS[chosen](path, graph)
    elif chosen in _WEIGHTED_READERS or chosen == "npz":
        FORMATS[chosen](path, graph, weights)
    else:
        raise UsageError("a format that holds weights: edges, mtx, npz", repr(chosen), "take one of those")


def format_of_text(head: bytes) -> str:
    """Return the format of a text by its first lines: adjacency, edges, mtx or gfa."""
    if head[: len(_BANNER)].lower() == _BANNER:
        return "mtx"
    for line in _data_lines(head):
        if line[:2] in (b"H\t", b"S\t", b"L\t") and (b"\tVN:" in line or line.count(b"\t") >= 2):
            return "gfa"
        return "adjacency" if b"->" in line or len(line.replace(b",", b" ").split()) == 1 else "edges"
    return "edges"


def is_gfa(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is an assembly graph; False for standard input, which cannot be read twice."""
    if os.fspath(path) == STDIN or not Path(path).is_file():
        return False
    return format_of_text(next(line_blocks(path), b"")) == "gfa"


def _data_lines(head: bytes) -> Iterator[bytes]:
    for line in head.splitlines():
        if line.strip() and line.lstrip()[:1] not in (b"#", b"%"):
            yield line


def _begins_with_zip(path: str | os.PathLike[str]) -> bool:
    if os.fspath(path) == STDIN or not Path(path).is_file():
        return False  # pipes cannot be read twice
    with open_input(os.fspath(path)) as file:
        return file.read(len(_ZIP)) == _ZIP


def _read_npz(file: Any, weights: EdgeWeights | None) -> tuple[DirectedGraph, np.ndarray | None]:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            names: Any = None
            if "alphabet" in arrays:
                names = StringNames(str(arrays["alphabet"]), int(arrays["word_length"]))
            elif "name_bytes" in arrays:
                text, offsets = arrays["name_bytes"].tobytes(), arrays["name_offsets"].tolist()
                names = [text[first:last].decode() for first, last in itertools.pairwise(offsets)]
            graph = DirectedGraph.from_csr(arrays["row_offsets"], arrays["columns"], names)
            if weights is None or "weights" not in arrays:
                return graph, None
            return graph, check_weights(arrays["weights"], graph.n_edges, allow_negative=weights.allow_negative)
    except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        if isinstance(error, GpuasmError):
            raise
        raise DataError("a graph as .npz", f"another file ({error})", "write it anew with gpuasm") from error
