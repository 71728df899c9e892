"""Read and write graphs: content or option determine the format of an input, name or option that of an output."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np

from gpuasm.checks import array_of, instance
from gpuasm.errors import GpuasmError, UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.io import graph_writers, networkx_formats
from gpuasm.io.archives import ZIP
from gpuasm.io.edge_lists import read_edge_list, read_matrix_market
from gpuasm.io.edge_weights import EdgeWeights
from gpuasm.io.gfa_segments import read_gfa
from gpuasm.io.graph_archives import read_graph_archive
from gpuasm.io.graph_formats import ARROW, format_of_text, is_gfa_line
from gpuasm.io.graph_text import LineBlocks, joined, line_blocks, read_adjacency
from gpuasm.io.sources import is_regular, open_input

FORMATS: dict[str, Callable[..., None]] = {
    "adjacency": graph_writers.write_adjacency,
    "edges": graph_writers.write_edge_list,
    "mtx": graph_writers.write_matrix_market,
    "gfa": graph_writers.write_oriented_gfa,
    "graphml": networkx_formats.write_graphml,
    "gml": networkx_formats.write_gml,
    "npz": graph_writers.write_npz,
}
"""The formats that graphs are written in."""

_READERS: dict[str, Callable[..., DirectedGraph]] = {
    "adjacency": read_adjacency,
    "gfa": read_gfa,
}
_WEIGHTED_READERS: dict[str, Callable[..., tuple[DirectedGraph, np.ndarray | None]]] = {
    "edges": read_edge_list,
    "mtx": read_matrix_market,
}
_WHOLE_READERS: dict[str, Callable[..., tuple[DirectedGraph, np.ndarray | None]]] = {
    "graphml": networkx_formats.read_graphml,
    "gml": networkx_formats.read_gml,
}
WITH_WEIGHTS = (*_WEIGHTED_READERS, *_WHOLE_READERS, "npz")
"""The formats that hold weights of edges."""
_FORMAT_OF_SUFFIX = {
    "": "adjacency",
    ".txt": "adjacency",
    ".adj": "adjacency",
    ".npz": "npz",
    ".mtx": "mtx",
    ".gfa": "gfa",
    ".graphml": "graphml",
    ".gml": "gml",
    ".tsv": "edges",
    ".csv": "edges",
    ".edges": "edges",
    ".el": "edges",
}
_NAMES = {
    "adjacency": "adjacency text",
    "edges": "an edge list",
    "mtx": "Matrix Market",
    "gfa": "GFA",
    "graphml": "GraphML",
    "gml": "GML",
}
_LATER_PER_LINE = {"adjacency": 60, "edges": 16, "mtx": 48, "gfa": 100}
"""Bytes that readers take when they have read all lines, for each of them."""
_log = logging.getLogger("gpuasm")


def read_graph(
    path: str | os.PathLike[str], *, file_format: str | None = None, pass_over_weights: bool = False
) -> DirectedGraph:
    """Read a graph of any format, compressed or not.

    Adjacency text ("a -> b, c"), edge list (two columns), Matrix Market (coordinate), GFA 1, GraphML, GML, or .npz as
    `write_graph` or `scipy.sparse.save_npz` makes it. An empty file is a graph without vertices.

    Parameters
    ----------
    path
        The file; "-" is standard input.
    file_format
        A key of `FORMATS`. If None, the content determines it: see `gpuasm.io.graph_formats.format_of_text`. Of an
        edge list that is named here, each line that is no comment is an edge, the first one too.
    pass_over_weights
        Whether an edge list may have a third column.

    Raises
    ------
    DataError
        If the content is wrong, or fits two formats; it names the line.
    ResourceError
        If it does not fit into memory.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    """
    return _read(path, EdgeWeights(allow_any=True) if pass_over_weights else None, file_format)[0]


def read_weighted_graph(
    path: str | os.PathLike[str], *, allow_negative: bool = False, file_format: str | None = None
) -> tuple[DirectedGraph, np.ndarray | None]:
    """Read a graph of any format and the weights of its edges.

    Weights are the values of a Matrix Market file, the third column of an edge list, the attribute "weight" of GraphML
    and GML, the array "weights" of .npz, or the values of a matrix of scipy.

    Parameters
    ----------
    path
        The file; "-" is standard input.
    allow_negative
        Whether a weight may be below 0.
    file_format
        As for `read_graph`.

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
    return _read(path, EdgeWeights(allow_negative=allow_negative), file_format)


def _read(
    path: str | os.PathLike[str], weights: EdgeWeights | None, file_format: str | None
) -> tuple[DirectedGraph, np.ndarray | None]:
    if file_format not in (None, *FORMATS):
        raise UsageError(f"a format: {', '.join(FORMATS)}", repr(file_format), "take one of those")
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError("a path", repr(path), "name the file")
    try:
        if _begins_with_zip(path):
            return read_graph_archive(os.fspath(path), weights)
        text = LineBlocks(path)
        blocks = iter(text)
        head = next(blocks, b"")
        if file_format == "npz" or (file_format is None and head.startswith(ZIP)):
            return read_graph_archive(BytesIO(joined(itertools.chain([head], blocks), text.bound)), weights)
        chosen = file_format or format_of_text(head)
        if chosen != "edges" and weights is not None and weights.allow_any:
            weights = None
        if file_format is None and head:
            _log.info("%s is read as %s", path, _NAMES[chosen])
        if chosen in _WHOLE_READERS:
            return _WHOLE_READERS[chosen](joined(itertools.chain([head], blocks), text.bound), weights)
        text.later_per_line = _LATER_PER_LINE[chosen]
        blocks = itertools.chain([head] if head else [], blocks)
        options = {}
        if chosen == "edges":
            options["edges_only"] = file_format == "edges"
        elif chosen == "adjacency":
            options["names_alone"] = file_format is None and ARROW not in head
        if chosen in _WEIGHTED_READERS:
            return _WEIGHTED_READERS[chosen](blocks, weights, **options)
        graph = _READERS[chosen](blocks, **options)
    except GpuasmError as error:
        raise error.of_file(path) from error
    if options.get("names_alone") and graph.n_vertices and not graph.n_edges:
        _log.warning("%s: no line has an arrow, so its %d vertices have no edges", path, graph.n_vertices)
    return graph, None


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
        A key of `FORMATS`. If None, by the suffix: .npz, .mtx, .gfa, .graphml, .gml; .tsv, .csv, .edges or .el for an
        edge list; .txt, .adj or none for adjacency text.
    weights : (m,) float64, optional
        Of the edges, on the host; for all formats but adjacency text and GFA.

    Raises
    ------
    UsageError
        If the format or the suffix is unknown, or the format cannot hold a vertex's name or weights.
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    instance(graph, DirectedGraph, "the graph")
    chosen = file_format or format_of_suffix(path)
    if chosen not in FORMATS:
        raise UsageError(f"a format: {', '.join(FORMATS)}", repr(chosen), "take one of those")
    if weights is None:
        FORMATS[chosen](path, graph)
    elif chosen in WITH_WEIGHTS:
        FORMATS[chosen](path, graph, array_of(weights, "weights", "iuf", (graph.n_edges,)))
    else:
        raise UsageError(f"a format that holds weights: {', '.join(WITH_WEIGHTS)}", repr(chosen), "take one of those")


def format_of_suffix(path: str | os.PathLike[str]) -> str:
    """Return the format that the suffix of an output names: a key of `FORMATS`.

    Raises
    ------
    UsageError
        If it names none.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMAT_OF_SUFFIX:
        known = ", ".join(filter(None, _FORMAT_OF_SUFFIX))
        raise UsageError(f"a suffix of a graph: {known}", repr(suffix), "take one of those, or add --format")
    return _FORMAT_OF_SUFFIX[suffix]


def is_gfa(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is an assembly graph; False for standard input, which cannot be read twice."""
    if not is_regular(path):
        return False
    for block in line_blocks(path):
        for line in block.splitlines():
            if line.strip() and line.lstrip()[:1] not in (b"#", b"%"):
                return is_gfa_line(line)
    return False


def _begins_with_zip(path: str | os.PathLike[str]) -> bool:
    if not is_regular(path):
        return False  # pipes cannot be read twice
    with open_input(os.fspath(path)) as file:
        return file.read(len(ZIP)) == ZIP
