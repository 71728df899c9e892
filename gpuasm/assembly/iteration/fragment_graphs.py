"""Graphs of k beyond the reads: join pairs to fragments, and choose the values of k at which fragments are counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.coverage.copy_number import are_surely_single, find_repeat_kmers, local_depth
from gpuasm.assembly.coverage.graph_depth import high_coverage_depth, low_coverage_depth, typical_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.iteration.junction_reads import select_named_junction_reads
from gpuasm.assembly.pairs.links import SpanningPairs
from gpuasm.assembly.parameters import ITERATION
from gpuasm.assembly.paths.pseudo_long_reads import JoinedPairs, join_mates, number_of_fragment
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.primitives.counting import count_true
from gpuasm.primitives.runs import numbers_of_ranges
from gpuasm.sequence.reads import Reads, count_windows
from gpuasm.stages import Stages


def dense_k_values(k_values: tuple[int, ...], lengths: np.ndarray, *, depth: float) -> tuple[int, ...]:
    """Return the values of k at which reads have enough windows; at the others fragments are used.

    There are ``lengths`` reads of each length, and ``depth`` bases of them over each base of single-copy sequence.
    """
    n_bases = count_windows(lengths, 1)
    windows = {k: depth * count_windows(lengths, k) / n_bases for k in k_values[1:]}
    least, of_small = ITERATION.dense_windows, ITERATION.dense_windows_small_k
    dense = [k for k, each in windows.items() if each >= (of_small if k <= ITERATION.tangled_k else least)]
    return (k_values[0], *dense)


def k_values_of_reads(
    k_values: tuple[int, ...],
    graph: UnitigGraph,
    spanning: SpanningPairs,
    *,
    lengths: np.ndarray,
    is_one_organism: bool,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the values of k of the reads before pairs are joined, and those of high-coverage reads after it.

    In a community the minor genomes decide: at larger k their reads lack windows, so junctions are lost, and fragments
    resolve the others as well. But a first graph of k = 21 is so tangled that few pairs have a unique path, and some
    a wrong one. So reads whose pairs are not joined there are passed on, and their pairs are joined at larger k.

    ``k_values`` are all that reads could have, ``graph`` is that of the first k, and there are ``lengths`` reads of
    each length. Of one organism there are no high-coverage reads. Where fragments are too few or too short to replace
    reads, all values of k are returned, and none.
    """
    depth, high_coverage_k = typical_depth(graph), tuple[int, ...]()
    dense = dense_k_values(k_values, lengths, depth=depth if is_one_organism else low_coverage_depth(graph))
    if not is_one_organism:
        dense = k_values[: max(ITERATION.community_least_k_values, len(dense))]
        of_dominant = dense_k_values(_with_last_of_tangles(k_values), lengths, depth=high_coverage_depth(graph))
        high_coverage_k = tuple(k for k in of_dominant if k > dense[-1])
    n_bases = count_windows(lengths, 1)
    longer = choose_longer_k(dense[-1], fragment_lengths(spanning), depth=depth, n_bases=n_bases)
    return (dense, high_coverage_k) if longer and longer[-1] >= k_values[-1] else (k_values, ())


def _with_last_of_tangles(k_values: tuple[int, ...]) -> tuple[int, ...]:
    """Return the values of k, with the last one in the range of tangled graphs, if none of them is near it."""
    last = ITERATION.tangled_k - 1
    is_near = any(last - ITERATION.shortest_k_step < k <= last for k in k_values)
    return k_values if is_near or not k_values[0] < last < k_values[-1] else tuple(sorted((*k_values, last)))


def with_fragments(state: AssemblyState, stages: Stages) -> AssemblyState:
    """Join pairs in the last graph of the reads, and add the values of k that the fragments reach.

    In a community the next value of k is one of the high-coverage reads, which are counted with these fragments, and
    the remaining pairs are joined there. In other samples pairs are joined once.
    """
    spanning, k = state.spanning, state.kmer_graph.graph.k
    if spanning is None or state.is_joined:
        return state
    following, high_coverage_k = state.high_coverage_k[:1], state.high_coverage_k[1:]
    number = state.junction_reads.read
    with stages.stage("join mates", k=k) as stage:
        fragments = join_mates(
            spanning.reads,
            spanning.inserts,
            state.kmer_graph,
            mode=state.mode,
            without=state.without,
            done=number_of_fragment(number[number < -1]) if state.has_fragments else None,
        )
        stage.note(**fragments.counts)
        is_single, repeat_kmers = _copy_number_kmers(state, bases_per_read=spanning.inserts.bases_per_pair / 2)
        if is_single is not None:
            stage.note(single_kmers=count_true(is_single))
    lengths = fragment_lengths(spanning)
    n_bases = count_windows(state.lengths, 1)
    longer = choose_longer_k(k, lengths, depth=typical_depth(state.kmer_graph.graph), n_bases=n_bases)
    read_weight = _read_weight(state.lengths, lengths, (following or longer or (k,))[0], is_rounded=bool(following))
    junction_reads, names = _add_other_pairs(fragments, state, drops_reads=read_weight == 0)
    return replace(
        state,
        k_values=(*state.k_values, *(following or longer)),
        fragment_lengths=lengths,
        is_joined=not following,
        high_coverage_k=high_coverage_k,
        read_weight=max(1, read_weight),
        junction_reads=junction_reads,
        names=names,
        is_single=is_single,
        repeat_kmers=repeat_kmers,
    )


def _copy_number_kmers(state: AssemblyState, *, bases_per_read: float) -> tuple[Array | None, Array | None]:
    """Return which k-mers of the last graph of reads are certainly single-copy, and the 31-mers of repeats.

    Both are None where the rule is not applied.
    """
    if "copy-number" not in state.rules:
        return None, None
    graph, xp = state.kmer_graph.graph, array_namespace(state.kmer_graph.rows.blocks)
    copy = local_depth(graph)
    are_single = are_surely_single(graph, copy, bases_per_read=bases_per_read)
    is_single = to_namespace(xp, np.repeat(are_single, graph.n_kmers))
    return is_single, find_repeat_kmers(graph, copy, bases_per_read=bases_per_read, xp=xp)


def _read_weight(reads: np.ndarray, fragments: np.ndarray, k: int, *, is_rounded: bool) -> int:
    """Return how often a read counts among fragments, which have so many more windows of the same bases.

    0 where reads have no windows at all. The number is rounded down, so that the few remaining reads do not outweigh
    the fragments; where all reads of dominant genomes remain, it is rounded to the nearest.
    """
    windows = count_windows(reads, k)
    more = windows // 2 if is_rounded else 0
    return max(1, min(ITERATION.most_read_weight, (count_windows(fragments, k) + more) // windows)) if windows else 0


def _add_other_pairs(fragments: JoinedPairs, state: AssemblyState, *, drops_reads: bool) -> tuple[Reads, Array]:
    """Return the fragments, and the junction-spanning reads and earlier fragments of all other pairs.

    In a tangle, as between repeat copies, no pair may be joined, and only these reads support its edges. Without them
    a copy would have a dead end, or the continuation of another copy.
    """
    xp, number = array_namespace(state.names), state.junction_reads.read
    is_replaced = (number >= 0) & (drops_reads | xp.isin(number // 2, fragments.whole_pairs))
    others = state.junction_reads.select(xp.flatnonzero(~is_replaced))
    others, names = _repacked(select_named_junction_reads(others, state.names, state.kmer_graph), state.names)
    text = fragments.reads.followed_by(others)
    return replace(text, n_reads=text.n_segments), xp.concatenate([fragments.names, names])


def _repacked(reads: Reads, names: Array) -> tuple[Reads, Array]:
    """Return the reads, each segment from a new uint64 on, without bases of others, and the names of their windows."""
    n_blocks = (reads.length.astype(np.int64) + 31) // 32
    block, _ = numbers_of_ranges(reads.start // 32, n_blocks)
    own = replace(reads, packed=reads.packed[block], start=32 * (array_namespace(names).cumsum(n_blocks) - n_blocks))
    return own, names.reshape(-1, 32)[block].ravel()


def fragment_lengths(spanning: SpanningPairs) -> np.ndarray:
    """Return how many fragments of each length the sample has: the measured numbers, scaled to all pairs."""
    return spanning.inserts.histogram * spanning.n_pairs // spanning.inserts.n


def choose_longer_k(k: int, lengths: np.ndarray, *, depth: float, n_bases: int) -> tuple[int, ...]:
    """Choose values of k above that of the reads' last graph, as long as fragments have enough windows.

    There are ``lengths`` fragments of each length, ``n_bases`` bases in all reads, and ``depth`` of them over each base
    of single-copy sequence.
    """
    if 2 * k - 1 <= MAX_PLAIN_K:
        return ()  # only k-mers of up to 2 k bases can be named, and no second k is so small
    last = k
    while depth * count_windows(lengths, last + 2) / max(1, n_bases) >= ITERATION.least_fragment_windows:
        last += 2
    chosen = []
    while last - k >= ITERATION.shortest_k_step:
        k = min(k + ITERATION.longest_k_step, 2 * k - 1, last)
        chosen.append(k)
    return tuple(k for k in chosen if k > MAX_PLAIN_K)  # one that is not would be the only one
