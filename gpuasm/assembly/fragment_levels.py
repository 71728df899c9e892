"""Beyond the reads: pairs are joined into fragments, and fragments carry larger k than any read has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.carrying.crossing import crossing_named_reads
from gpuasm.assembly.carrying.mates import SpanningPairs
from gpuasm.assembly.graph.depth_units import count_windows
from gpuasm.assembly.graph.local_depth import deep_depth, local_depth, thin_depth, typical_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.beginnings import are_surely_single
from gpuasm.assembly.pairs.copied_words import copied_words
from gpuasm.assembly.pairs.joining import JoinedPairs, join_mates, number_of_fragment
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.names import name_windows
from gpuasm.primitives.counting import count_true
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages

_STEP = 36
"""The next k is at most so much larger: a repeat is resolved at the least k that goes across it, by most fragments."""
_LEAST_STEP = 8
_LEAST_WINDOWS = 2.5
"""Windows that a base of single-copy sequence must begin on average, for a k to tell more than it loses."""

_MOST_TIMES = 16
"""A read counts at most so many times among fragments: then it has hardly a window left."""
_DENSE = 12.0
"""Windows of reads that a base of single-copy sequence must begin, for a k to lose hardly any junction to chance."""
_TANGLED, _DENSE_ENOUGH = 100, 6.0
"""Up to this k half as many do: pairs find few ways in the tangles that a smaller k leaves, and most of them wrong."""

_FEWEST_OF_MANY = 2
"""Values of k that the reads of a community take at least."""


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
    windows = {k: depth * count_windows(lengths, k) / n_bases for k in ladder[1:]}
    dense = [k for k, each in windows.items() if each >= _least_windows(k)]
    return (ladder[0], *dense)


def ladder_of_reads(
    ladder: tuple[int, ...], graph: UnitigGraph, spanning: SpanningPairs, *, lengths: np.ndarray, is_one_organism: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the values of k to take with reads before fragments take their place: of the thin, and of the deep.

    In a community the thin members decide: their reads have no windows at values of k that suit the others, and miss
    junctions for good, while fragments tell the others as much. But in a first graph of 21 bases so much is tangled
    that hardly a pair has one way, and some a wrong one. So what no pair is joined over in the graph that suits thin
    members goes on as reads, and its pairs are joined in graphs of larger k.

    Parameters
    ----------
    ladder
        All values of k that reads could have.
    graph
        Of the first k.
    spanning
        What is known of the pairs.
    lengths : (max + 1,) int64
        How many reads there are of each length.
    is_one_organism
        Whether there are no members: an isolate, or the variants of a population.

    Returns
    -------
    The values of k before any pair is joined, and those at which reads of deep members go on beside fragments: none of
    one organism. The whole ladder, and none, where fragments are too few, or too short, to take
    the place of reads.
    """
    depth, deeper = typical_depth(graph), tuple[int, ...]()
    dense = dense_ladder(ladder, lengths, depth=depth if is_one_organism else thin_depth(graph))
    if not is_one_organism:
        dense = ladder[: max(_FEWEST_OF_MANY, len(dense))]
        deep = dense_ladder(_with_last_of_tangles(ladder), lengths, depth=deep_depth(graph))
        deeper = tuple(k for k in deep if k > dense[-1])
    n_bases = count_windows(lengths, 1)
    longer = choose_longer_k(dense[-1], fragment_lengths(spanning), depth=depth, n_bases=n_bases)
    return (dense, deeper) if longer and longer[-1] >= ladder[-1] else (ladder, ())


def _with_last_of_tangles(ladder: tuple[int, ...]) -> tuple[int, ...]:
    """Return the values of k and the last one up to which fewer windows are enough, if none of them is near it."""
    last = _TANGLED - 1
    is_near = any(last - _LEAST_STEP < k <= last for k in ladder)
    return ladder if is_near or not ladder[0] < last < ladder[-1] else tuple(sorted((*ladder, last)))


def with_fragments(state: AssemblyState, stages: Stages) -> AssemblyState:
    """Join pairs in the last graph of the reads, and extend the ladder to what the fragments reach.

    In a community the ladder goes on to the next k of the reads of deep members, beside these fragments, and pairs that
    could not be joined have another turn there. Elsewhere pairs are joined once: joined anew in the graphs of larger k,
    they changed the contigs of twelve samples by nothing.
    """
    spanning, k = state.spanning, state.level.graph.k
    if spanning is None or state.is_joined:
        return state
    following, deeper = state.deeper[:1], state.deeper[1:]
    number = state.crossing.read
    with stages.stage("join mates", k=k) as stage:
        fragments = join_mates(
            spanning.reads,
            spanning.inserts,
            state.level,
            mode=state.mode,
            without=state.without,
            done=number_of_fragment(number[number < -1]) if state.has_fragments else None,
        )
        stage.note(
            joined=fragments.n_joined,
            pieces=fragments.reads.n_pieces,
            links=fragments.n_links,
            certain=fragments.n_certain,
            without_walk=fragments.n_without,
            mixed=fragments.n_mixed,
        )
        is_single, copied = _told_by_depth(state, bases_per_read=spanning.inserts.bases_per_pair / 2)
        if is_single is not None:
            stage.note(single_kmers=count_true(is_single))
    lengths = fragment_lengths(spanning)
    n_bases = count_windows(state.lengths, 1)
    longer = choose_longer_k(k, lengths, depth=typical_depth(state.level.graph), n_bases=n_bases)
    times = _times(state.lengths, lengths, (following or longer or (k,))[0], is_rounded=bool(following))
    crossing, names = _with_reads(fragments, state, drops_reads=times == 0)
    return replace(
        state,
        ladder=(*state.ladder, *(following or longer)),
        joined_lengths=lengths,
        is_joined=not following,
        deeper=deeper,
        read_times=max(1, times),
        crossing=crossing,
        names=names,
        is_single=is_single,
        copied=copied,
    )


def _told_by_depth(state: AssemblyState, *, bases_per_read: float) -> tuple[Array | None, Array | None]:
    """Return which k-mers of the reads' last graph are there once for certain, and the words of what is there twice.

    None for each that is left out, and for both where one copy has no one depth.
    """
    if not state.mode.is_isolate:
        return None, None
    graph, unitig_of = state.level.graph, state.level.unitig_of
    xp, copy, is_single, copied = array_namespace(unitig_of), local_depth(graph), None, None
    if "single-words" not in state.without:
        is_single = to_namespace(xp, are_surely_single(graph, copy, bases_per_read=bases_per_read))[unitig_of]
    if "copied-words" not in state.without:
        copied = to_namespace(xp, copied_words(graph, copy, bases_per_read=bases_per_read))
    return is_single, copied


def _least_windows(k: int) -> float:
    return _DENSE_ENOUGH if k <= _TANGLED else _DENSE


def _times(reads: np.ndarray, fragments: np.ndarray, k: int, *, is_rounded: bool) -> int:
    """Return how often a read must count among fragments, which have so many more windows of the same bases.

    0 where reads have no windows at all. Rounded down, what few reads are left do not outweigh the fragments; where all
    of deep members go on as reads, to the nearest number.
    """
    windows = count_windows(reads, k)
    more = windows // 2 if is_rounded else 0
    return max(1, min(_MOST_TIMES, (count_windows(fragments, k) + more) // windows)) if windows else 0


def _with_reads(fragments: JoinedPairs, state: AssemblyState, *, drops_reads: bool) -> tuple[Reads, Array]:
    """Return fragments, and what crosses junctions of all other pairs: reads, and fragments of before.

    Where a tangle lets no pair be joined, as between copies of a repeat, these reads alone tell its turns: without them
    a copy would end, or seem to go on as another does.
    """
    reads, xp, number = fragments.reads, array_namespace(state.names), state.crossing.read
    goes = (number >= 0) & (drops_reads | xp.isin(number // 2, fragments.told))
    others = state.crossing.select(xp.flatnonzero(~goes))
    names = name_windows(others, state.level.dictionary, state.names)
    others, names = _alone(crossing_named_reads(others, names, state.level), names)
    n = reads.n_pieces + others.n_pieces
    text = Reads(
        words=xp.concatenate([reads.words, others.words]),
        start=xp.concatenate([reads.start, others.start + 32 * reads.words.size]),
        length=xp.concatenate([reads.length, others.length]),
        read=xp.concatenate([reads.read, others.read]),
        n_reads=n,
    )
    return text, xp.concatenate([fragments.names, names])


def _alone(reads: Reads, names: Array) -> tuple[Reads, Array]:
    """Return pieces, each from a fresh word on, with words and names of their own."""
    xp = array_namespace(names)
    n_words = (reads.length.astype(np.int64) + 31) // 32
    end = xp.cumsum(n_words)
    place = xp.arange(int(end[-1]) if reads.n_pieces else 0, dtype=np.int64)
    piece = xp.searchsorted(end, place, side="right")
    word = (reads.start // 32 - (end - n_words))[piece] + place
    own = replace(reads, words=reads.words[word], start=32 * (end - n_words))
    return own, names.reshape(-1, 32)[word].ravel()


def fragment_lengths(spanning: SpanningPairs) -> np.ndarray:
    """Return how many fragments of each length the sample has: as measured, scaled to all pairs."""
    return spanning.inserts.histogram * spanning.n_pairs // spanning.inserts.n


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
