"""The state of an assembly between two values of k, and its conversion to plain arrays for a checkpoint, and back."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuasm.arrays import Array, to_host, to_namespace
from gpuasm.assembly.coverage.graph_depth import window_weight
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.links import SpanningPairs
from gpuasm.kmers.spectrum import Spectrum
from gpuasm.primitives.runs import run_bounds
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class AssemblyState:
    """All that an assembly needs after the graph of one k to continue.

    Attributes
    ----------
    k_values : tuple of int
        All values of k of the assembly.
    lengths : (max + 1,) int64
        How many reads there are of each length.
    spectrum : Spectrum
    removed : dict
        For each k so far, the numbers of unitigs that each clean-up rule removed.
    kmer_graph : KmerGraph
        The cleaned graph of the last k so far.
    junction_reads : Reads
        The reads that span its junctions; after the last k, those of the k before. Fragments have the numbers that
        `gpuasm.assembly.paths.pseudo_long_reads.number_of_fragment` gives their pairs.
    names : (32 * packed.size,) int32
        Names of their windows at the k of the graph; after the last k only while fragments are awaited.
    n_bases : int
        Bases of all reads behind the depths of the first graph; in an isolate without the share of windows with errors.
    mode : Mode
        The mode of the sample, the same at each k.
    without : tuple of str
        Rules that are left out.
    spanning : SpanningPairs, or None
        Pairs that may link unitigs; None where there are none.
    isolated : tuple of UnitigGraph
        Isolated contigs of earlier graphs, too short for the next k.
    fragment_lengths : (max + 1,) int64, or None
        How many fragments there are of each length, once pairs are joined.
    is_joined : bool
        Whether no pair is joined any more; in a community some are joined at larger k as well.
    high_coverage_k : tuple of int
        Values of k still to come at which reads of dominant genomes are counted with fragments.
    read_weight : int
        How often each read counts among fragments, which have so many more windows of the same bases.
    is_single : (n_kmers,) bool, or None
        Which k-mers of the graph are certainly single-copy, in an isolate once pairs are joined.
    repeat_kmers : (n,) uint64, or None
        The 31-mers of repeats: see `gpuasm.assembly.coverage.copy_number`.
    """

    k_values: tuple[int, ...]
    lengths: np.ndarray
    spectrum: Spectrum
    removed: dict[int, dict[str, int]]
    kmer_graph: KmerGraph
    junction_reads: Reads
    names: Array
    n_bases: int
    mode: Mode = ISOLATE
    without: tuple[str, ...] = ()
    spanning: SpanningPairs | None = None
    isolated: tuple[UnitigGraph, ...] = ()
    fragment_lengths: np.ndarray | None = None
    is_joined: bool = False
    high_coverage_k: tuple[int, ...] = ()
    read_weight: int = 1
    is_single: Array | None = None
    repeat_kmers: Array | None = None

    @property
    def rules(self) -> frozenset[str]:
        """The rules of the mode but those that the user leaves out."""
        return self.mode.rules(self.without)

    @property
    def has_fragments(self) -> bool:
        """Whether pairs are joined to fragments already, all or some."""
        return self.fragment_lengths is not None

    @property
    def waits_for_fragments(self) -> bool:
        """Whether there are pairs, and some of them may still be joined."""
        return self.spanning is not None and not self.is_joined

    @property
    def counted_lengths(self) -> np.ndarray:
        """How many of the counted sequences have each length: reads, or fragments once pairs are joined."""
        return self.lengths if self.fragment_lengths is None else self.fragment_lengths

    def window_weight(self, k: int) -> int:
        """Return the weight of a window of k bases in these sequences, in units."""
        return window_weight(self.counted_lengths, k, n_bases=self.n_bases)

    @property
    def remaining(self) -> tuple[int, ...]:
        """The values of k still to come."""
        return tuple(k for k in self.k_values if k > self.kmer_graph.graph.k)

    @property
    def k_done(self) -> tuple[int, ...]:
        """The values of k so far."""
        return tuple(k for k in self.k_values if k <= self.kmer_graph.graph.k)

    def without_windows(self) -> AssemblyState:
        """Return the state without what only the next k needs: names of windows, and junction-spanning reads."""
        reads = self.junction_reads
        return replace(
            self,
            kmer_graph=self.kmer_graph.without_windows(),
            junction_reads=replace(reads.select(slice(0)), packed=reads.packed[:1].copy()),
            names=self.names[:32].copy(),
        )


_GRAPH = ("start", "count", "is_circular", "arc_start", "arc_to", "arc_count")
_READS = ("packed", "start", "length", "read")
_PLAIN = ("k_values", "n_bases", "without", "is_joined", "high_coverage_k", "read_weight")
"""Attributes that are numbers, or tuples of numbers or texts."""


def state_to_arrays(state: AssemblyState) -> dict[str, np.ndarray]:
    """Return host arrays that hold a state, without indices that can be rebuilt; what is large takes few bits."""
    kmer_graph, spectrum = state.kmer_graph, state.spectrum
    scalars = {name: getattr(state, name) for name in _PLAIN} | {
        "k": kmer_graph.graph.k,
        "unit": kmer_graph.graph.unit,
        "removed": state.removed,
        "n_reads": state.junction_reads.n_reads,
        "mode": vars(state.mode),
        "n_pairs": state.spanning.n_pairs if state.spanning else 0,
        "bases_per_pair": state.spanning.inserts.bases_per_pair if state.spanning else 0,
        "isolated": [graph.k for graph in state.isolated],
        "spectrum": {name: value for name, value in vars(spectrum).items() if name != "histogram"},
        "n_classes": spectrum.histogram.size,
    }
    graphs = {"graph": kmer_graph.graph} | {f"isolated_{number}": graph for number, graph in enumerate(state.isolated)}
    arrays = {f"{prefix}_{name}": getattr(graph, name) for prefix, graph in graphs.items() for name in _GRAPH}
    arrays |= {f"{prefix}_bases": _four_in_a_byte(graph.bases) for prefix, graph in graphs.items()}
    arrays |= {f"junction_reads_{name}": to_host(getattr(state.junction_reads, name)) for name in _READS}
    if state.is_single is not None:
        arrays["is_single"] = np.packbits(to_host(state.is_single))
    some = {name: getattr(state, name) for name in ("fragment_lengths", "repeat_kmers")}
    arrays |= {name: to_host(value) for name, value in some.items() if value is not None}
    if state.spanning:
        arrays |= {f"spanning_{name}": to_host(getattr(state.spanning.reads, name)) for name in _READS}
        arrays["inserts"] = state.spanning.inserts.histogram
    arrays["name_step"], arrays["name_run"] = _equal_steps(to_host(state.names))
    arrays |= {"lengths": state.lengths, "histogram": np.trim_zeros(spectrum.histogram, "b")}
    arrays["scalars"] = np.array(json.dumps(scalars))
    return arrays


def state_from_arrays(arrays: dict[str, np.ndarray], xp: Any) -> AssemblyState:
    """Return the state that `state_to_arrays` converted, with arrays of namespace ``xp``."""
    scalars = json.loads(str(arrays["scalars"]))

    def graph_of(prefix: str, k: int) -> UnitigGraph:
        rows = {name: arrays[f"{prefix}_{name}"] for name in _GRAPH}
        bases = _four_of_each_byte(arrays[f"{prefix}_bases"], int(rows["start"][-1]))
        return UnitigGraph(k=k, unit=scalars["unit"], bases=bases, **rows)

    graph = graph_of("graph", scalars["k"])
    names = np.cumsum(np.repeat(arrays["name_step"], arrays["name_run"]), dtype=np.int32)
    is_single, repeat_kmers = arrays.get("is_single"), arrays.get("repeat_kmers")
    if is_single is not None:
        is_single = to_namespace(xp, np.unpackbits(is_single, count=int(graph.n_kmers.sum())).astype(bool))
    junction_reads = _reads_of(arrays, "junction_reads", xp, scalars["n_reads"])
    spanning, histogram = None, np.zeros(scalars["n_classes"], np.int64)
    histogram[: arrays["histogram"].size] = arrays["histogram"]
    if scalars["n_pairs"]:
        pairs = _reads_of(arrays, "spanning", xp, arrays["spanning_start"].size)
        spanning = SpanningPairs(pairs, InsertSizes(arrays["inserts"], scalars["bases_per_pair"]), scalars["n_pairs"])
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in scalars.items()
    }
    return AssemblyState(
        **{name: plain[name] for name in _PLAIN},
        lengths=arrays["lengths"],
        spectrum=Spectrum(histogram=histogram, **scalars["spectrum"]),
        removed={int(k): counts for k, counts in scalars["removed"].items()},
        kmer_graph=KmerGraph.of(graph, xp),
        junction_reads=junction_reads,
        names=to_namespace(xp, names),
        mode=Mode(**scalars["mode"]),
        spanning=spanning,
        fragment_lengths=arrays.get("fragment_lengths"),
        is_single=is_single,
        repeat_kmers=None if repeat_kmers is None else to_namespace(xp, repeat_kmers),
        isolated=tuple(graph_of(f"isolated_{number}", k) for number, k in enumerate(scalars["isolated"])),
    )


def _four_in_a_byte(bases: np.ndarray) -> np.ndarray:
    """Pack (n,) uint8 codes of bases, four in each uint8."""
    return np.packbits(np.stack([bases >> 1, bases & 1], axis=1))


def _four_of_each_byte(packed: np.ndarray, n: int) -> np.ndarray:
    """Return the (n,) uint8 codes that `_four_in_a_byte` packed."""
    high, low = np.unpackbits(packed, count=2 * n).reshape(-1, 2).T
    return 2 * high + low


def _equal_steps(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the runs of equal differences between names, the first from 0: (n,) int32 and how long each is, int64.

    Names of consecutive windows differ by 2, positions without a window have the same name.
    """
    step = names.copy()
    step[1:] -= names[:-1]  # modulo 2^32, as their sums are
    bounds = run_bounds(step)
    return step[bounds[:-1]], np.diff(bounds)


def _reads_of(arrays: dict[str, np.ndarray], prefix: str, xp: Any, n_reads: int) -> Reads:
    return Reads(**{name: to_namespace(xp, arrays[f"{prefix}_{name}"]) for name in _READS}, n_reads=n_reads)
