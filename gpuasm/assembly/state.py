"""What an assembly knows between two values of k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array
from gpuasm.assembly.carrying.mates import SpanningPairs
from gpuasm.assembly.graph.levels import Level
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.modes import ISOLATE, Mode
from gpuasm.kmers.spectrum import Spectrum
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class AssemblyState:
    """All that an assembly knows after the graph of one k: enough to go on from.

    Attributes
    ----------
    ladder : tuple of int
        All values of k of the assembly.
    lengths : (max + 1,) int64
        How many reads there are of each length.
    spectrum : Spectrum
    removed : dict
        For each k so far, what each clean-up rule removed.
    level : Level
        The cleaned graph of the last k so far.
    crossing : Reads
        The reads that lie across its junctions; after the last k, whatever was left before it. Fragments have the
        number of their pair as `gpuasm.assembly.pairs.joining.number_of_fragment` gives it.
    names : (32 * n_words,) int32
        Names of their windows at the level's k.
    n_bases : int
        Bases of all reads, in an isolate without the share that errors take of the first graph's windows: so many are
        behind the depth that this graph tells.
    mode : Mode
        What the sample is taken for, at every k.
    without : tuple of str
        Rules that are left out.
    spanning : SpanningPairs, or None
        Pairs that may join unitigs; None where there are none.
    set_aside : tuple of UnitigGraph
        Unconnected unitigs of earlier graphs, too short for the next k.
    joined_lengths : (max + 1,) int64, or None
        How many fragments there are of each length, once pairs are joined to them.
    is_joined : bool
        Whether all pairs have had their last turn to be joined: in a community some have one in larger k as well.
    deeper : tuple of int
        Values of k that the reads of deep members still take, beside fragments.
    read_times : int
        How often each read counts among fragments, which have so many more windows of the same bases.
    is_single : (n_kmers,) bool, or None
        Which k-mers of the level are there once for certain, in an isolate once pairs are joined.
    copied : (n,) uint64, or None
        And the 31-mers of what is there twice: see `gpuasm.assembly.pairs.copied_words`.
    """

    ladder: tuple[int, ...]
    lengths: np.ndarray
    spectrum: Spectrum
    removed: dict[int, dict[str, int]]
    level: Level
    crossing: Reads
    names: Array
    n_bases: int
    mode: Mode = ISOLATE
    without: tuple[str, ...] = ()
    spanning: SpanningPairs | None = None
    set_aside: tuple[UnitigGraph, ...] = ()
    joined_lengths: np.ndarray | None = None
    is_joined: bool = False
    deeper: tuple[int, ...] = ()
    read_times: int = 1
    is_single: Array | None = None
    copied: Array | None = None

    @property
    def has_fragments(self) -> bool:
        """Whether pairs are joined to fragments already, all or some."""
        return self.joined_lengths is not None

    @property
    def waits_for_fragments(self) -> bool:
        """Whether there are pairs, and not all of them have had their turn to be joined."""
        return self.spanning is not None and not self.is_joined

    @property
    def piece_lengths(self) -> np.ndarray:
        """How many pieces there are of each length of what the next k is counted in: reads, or fragments."""
        return self.lengths if self.joined_lengths is None else self.joined_lengths

    @property
    def remaining(self) -> tuple[int, ...]:
        """The values of k still to come."""
        return tuple(k for k in self.ladder if k > self.level.graph.k)

    @property
    def climbed(self) -> tuple[int, ...]:
        """The values of k so far."""
        return tuple(k for k in self.ladder if k <= self.level.graph.k)
