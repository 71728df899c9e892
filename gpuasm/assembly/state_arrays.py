"""The state of an assembly as plain arrays, and back: what a checkpoint holds, without files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gpuasm.arrays import to_host, to_namespace
from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.carrying.mates import SpanningPairs
from gpuasm.assembly.graph.levels import Level
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.modes import Mode
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.spectrum import Spectrum
from gpuasm.sequence.reads import Reads

_GRAPH = ("bases", "start", "count", "is_circular", "arc_start", "arc_to", "arc_count")
_READS = ("words", "start", "length", "read")
_SINGLE = ("is_single", "copied")


def state_to_arrays(state: AssemblyState) -> dict[str, np.ndarray]:
    """Return host arrays that hold a state; indices that can be rebuilt are left out."""
    level, spectrum = state.level, state.spectrum
    scalars = {
        "k": level.graph.k,
        "unit": level.graph.unit,
        "k0": level.dictionary.k0,
        "ladder": state.ladder,
        "removed": state.removed,
        "n_reads": state.crossing.n_reads,
        "n_bases": state.n_bases,
        "mode": vars(state.mode),
        "without": state.without,
        "is_joined": state.is_joined,
        "deeper": state.deeper,
        "read_times": state.read_times,
        "n_pairs": state.spanning.n_pairs if state.spanning else 0,
        "bases_per_pair": state.spanning.inserts.bases_per_pair if state.spanning else 0,
        "set_aside": [graph.k for graph in state.set_aside],
        "spectrum": {name: value for name, value in vars(spectrum).items() if name != "histogram"},
    }
    arrays = {f"graph_{name}": getattr(level.graph, name) for name in _GRAPH}
    for number, graph in enumerate(state.set_aside):
        arrays |= {f"aside_{number}_{name}": getattr(graph, name) for name in _GRAPH}
    arrays |= {f"crossing_{name}": to_host(getattr(state.crossing, name)) for name in _READS}
    if state.joined_lengths is not None:
        arrays["joined_lengths"] = state.joined_lengths
    arrays |= {name: to_host(told) for name in _SINGLE if (told := getattr(state, name)) is not None}
    if state.spanning:
        arrays |= {f"spanning_{name}": to_host(getattr(state.spanning.reads, name)) for name in _READS}
        arrays["inserts"] = state.spanning.inserts.histogram
    arrays |= {"keys": to_host(level.dictionary.keys), "strand": to_host(level.strand), "names": to_host(state.names)}
    arrays |= {"lengths": state.lengths, "histogram": spectrum.histogram, "scalars": np.array(json.dumps(scalars))}
    return arrays


def state_from_arrays(arrays: dict[str, np.ndarray], xp: Any) -> AssemblyState:
    """Return the state that `state_to_arrays` put down, its arrays where namespace ``xp`` keeps them."""
    scalars = json.loads(str(arrays["scalars"]))

    def graph_of(prefix: str, k: int) -> UnitigGraph:
        return UnitigGraph(k=k, unit=scalars["unit"], **{name: arrays[f"{prefix}_{name}"] for name in _GRAPH})

    graph = graph_of("graph", scalars["k"])
    keys, strand, names = (to_namespace(xp, arrays[name]) for name in ("keys", "strand", "names"))
    crossing = _reads_of(arrays, "crossing", xp, scalars["n_reads"])
    spanning = None
    if scalars["n_pairs"]:
        pairs = _reads_of(arrays, "spanning", xp, arrays["spanning_start"].size)
        spanning = SpanningPairs(pairs, InsertSizes(arrays["inserts"], scalars["bases_per_pair"]), scalars["n_pairs"])
    return AssemblyState(
        ladder=tuple(scalars["ladder"]),
        lengths=arrays["lengths"],
        spectrum=Spectrum(histogram=arrays["histogram"], **scalars["spectrum"]),
        removed={int(k): counts for k, counts in scalars["removed"].items()},
        level=Level.of(graph, keys, strand, k0=scalars["k0"]),
        crossing=crossing,
        names=names,
        n_bases=scalars["n_bases"],
        mode=Mode(**scalars["mode"]),
        without=tuple(scalars["without"]),
        spanning=spanning,
        joined_lengths=arrays.get("joined_lengths"),
        is_joined=scalars["is_joined"],
        deeper=tuple(scalars["deeper"]),
        read_times=scalars["read_times"],
        **{name: to_namespace(xp, arrays[name]) for name in _SINGLE if name in arrays},
        set_aside=tuple(graph_of(f"aside_{number}", k) for number, k in enumerate(scalars["set_aside"])),
    )


def _reads_of(arrays: dict[str, np.ndarray], prefix: str, xp: Any, n_reads: int) -> Reads:
    return Reads(**{name: to_namespace(xp, arrays[f"{prefix}_{name}"]) for name in _READS}, n_reads=n_reads)
