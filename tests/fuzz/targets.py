"""The readers that are fuzzed: valid small files of each, and what is done with a file."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from gpuasm.cli.contig_map_file import load_contig_map, save_contig_map
from gpuasm.cli.geolocate_state import read_state, write_state
from gpuasm.cli.sample_inputs import find_samples, read_samples
from gpuasm.cli.som_file import TrainedMap, load_trained_map, save_trained_map
from gpuasm.clustering import MapClassifier, SelfOrganisingMap, label_units
from gpuasm.clustering.bins.bins import BinOptions, ContigMap, bin_contigs
from gpuasm.clustering.bins.contrast import Contrast
from gpuasm.clustering.bins.windows import Contigs
from gpuasm.geolocation import LocatingOptions, locate
from gpuasm.graph import from_edges, from_strings
from gpuasm.graph.directed_graph import DirectedGraph, describe
from gpuasm.graph.generators import de_bruijn_graph
from gpuasm.graph.segment_tours import segment_tours
from gpuasm.graph.undirected_graph import undirected_graph
from gpuasm.io.contigs import read_contigs, read_depth_table
from gpuasm.io.genomes import read_genome
from gpuasm.io.gfa_segments import read_segment_graph
from gpuasm.io.graph_sizes import size_of_graph
from gpuasm.io.graphs import FORMATS, read_graph, read_weighted_graph, write_graph
from gpuasm.io.labels import read_labels
from gpuasm.io.matrices import read_classes, read_matrix
from gpuasm.io.personalisation import read_personalisation
from gpuasm.io.signatures import Signature, read_signatures, write_signatures

EDGES = b"# vertices 5 edges 4\n0\t1\n1\t2\n2\t0\n3\t4\n"
WEIGHTED = b"from\tto\tweight\na\tb\t0.5\nb\tc\t2\nc\ta\t1e-3\n"
ADJACENCY = b"# c\na -> b, c\nb ->\nc -> a, a\nd\n"
MTX = b"%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 4\n1 1 0.5\n2 1 3\n4 2 1e2\n4 3 7\n"
PATTERN = b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n"
GFA = (
    b"H\tVN:Z:1.0\nS\ta\tACGTACGT\tLN:i:8\tdp:f:3.5\nS\tb\t*\tLN:i:9\tKC:i:40\nS\tc\tAC\n"
    b"L\ta\t+\tb\t-\t3M\nL\tb\t+\tc\t+\t0M\nP\tp\ta+,b-\t*\n"
)


@dataclass(frozen=True)
class Target:
    """A reader.

    Attributes
    ----------
    read
        Reads a file, and uses what it read as commands do.
    seeds
        Makes valid files.
    """

    read: Callable[[Path], Any]
    seeds: Callable[[Path], list[bytes]]


@dataclass
class _Written:
    """Files written by functions, as bytes."""

    folder: Path
    found: list[bytes] = field(default_factory=list)

    def add(self, write: Callable[[Path], Any], suffix: str = ".npz") -> None:
        path = self.folder / f"seed{suffix}"
        write(path)
        self.found.append(path.read_bytes())


def _texts(*texts: bytes) -> Callable[[Path], list[bytes]]:
    return lambda _: [*texts, gzip.compress(texts[0], mtime=0), zstandard.ZstdCompressor().compress(texts[0])]


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


def _graph_archives(folder: Path) -> list[bytes]:
    written = _Written(folder)
    graph = from_edges([0, 1, 1, 2], [1, 0, 2, 2], 4)
    written.add(lambda p: write_graph(p, graph, weights=np.array([1.0, 2.0, 0.5, 3.0])))
    written.add(lambda p: write_graph(p, from_strings(["a -> b, \u00e9", "b -> a"])))
    written.add(lambda p: write_graph(p, de_bruijn_graph("01", 3)))
    return written.found


@cache
def _named_graph() -> DirectedGraph:
    return from_strings(["a -> b, c", "b -> c, d", "d -> e"])


@cache
def _numbered_graph() -> DirectedGraph:
    return from_edges([0, 1, 2, 3], [1, 2, 3, 4], 5)


def _labels(path: Path) -> None:
    for graph in (_named_graph(), _numbered_graph()):
        for base in (None, 1):
            try:
                read_labels(path, graph, base=base, skip_unknown=base == 1)
            except ValueError:
                if base == 1:
                    raise


def _states(folder: Path) -> list[bytes]:
    written, graph = _Written(folder), _named_graph()
    places = np.full((5, 2), np.nan)
    places[0] = [10.0, 20.0]
    located = locate(graph, places)
    written.add(lambda p: write_state(p, graph, located, weights=None))
    return written.found


def _use_state(path: Path) -> None:
    graph, places = _named_graph(), np.full((5, 2), np.nan)
    places[0] = [10.0, 20.0]
    kept = read_state(path, graph, LocatingOptions(), weights=None)
    if kept:
        locate(graph, places, previous=kept[0], touched=kept[1])


def _signatures(folder: Path) -> list[bytes]:
    written = _Written(folder)
    signature = Signature("x", "x.fa", 21, 1000, 0, 42, np.array([1, 5, 1 << 63], np.uint64))
    written.add(lambda p: write_signatures(p, [signature, signature]), ".sig")
    return written.found


def _samples(path: Path) -> None:
    for files in find_samples((str(path),)):
        list(read_samples(files, k=21, min_count=None, each_sequence=True))


@cache
def _trained() -> tuple[SelfOrganisingMap, np.ndarray, list[str]]:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(30, 3))
    return SelfOrganisingMap(3, 4, epochs=2, normalise="zscore").fit(values), values, ["a", "b", ""] * 10


def _maps(folder: Path) -> list[bytes]:
    som, values, classes = _trained()
    written = _Written(folder)
    labels = label_units(som.labels_, classes, 12)
    whole = TrainedMap(som, ["x", "y", "z"], som.p_matrix(values), som.clusters(), labels)
    whole.classifier = MapClassifier(som, epochs=1).fit(values, classes)
    written.add(lambda p: save_trained_map(p, whole))
    written.add(lambda p: save_trained_map(p, TrainedMap(som)))
    return written.found


def _use_map(path: Path) -> None:
    trained = load_trained_map(path, np)
    d = trained.som.n_features_in_
    trained.som.best_units(np.zeros((2, d)))
    trained.som.u_matrix()
    trained.som.component_planes()
    trained.som.hit_map()
    if trained.classifier:
        trained.classifier.predict(np.zeros((2, d)))


@cache
def _contigs() -> Contigs:
    rng = np.random.default_rng(2)
    length = np.array([3000, 2600, 700])
    start = np.concatenate([[0], np.cumsum(length)])
    codes = rng.integers(0, 4, start[-1]).astype(np.uint8)
    return Contigs(["a", "b", "c"], codes, start, np.array([[5.0], [30.0], [4.0]]), np.zeros(3, bool))


def _contig_maps(folder: Path) -> list[bytes]:
    rng = np.random.default_rng(3)
    som = SelfOrganisingMap(3, 4, topology="toroidal", epochs=2).fit(rng.normal(size=(30, 3)))
    contrast = Contrast(np.full(136, 0.1), np.zeros(136), rng.normal(size=(136, 2)), np.ones(135), 2.0)
    contig_map = ContigMap(som, contrast, depth_scale=np.array([[2.0], [0.3]]), window=500, least=1000)
    written = _Written(folder)
    written.add(lambda p: save_contig_map(p, contig_map))
    return written.found


def _use_contig_map(path: Path) -> None:
    bin_contigs(_contigs(), load_contig_map(path, np), BinOptions(least_bin=2000))


def _matrices(_: Path) -> list[bytes]:
    file, both = io.BytesIO(), io.BytesIO()
    np.save(file, np.arange(6.0).reshape(3, 2))
    np.savez(both, values=np.arange(6.0).reshape(3, 2), names=["a", "b", "c"], columns=["x", "y"])
    lrn = b"% 2\n% 3\n% 9\t1\t1\n% Key\tx\ty\n1\t0.5\t2\n2\tNaN\t3\n"
    return [b"name\tx\ty\na\t1\t2.5\nb\tNA\t3\n", b"1,2\n3,4\n", lrn, file.getvalue(), both.getvalue()]


TARGETS: dict[str, Target] = {
    "graph": Target(_read_graph, _texts(EDGES, WEIGHTED[15:], ADJACENCY, MTX, PATTERN, GFA, b"2 1\na b\n")),
    "weighted graph": Target(_use_weights, _texts(WEIGHTED, WEIGHTED[15:], MTX, b"0 1 2\n1 0 1\n1 2 3\n2 3 1\n")),
    "graph of a named format": Target(_read_any_format, _texts(EDGES, WEIGHTED, ADJACENCY, MTX, PATTERN, GFA)),
    "graph written again": Target(_write_again, _texts(EDGES, WEIGHTED, ADJACENCY, MTX, GFA)),
    "graph archive": Target(_read_graph, _graph_archives),
    "weighted graph archive": Target(_use_weights, _graph_archives),
    "assembly graph": Target(_walk_segments, _texts(GFA)),
    "labels": Target(
        _labels, _texts(b"5 2 2\n1 10 20\n2 -5.5 3\n3\n", b"vertex\tlatitude\tlongitude\na\t1\t2\nb\t\t\n")
    ),
    "personalisation": Target(lambda p: read_personalisation(p, _named_graph()), _texts(b"a\t0.5\nb\n# c\nd,2\n")),
    "state": Target(_use_state, _states),
    "signatures": Target(read_signatures, _signatures),
    "samples": Target(
        _samples, lambda p: [*_signatures(p), b"sample\tfile\na\tx.fa\n", b">a\nACGTACGTACGTACGTACGTACGT\n"]
    ),
    "trained map": Target(_use_map, _maps),
    "contig map": Target(_use_contig_map, _contig_maps),
    "matrix": Target(read_matrix, _matrices),
    "classes": Target(lambda p: read_classes(p, ["a", "b"]), _texts(b"a\tx\nb\ty\n", b"% 2\n% 1 fox 1 2 3\n1\t1\n")),
    "depth table": Target(
        lambda p: read_depth_table(p, ["a", "b"]),
        _texts(
            b"contigName\tcontigLen\ttotalAvgDepth\tx\tx-var\na\t9\t5\t5\t1\nb\t8\t3\t3\t0\n", b"c\tdepth\na\t3\nb\t4\n"
        ),
    ),
    "contigs": Target(read_contigs, _texts(b">a depth=3.5 circular=yes\nACGT\nAC\n>b\nNNACG\n")),
    "genome": Target(
        read_genome,
        _texts(b">a copies=3 circular=yes\nACGT\n", b"LOCUS       x 4 bp DNA circular\nORIGIN\n        1 acgt\n//\n"),
    ),
}
"""All readers by name."""
