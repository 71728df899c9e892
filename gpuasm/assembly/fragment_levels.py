"""Beyond the reads: pairs are joined into fragments, and fragments carry larger k than any read has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.assembly.depth_units import count_windows
from gpuasm.assembly.insert_sizes import InsertSizes
from gpuasm.assembly.joining import join_mates
from gpuasm.assembly.local_depth import typical_depth
from gpuasm.assembly.mates import SpanningPairs
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.stages import Stages

_STEP = 36
"""The next k is at most so much larger: a repeat is resolved at the least k that goes across it, by most fragments."""
_LEAST_STEP = 8
_LEAST_WINDOWS = 2.5
"""Windows that a base of single-copy sequence must begin on average, for a k to tell more than it loses."""


_DENSE = 12.0
"""Windows of reads that a base of single-copy sequence must begin, for a k to lose hardly any junction to chance."""


def dense_ladder(ladder: tuple[int, ...], lengths: np.ndarray, *, depth: float) -> tuple[int, ...]:
    """Return the values of k at which reads have windows enough: fragments do better at the others.

    Parameters
    ----------
    ladder
        All values of k that reads could have.
    lengths : (max + 1,) int64
        How many reads there are of each length.
    depth
        Bases of reads over each base of single-copy sequence.
    """
    n_bases = count_windows(lengths, 1)
    dense = [k for k in ladder[1:] if depth * count_windows(lengths, k) >= _DENSE * n_bases]
    return (ladder[0], *dense)


def with_fragments(state: AssemblyState, stages: Stages) -> AssemblyState:
    """Join pairs in the last graph so far, and let the ladder go on from there with the fragments.

    The first time the ladder is extended to what fragments reach. Pairs are joined anew in the graph of a k so much
    larger: what was a tangle at the smaller k may have one way by then.
    """
    spanning, k = state.spanning, state.level.graph.k
    if spanning is None or state.is_joined:
        return state
    with stages.stage("join mates", k=k) as stage:
        fragments = join_mates(spanning.reads, spanning.inserts, state.level)
        stage.note(
            joined=fragments.n_joined,
            pieces=fragments.reads.n_pieces,
            links=fragments.n_links,
            certain=fragments.n_certain,
            without_walk=fragments.n_without,
        )
    lengths = fragment_lengths(spanning)
    longer = choose_longer_k(k, lengths, depth=typical_depth(state.level.graph), n_bases=state.n_bases)
    return replace(
        state,
        ladder=(*state.ladder, *longer),
        lengths=lengths,
        crossing=fragments.reads,
        names=fragments.names,
        is_joined=True,
    )


def fragment_lengths(spanning: SpanningPairs) -> np.ndarray:
    """Return how many fragments of each length the sample has: as measured, scaled to all pairs."""
    inserts: InsertSizes = spanning.inserts
    return inserts.histogram * spanning.n_pairs // inserts.n


def choose_longer_k(k: int, lengths: np.ndarray, *, depth: float, n_bases: int) -> tuple[int, ...]:
    """Choose values of k above that of the reads' last graph, as long as fragments have windows enough.

    Parameters
    ----------
    k
        Of the last graph.
    lengths : (max + 1,) int64
        How many fragments there are of each length.
    depth
        Bases of reads over each base of single-copy sequence.
    n_bases
        Bases of all reads.
    """

    def windows_per_base(larger: int) -> float:
        return depth * count_windows(lengths, larger) / max(1, n_bases)

    last = k
    while windows_per_base(last + 2) >= _LEAST_WINDOWS:
        last += 2
    chosen = []
    while last - k >= _LEAST_STEP:
        k = min(k + _STEP, 2 * k - 1, last)
        chosen.append(k)
    return tuple(k for k in chosen if k > MAX_PLAIN_K)  # at most the only one is not: there is too little to go on
