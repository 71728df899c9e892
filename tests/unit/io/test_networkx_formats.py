"""GraphML, GML and matrices of scipy: as networkx and scipy write them, and damaged."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from gpuasm.errors import DataError, ResourceError
from gpuasm.graph import from_edges, from_networkx
from gpuasm.io import networkx_formats
from gpuasm.io.graph_sizes import size_of_graph
from gpuasm.io.graphs import read_graph, read_weighted_graph, write_graph

WRITERS = {"graphml": nx.write_graphml, "gml": nx.write_gml}


def weighted_edges(graph, weights):
    found = zip(graph.named_edges(), weights.tolist(), strict=True)
    return sorted((str(u), str(v), value) for (u, v), value in found)


def example(kind):
    graph = kind()
    graph.add_nodes_from(["alone", "a", "b", "c"])
    graph.add_weighted_edges_from([("c", "a", 0.5), ("a", "b", 2.0), ("b", "b", 3.0), ("a", "c", 4.25)])
    return graph


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph, nx.Graph])
def test_what_networkx_writes_is_read(tmp_path, suffix, kind):
    path, graph = tmp_path / "graph", example(kind)
    WRITERS[suffix](graph, path)
    assert read_graph(path) == from_networkx(graph)
    found, weights = read_weighted_graph(path)
    pairs = [(u, v, w) for u, v, w in graph.edges(data="weight")]
    expected = pairs if graph.is_directed() else pairs + [(v, u, w) for u, v, w in pairs if u != v]
    assert weighted_edges(found, weights) == sorted(expected)
    size = size_of_graph(path)
    assert (size.file_format, size.n_vertices, size.has_weights) == (suffix, 4, True)
    assert size.n_edges >= found.n_edges


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("names", [None, ["x", "y", "é & <z>"]])
@pytest.mark.parametrize("edges", [([0, 0, 1], [1, 1, 0]), ([0, 2], [1, 2]), ([], [])])
def test_what_is_written_is_read_again(tmp_path, suffix, names, edges):
    path, graph = tmp_path / f"graph.{suffix}", from_edges(*edges, 3, names=names)
    weights = np.arange(graph.n_edges) + 0.125
    write_graph(path, graph, weights=weights)
    found, read = read_weighted_graph(path)
    assert found == graph
    if graph.n_edges:
        assert weighted_edges(found, read) == weighted_edges(graph, weights)
    write_graph(path, graph)
    assert read_weighted_graph(path)[1] is None
    reader = {"graphml": nx.read_graphml, "gml": nx.read_gml}[suffix]
    assert reader(path).number_of_edges() == graph.n_edges


def test_labels_of_gml_that_are_not_all_different_are_no_names(tmp_path):
    path = tmp_path / "graph.gml"
    path.write_text('graph [ directed 1 node [ id 5 label "a" ] node [ id 7 label "a" ] edge [ source 5 target 7 ] ]\n')
    assert list(read_graph(path).named_edges()) == [("5", "7")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<graphml>\n<graph>\n</graphml>\n", "line 3"),
        ("<graphml></graphml>\n", "expected GraphML"),
        ('<graphml><graph edgedefault="directed"><hyperedge/></graph></graphml>\n', "expected GraphML"),
        ("graph [\n  node [ id 1 ]\n  edge [ source 1 target 2 ]\n]\n", "undefined target 2"),
        ("graph [\n  node [ id 1\n", "expected GML"),
        ("graph " + "[ a " * 5000 + "\n", "expected GML"),
        ("graph [ node [ id 1 ] \N{LATIN SMALL LETTER E WITH ACUTE} ]\n", "expected GML"),
    ],
)
def test_damaged_text(tmp_path, text, message):
    path = tmp_path / "graph"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_graph(path)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "graph"
    path.write_bytes(b"graph [\n\xff\xfe\n]\n")
    with pytest.raises(DataError, match="expected GML"):
        read_graph(path)


@pytest.mark.parametrize("weights", [{"weight": "much"}, {}, {"weight": float("inf")}, {"weight": -1.0}])
def test_wrong_weights(tmp_path, weights):
    graph = nx.DiGraph()
    graph.add_edge("a", "b", weight=1.0)
    graph.add_edge("b", "a", **weights)
    nx.write_gml(graph, tmp_path / "graph")
    with pytest.raises(DataError, match="weight"):
        read_weighted_graph(tmp_path / "graph")
    assert read_graph(tmp_path / "graph").n_edges == 2


def test_memory_is_requested_first(tmp_path, monkeypatch):
    class Full(networkx_formats.MemoryBound):
        def has(self, n_bytes):
            return False

    nx.write_gml(example(nx.DiGraph), tmp_path / "graph")
    monkeypatch.setattr(networkx_formats, "MemoryBound", Full)
    with pytest.raises(ResourceError):
        read_graph(tmp_path / "graph")


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("compressed", [True, False])
def test_matrices_of_scipy(tmp_path, kind, compressed, rng):
    dense = np.where(rng.random((7, 7)) < 0.4, rng.integers(1, 9, (7, 7)), 0)
    path, matrix = tmp_path / "matrix.npz", sparse.coo_array(dense).asformat(kind)
    sparse.save_npz(path, matrix, compressed=compressed)
    graph, weights = read_weighted_graph(path)
    found = np.zeros((7, 7))
    found[graph.edges()] = weights
    assert np.array_equal(found, dense)
    assert read_graph(path) == graph
    assert (size_of_graph(path).n_vertices, size_of_graph(path).n_edges) == (7, matrix.nnz)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (sparse.csr_array(np.ones((2, 3))), "square"),
        (sparse.bsr_array(np.ones((2, 2))), "'data' as integers of shape"),
        (sparse.csr_array(np.ones((2, 2), complex)), "data"),
    ],
)
def test_other_matrices_are_refused(tmp_path, matrix, message):
    sparse.save_npz(tmp_path / "matrix.npz", matrix)
    with pytest.raises(DataError, match=message):
        read_graph(tmp_path / "matrix.npz")


def test_a_damaged_archive_is_refused(tmp_path):
    path = tmp_path / "matrix.npz"
    sparse.save_npz(path, sparse.csr_array(np.eye(3)))
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 6] = 255  # the version of zip that is needed
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"a graph as \.npz"):
        read_graph(path)


@pytest.mark.parametrize("stored", [b"\xff\xfe", "dia", b""])
def test_other_formats_of_matrices_are_refused(tmp_path, stored):
    matrix = sparse.csr_array(np.eye(3))
    arrays = {name: getattr(matrix, name) for name in ("indptr", "indices", "data", "shape")}
    np.savez(tmp_path / "matrix.npz", format=np.array(stored), **arrays)
    with pytest.raises(DataError, match="CSR or CSC"):
        read_graph(tmp_path / "matrix.npz")
