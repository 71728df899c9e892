"""Fuzzed readers of archives that gpuasm itself wrote: maps, states and checkpoints."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.cli.checkpoint import Checkpoint
from gpuasm.cli.compared_samples import arrays_of_samples, read_compared_samples
from gpuasm.cli.contig_map_file import load_contig_map, save_contig_map
from gpuasm.cli.geolocate_state import read_state, write_state
from gpuasm.cli.related_inputs import related_samples
from gpuasm.cli.som_file import TrainedMap, load_trained_map, save_trained_map
from gpuasm.clustering import MapClassifier, SelfOrganisingMap, label_units
from gpuasm.clustering.bins.bins import BinOptions, ContigMap, bin_contigs
from gpuasm.clustering.bins.contrast import Contrast
from gpuasm.clustering.bins.windows import Contigs
from gpuasm.geolocation import LocatingOptions, locate
from gpuasm.geolocation.related import locate_related
from gpuasm.io.graph_writers import write_npz
from gpuasm.io.graphs import read_weighted_graph
from gpuasm.samples import Sketches, SketchKind, compare, relate, sketch_text
from gpuasm.sequence.reads import Reads
from tests.fuzz.target import Target, Written
from tests.fuzz.targets_graphs import named_graph
from tests.samples import simulated_genome, simulated_texts

_KIND = "archives of arrays"
_MARK = "a run"
_GENOMES = ("ACGTTGCAAGCTTACGGATC", "ACGTTGCATGCTTACGGATC", "GGATTACCAGTTTACGGATC")


def states(folder: Path) -> list[bytes]:
    """Return what `geolocate` keeps for its next run."""
    written, graph = Written(folder), named_graph()
    places = np.full((5, 2), np.nan)
    places[0] = [10.0, 20.0]
    located = locate(graph, places)
    written.add(lambda p: write_state(p, graph, located, weights=None))
    return written.found


def _use_state(path: Path) -> None:
    graph, places = named_graph(), np.full((5, 2), np.nan)
    places[0] = [10.0, 20.0]
    kept = read_state(path, graph, LocatingOptions(), weights=None)
    if kept:
        locate(graph, places, previous=kept[0], touched=kept[1])


@cache
def _trained() -> tuple[SelfOrganisingMap, np.ndarray, list[str]]:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(30, 3))
    return SelfOrganisingMap(3, 4, epochs=2, normalise="zscore").fit(values), values, ["a", "b", ""] * 10


def maps(folder: Path) -> list[bytes]:
    """Return a trained map with all that can be stored with it, and one alone."""
    som, values, classes = _trained()
    written = Written(folder)
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
    written = Written(folder)
    written.add(lambda p: save_contig_map(p, contig_map))
    return written.found


def _use_contig_map(path: Path) -> None:
    bin_contigs(_contigs(), load_contig_map(path, np), BinOptions(least_bin=2000))


def compared(folder: Path) -> list[bytes]:
    """Return graphs of compared samples, by all hashes and by the least."""
    written = Written(folder)
    for kind in (SketchKind.scaled(5, 1), SketchKind.bottom(5, 8)):
        sketches = [sketch_text(Reads.from_strings([text]), kind) for text in _GENOMES]
        joined = Sketches.join(kind, list("abc"), sketches)
        found = relate(joined, compare(joined))
        written.add(lambda p, r=found: write_npz(p, r.graph, r.weights, others=arrays_of_samples(r)))
    return written.found


def _use_compared(path: Path) -> None:
    graph, _ = read_weighted_graph(path)
    found = read_compared_samples(path, graph)
    if found:
        places = np.full((graph.n_vertices, 2), np.nan)
        places[:1] = [10.0, 20.0]
        locate_related(related_samples(*found, np.full(graph.n_vertices, np.nan)), places)


def _use_checkpoint(path: Path) -> None:
    checkpoint = Checkpoint(path.parent, _MARK)
    checkpoint.path.write_bytes(path.read_bytes())
    checkpoint.load(np)


def checkpoints(folder: Path) -> list[bytes]:
    """Return checkpoints after the first graph and after the last, of reads of one genome."""
    reads = Reads.from_strings(simulated_texts(simulated_genome(length=400, repeat_length=100), fold=15, length=60))
    found, checkpoint = [], Checkpoint(folder, _MARK)
    for stage in ("first-graph", "pairs"):
        state = assemble(reads, AssemblyOptions(k=(31, 41), stop_after=stage)).state
        assert state
        checkpoint.save(state)
        found.append(checkpoint.path.read_bytes())
    return found


TARGETS = {
    "state of geolocate": Target(_KIND, _use_state, states),
    "compared samples": Target(_KIND, _use_compared, compared),
    "trained map": Target(_KIND, _use_map, maps),
    "map of contigs": Target(_KIND, _use_contig_map, _contig_maps),
    "checkpoint": Target(_KIND, _use_checkpoint, checkpoints),
}
