"""Fuzzed readers of graphs: text of all formats, archives, and GFA of assemblies."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

from gpuasm.geolocation import locate
from gpuasm.graph import from_edges, from_strings
from gpuasm.graph.directed_graph import DirectedGraph, describe
from gpuasm.graph.generators import de_bruijn_graph
from gpuasm.graph.segment_tours import segment_tours
from gpuasm.graph.undirected_graph import undirected_graph
from gpuasm.io.gfa_segments import read_segment_graph
from gpuasm.io.graph_sizes import size_of_graph
from gpuasm.io.graphs import FORMATS, read_graph, read_weighted_graph, write_graph
from tests.fuzz.target import Target, Written, texts

_KIND = "graphs"
EDGES = b"# vertices 5 edges 4\n0\t1\n1\t2\n2\t0\n3\t4\n"
WEIGHTED = b"from\tto\tweight\na\tb\t0.5\nb\tc\t2\nc\ta\t1e-3\n"
ADJACENCY = b"# c\na -> b, c\nb ->\nc -> a, a\nd\n"
MTX = b"%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 4\n1 1 0.5\n2 1 3\n4 2 1e2\n4 3 7\n"
PATTERN = b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n"
GFA = (
    b"H\tVN:Z:1.0\nS\ta\tACGTACGT\tLN:i:8\tdp:f:3.5\nS\tb\t*\tLN:i:9\tKC:i:40\nS\tc\tAC\n"
    b"L\ta\t+\tb\t-\t3M\nL\tb\t+\tc\t+\t0M\nP\tp\ta+,b-\t*\n"
)

GRAPHML = (
    b"<?xml version='1.0'?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
    b'<key id="d0" for="edge" attr.name="weight" attr.type="double"/>\n<graph edgedefault="directed">\n'
    b'<node id="a"/>\n<node id="b"/>\n<edge source="a" target="b"><data key="d0">0.5</data></edge>\n'
    b'<edge source="b" target="a" id="1"><data key="d0">2</data></edge>\n</graph>\n</graphml>\n'
)
GML = (
    b'graph [\n  directed 1\n  node [\n    id 0\n    label "a"\n  ]\n  node [\n    id 1\n    label "b"\n  ]\n'
    b"  edge [\n    source 0\n    target 1\n    weight 0.5\n  ]\n]\n"
)


def _read_graph(path: Path) -> None:
    size_of_graph(path)
    graph = read_graph(path)
    if graph.n_vertices < 10_000:
        describe(graph)


def _use_weights(path: Path) -> None:
    graph, weights = read_weighted_graph(path)
    if graph.n_vertices > 10_000:
        return
    merged = undirected_graph(graph, weights)
    places = np.full((graph.n_vertices, 2), np.nan)
    places[::2] = [10.0, 20.0]
    places[::3] = [-80.0, 179.0]
    locate(DirectedGraph(merged.row_offsets, merged.columns, graph.names), places, weights=merged.weights)


def _read_any_format(path: Path) -> None:
    file_format = sorted(FORMATS)[path.stat().st_size % len(FORMATS)]
    read_graph(path, file_format=file_format, pass_over_weights=True)


def _write_again(path: Path) -> None:
    graph, weights = read_weighted_graph(path, allow_negative=True)
    if graph.n_vertices < 1000:
        write_graph(path.with_suffix(".edges"), graph, weights=weights)
        read_weighted_graph(path.with_suffix(".edges"), allow_negative=True)


def _walk_segments(path: Path) -> None:
    graph = read_segment_graph(path)
    list(segment_tours(graph.lengths, graph.depths, graph.first, graph.second))


def graph_archives(folder: Path) -> list[bytes]:
    """Return archives of graphs: with weights, with names, and implicit ones."""
    written = Written(folder)
    graph = from_edges([0, 1, 1, 2], [1, 0, 2, 2], 4)
    written.add(lambda p: write_graph(p, graph, weights=np.array([1.0, 2.0, 0.5, 3.0])))
    written.add(lambda p: write_graph(p, from_strings(["a -> b, \u00e9", "b -> a"])))
    written.add(lambda p: write_graph(p, de_bruijn_graph("01", 3)))
    matrix = sparse.csc_array(([1.5, 2.0, 3.0], ([0, 1, 1], [1, 0, 2])), shape=(3, 3))
    written.add(lambda p: sparse.save_npz(p, matrix))
    written.add(lambda p: sparse.save_npz(p, matrix.tocsr(), compressed=False))
    return written.found


@cache
def named_graph() -> DirectedGraph:
    """Return a graph whose vertices have names."""
    return from_strings(["a -> b, c", "b -> c, d", "d -> e"])


@cache
def numbered_graph() -> DirectedGraph:
    """Return a graph whose vertices have numbers."""
    return from_edges([0, 1, 2, 3], [1, 2, 3, 4], 5)


TARGETS = {
    "graph": Target(
        _KIND, _read_graph, texts(EDGES, WEIGHTED[15:], ADJACENCY, MTX, PATTERN, GFA, GRAPHML, GML, b"2 1\na b\n")
    ),
    "graph of a named format": Target(
        _KIND, _read_any_format, texts(EDGES, WEIGHTED, ADJACENCY, MTX, PATTERN, GFA, GRAPHML, GML)
    ),
    "graph written again": Target(_KIND, _write_again, texts(EDGES, WEIGHTED, ADJACENCY, MTX, GFA)),
    "weighted graph": Target(
        _KIND, _use_weights, texts(WEIGHTED, WEIGHTED[15:], MTX, GRAPHML, GML, b"0 1 2\n1 0 1\n1 2 3\n2 3 1\n")
    ),
    "assembly graph": Target(_KIND, _walk_segments, texts(GFA)),
    "graph archive": Target("archives of arrays", _read_graph, graph_archives),
    "weighted graph archive": Target("archives of arrays", _use_weights, graph_archives),
}
