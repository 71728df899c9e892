"""Public functions refuse what is no graph, no reads, no options: with an error of gpuasm, not of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import gpuasm
from gpuasm import clustering, densest, geolocation, ranking, samples
from gpuasm.errors import GpuasmError
from gpuasm.graph import (
    DirectedGraph,
    from_edges,
    from_function,
    from_named_edges,
    from_networkx,
    from_scipy,
    from_strings,
    to_networkx,
    to_scipy,
    undirected,
)  # fmt: skip
from gpuasm.graph.undirected_graph import undirected_graph

PLACES = np.zeros((3, 2))
READS = gpuasm.Reads.from_strings(["ACGTTGCATT" * 30])
GENOME = gpuasm.simulate_molecule("a", 900)


def ring() -> DirectedGraph:
    return from_edges([0, 1, 2], [1, 2, 0])


OF_GRAPHS: dict[str, Callable[[Any], Any]] = {
    "from_scipy": from_scipy,
    "from_networkx": from_networkx,
    "to_scipy": to_scipy,
    "to_networkx": to_networkx,
    "undirected": undirected,
    "locate": lambda x: gpuasm.locate(x, PLACES),
    "gunrock": lambda x: gpuasm.gunrock_locations(x, PLACES),
    "hold out": lambda x: gpuasm.hold_out(x, PLACES, lambda p: (p, np.zeros(3)), share=0.5),
    "power iteration": ranking.power_iteration,
    "random walks": ranking.random_walks,
    "surfer": ranking.make_surfer,
    "densest subgraph": lambda x: densest.densest_subgraph(x, 2),
    "densest block": lambda x: densest.densest_block(x, (1, 1)),
    "peel": densest.peel,
    "peel in batches": densest.peel_in_batches,
    "euler": gpuasm.find_euler_tour,
    "check tour": lambda x: gpuasm.check_tour(x, gpuasm.EulerTour(np.zeros(0, int), np.zeros(1, int))),
    "shuffled": gpuasm.shuffled,
    "write": lambda x: gpuasm.write_graph("never.txt", x),
    "read": lambda x: gpuasm.read_graph([x]),
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "names": lambda x: from_edges([0], [1], names=x or 5),
    "named edges": lambda x: from_named_edges([x]),
    "three names": lambda x: from_named_edges([("a", "b", x)]),
    "numbers as names": lambda _: from_named_edges([(1, 2)]),
    "lines": lambda x: from_strings([b"a -> b" if x == "x" else x]),
    "function": lambda x: from_function([x]),
    "too great": lambda _: from_edges([2**63], [0]),
    "locating options": lambda x: gpuasm.locate(ring(), PLACES, x or "x"),
    "previous": lambda x: gpuasm.locate(ring(), PLACES, previous=x or "x"),
    "touched": lambda x: gpuasm.locate(ring(), PLACES, touched=x or "x"),
    "inference": lambda x: gpuasm.hold_out(ring(), PLACES, x, share=0.5),
    "search options": lambda x: densest.densest_subgraph(undirected_graph(ring()), 2, x or "x"),
    "pairing": lambda x: gpuasm.find_euler_tour(ring(), pairing=x),
    "method": lambda x: gpuasm.find_euler_tour(ring(), method=x),
    "seed": lambda x: gpuasm.find_euler_tour(ring(), seed=[x]),
    "walk": lambda x: ring().draw(walk=x or "x"),
    "weights": lambda x: gpuasm.write_graph("never.tsv", ring(), weights=[x]),
    "assemble": gpuasm.assemble,
    "count": lambda x: gpuasm.tally_kmers(x, 21),
    "sketch": lambda x: samples.sketch_text(x, gpuasm.SketchKind.bottom(21, 10)),
    "jaccard": samples.jaccard,
    "containment": samples.containment,
    "name": lambda x: gpuasm.simulate_molecule([x], 10),
    "repeats": lambda x: gpuasm.simulate_molecule("a", 10, repeats=x or "x"),
    "genomes": lambda x: gpuasm.ReadSimulation([x], gpuasm.ReadOptions(1.0)),
    "read options": lambda x: gpuasm.ReadSimulation([[GENOME]], x),
    "texts": lambda x: gpuasm.Reads.from_strings([x] if x != "x" else "x"),
    "codes": lambda x: gpuasm.Reads.from_codes([x]),
    "files": lambda x: gpuasm.read_reads(single=x),
    "pairs": lambda x: gpuasm.read_reads(pairs=[x]),
    "block": lambda x: gpuasm.read_reads(single=["never.fa"], block_bytes=[x]),
    "matrix": lambda x: gpuasm.GrowingMatrix([x]),
    "rows": lambda x: clustering.SelfOrganisingMap(2, 2).fit(x),
    "map": lambda x: clustering.MapClassifier(x or "x").fit(np.eye(4), ["a"] * 4),
    "median": geolocation.spherical_median,
    "device": gpuasm.namespace_of,
}


@pytest.mark.parametrize("name", [*OF_GRAPHS, *OTHERS])
def test_other_objects_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for value in (None, 5, "x", {}):
        with pytest.raises(GpuasmError) as caught:
            (OF_GRAPHS | OTHERS)[name](value)
        assert len(str(caught.value)) <= 400


def test_damaged_matrices_are_refused():
    for name, value in (("indices", 99), ("indptr", -5)):
        matrix = sparse.csr_array(np.eye(3))
        array = getattr(matrix, name).copy()
        array[1] = value
        setattr(matrix, name, array)
        with pytest.raises(GpuasmError):
            from_scipy(matrix)
    for matrix in (np.eye(3), sparse.csr_array(np.zeros((2, 3)))):
        with pytest.raises(GpuasmError):
            from_scipy(matrix)


def test_right_objects_are_taken():
    assert from_networkx(nx.path_graph(3)).n_edges == 4
    assert from_scipy(sparse.coo_array(np.eye(3))).n_edges == 3
    assert from_edges(np.array([0], np.uint64), [1], names=("a", "b")).n_edges == 1
    assert gpuasm.find_euler_tour(ring(), seed=np.int64(3)).n == 1
    assert gpuasm.Reads.from_strings(text for text in ("ACGT", b"AC", "A\u00e4C")).n_segments == 4
    assert READS.words is READS.packed
