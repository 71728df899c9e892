"""Graphs as arrays of numpy: those that we write, and sparse matrices of scipy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from io import BytesIO

import numpy as np

from gpuasm.errors import DataError
from gpuasm.graph.building import from_edges
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.names import StringNames
from gpuasm.graph.rows import group_by
from gpuasm.io.archives import ArrayRule, load_archive, names_in_archive
from gpuasm.io.edge_weights import EdgeWeights, check_weights

_NPZ = {
    "row_offsets": ArrayRule("iu", ("n+1",), least=0),
    "columns": ArrayRule("iu", ("m",), least=0),
    "weights": ArrayRule("iuf", ("m",), nan=True, optional=True),
    "alphabet": ArrayRule("U", (), optional=True),
    "word_length": ArrayRule("iu", (), optional=True),
    "name_bytes": ArrayRule("u", ("b",), least=0, most=255, optional=True),
    "name_offsets": ArrayRule("iu", ("n+1",), optional=True),
}
_MATRIX = {
    "format": ArrayRule("US"),
    "shape": ArrayRule("iu", (2,), least=0),
    "indptr": ArrayRule("iu", ("n+1",), least=0),
    "indices": ArrayRule("iu", ("m",), least=0),
    "data": ArrayRule("iufb", ("m",), nan=True),
}


def read_graph_archive(file: str | BytesIO, weights: EdgeWeights | None) -> tuple[DirectedGraph, np.ndarray | None]:
    """Read a graph as `gpuasm.io.graphs.write_graph` or `scipy.sparse.save_npz` writes it.

    Parameters
    ----------
    file
        A path, or the whole archive.
    weights
        The kind of weights; None if they are not needed.

    Returns
    -------
    The graph, and (m,) float64 in the order of its edges or None.

    Raises
    ------
    DataError
        If the file is another one or damaged.
    ResourceError
        If its arrays exceed the memory.
    """
    if weights is not None and weights.allow_any:
        weights = None
    if _is_of_scipy(file):
        return _read_matrix_of_scipy(file, weights)
    schema = _NPZ if weights is not None else {name: rule for name, rule in _NPZ.items() if name != "weights"}
    arrays = load_archive(file, schema, what="a graph as .npz", remedy="write it anew with gpuasm")
    graph = DirectedGraph.from_csr(arrays["row_offsets"], arrays["columns"], _names_of(arrays))
    if weights is None or "weights" not in arrays:
        return graph, None
    return graph, check_weights(arrays["weights"], graph.n_edges, allow_negative=weights.allow_negative)


def _is_of_scipy(file: str | BytesIO) -> bool:
    try:
        return "indptr" in names_in_archive(file)
    except DataError:
        return False  # whoever reads it reports it


def _read_matrix_of_scipy(file: str | BytesIO, weights: EdgeWeights | None) -> tuple[DirectedGraph, np.ndarray | None]:
    """Read a matrix in CSR or CSC format: an entry (i, j) is an edge from i to j, and its value the weight."""
    arrays = load_archive(file, _MATRIX, what="a sparse matrix as .npz", remedy="write it anew with scipy")
    stored, (n, n_columns) = arrays["format"].item(), arrays["shape"].tolist()
    kind = stored.decode(errors="replace") if isinstance(stored, bytes) else stored
    if kind not in ("csr", "csc") or n != n_columns or arrays["indptr"].size != n + 1:
        found = f"format {kind!r}, {n} rows, {n_columns} columns, {arrays['indptr'].size} bounds"
        raise DataError("a square matrix in CSR or CSC format", found, "convert it with tocsr")
    graph = DirectedGraph.from_csr(arrays["indptr"], arrays["indices"])
    values = None if weights is None or weights.allow_any else arrays["data"]
    if kind == "csc":  # its rows are the columns of the matrix
        target, source = graph.edges()
        if values is not None:
            values = group_by(source, values, n)[1]
        graph = from_edges(source, target, n)
    if values is None or weights is None:
        return graph, None
    return graph, check_weights(values, graph.n_edges, allow_negative=weights.allow_negative)


def _names_of(arrays: dict[str, np.ndarray]) -> Sequence[str] | None:
    """Return the names of the vertices of an .npz."""
    n = arrays["row_offsets"].size - 1
    if "alphabet" in arrays:
        alphabet, length = str(arrays["alphabet"]), int(arrays.get("word_length", -1))
        # Longer strings over two letters or more are too many, and over one letter there is one.
        if len(set(alphabet)) != len(alphabet) or not 0 <= length < 64 or len(alphabet) ** length != n:
            raise DataError(f"an alphabet with {n} strings", f"{alphabet!r}, {length} letters each", "write it anew")
        return StringNames(alphabet, length)
    if "name_bytes" not in arrays:
        return None
    text, offsets = arrays["name_bytes"].tobytes(), arrays.get("name_offsets", np.zeros(0, np.int64))
    rises = offsets.size == n + 1 and not (offsets[1:] < offsets[:-1]).any()
    if not rises or offsets[0] != 0 or offsets[-1] != len(text):
        raise DataError(f"offsets of {n} names that rise from 0 to {len(text)}", "others", "write it anew")
    try:
        return [text[first:last].decode() for first, last in itertools.pairwise(offsets.tolist())]
    except UnicodeDecodeError as error:
        raise DataError("names in UTF-8", f"byte {text[error.start]:#x}", "write it anew") from error
