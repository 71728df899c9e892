"""From the graph of one k to that of the next."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np

from gpuasm.assembly.carrying.carrying import Text, next_text, set_carried, too_short_to_carry
from gpuasm.assembly.carrying.contradicted import (
    contradicted_by_fragments,
    contradicted_flanks,
    improbable_flanks,
    without_flanks,
)
from gpuasm.assembly.carrying.crossing import crossing_named_reads
from gpuasm.assembly.carrying.single_words import single_at_ends, single_windows
from gpuasm.assembly.cleaning.cleaning import clean, note_clean
from gpuasm.assembly.graph.debruijn import find_neighbours
from gpuasm.assembly.graph.depth_units import UNIT, count_windows, scale, window_worth
from gpuasm.assembly.graph.levels import make_level, vertices_along
from gpuasm.assembly.graph.local_depth import SINGLE, local_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.graph.unitigs import build_unitigs
from gpuasm.assembly.pairs.joining import with_reads_counted
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.names import Dictionary, name_windows
from gpuasm.kmers.tally import Tally, tally_kmers
from gpuasm.primitives.counting import count_true
from gpuasm.stages import Stage, Stages

_THREE_FRAGMENTS = 2.75
"""Windows a position that tell three fragments from two."""


def climb(state: AssemblyState, k: int, stages: Stages) -> AssemblyState:
    """Build the graph of the next k from the one before."""
    before, k0 = state.level, state.level.graph.k
    with stages.stage("count k-mers", k=k) as stage:
        counted = with_reads_counted(state.crossing, state.read_times)
        kind = {"is_isolate": state.mode.is_isolate, "is_population": state.mode.is_population}
        text = next_text(counted, state.names, before, k=k, goes_through=_goes_through(state), **kind)
        tally = tally_kmers(text.reads, k, text.names, k0=k0, in_text_order=True)
        stage.note(distinct=tally.n)
        if _goes_through(state):
            stage.note(short_ways=text.flanks.n_through)
    with stages.stage("build graph", k=k) as stage:
        tally, dictionary = _kept(text, tally, state, stage)
        neighbour = find_neighbours(text.reads.words, tally, dictionary, lower=before.neighbour, min_follow=1)
        state = replace(state, level=before.graph_only())  # what is not needed is freed, each before the next is made
        del before, dictionary
        unitigs = build_unitigs(text.reads.words, tally, neighbour, unit=UNIT)
        del neighbour
        tally = tally.without_followers()
        stage.note(unitigs=unitigs.graph.n)
    with stages.stage("clean graph", k=k) as stage:
        graph, pieces, removed = clean(
            unitigs.graph,
            mode=state.mode,
            without=state.without,
            reach=state.ladder[0],
            shown_from=_shown_from(state, k),
            are_read=not state.has_fragments,
            merged=sum(of_one["similar_ways"] for of_one in state.removed.values()),
        )
        note_clean(stage, graph, removed)
        level = make_level(unitigs, tally, (graph, pieces), k0=k0)
        is_single = state.is_single
        if is_single is not None:
            is_single = single_windows(text, tally, is_single, k=k0)[vertices_along(unitigs, pieces) >> 1]
    crossing, names = state.crossing, state.names
    if k != state.ladder[-1]:
        with stages.stage("find reads across junctions", k=k) as stage:
            names = name_windows(crossing, level.dictionary, names)
            crossing = crossing_named_reads(crossing, names, level)
            stage.note(reads=crossing.n_pieces)
    return replace(
        state,
        level=level,
        crossing=crossing,
        names=names,
        removed={**state.removed, k: asdict(removed)},
        set_aside=_set_aside(state, k),
        is_single=is_single,
    )


def _goes_through(state: AssemblyState) -> bool:
    """Tell whether flanks go on through short unitigs: beyond the reads, as each place has few fragments."""
    return state.mode.is_isolate and state.has_fragments and "short-ways" not in state.without


def _set_aside(state: AssemblyState, k: int) -> tuple[UnitigGraph, ...]:
    """Return what stays as it is, that which is too short for this k among it."""
    if "set-aside" in state.without:
        return state.set_aside
    graph = state.level.graph
    window = window_worth(state.piece_lengths, graph.k, n_bases=state.n_bases) / UNIT
    return (*state.set_aside, too_short_to_carry(graph, k, window=window))


def _shown_from(state: AssemblyState, k: int) -> float:
    """Return the depth from which no unitig is removed: that of three fragments, once pairs are joined.

    Fragments are spelled from a cleaned graph, so errors of reads are not in them. And how many there are of a copy of
    a repeat depends on which of its pairs could be joined: that others are many times as deep says nothing against it.
    In a population errors may be in the graph still: they are as deep as its rarer variants.
    """
    holds = state.is_joined and state.mode.tells_copies and "fragments-stay" not in state.without
    return _THREE_FRAGMENTS * window_worth(state.piece_lengths, k, n_bases=state.n_bases) / UNIT if holds else np.inf


def _kept(text: Text, tally: Tally, state: AssemblyState, stage: Stage) -> tuple[Tally, Dictionary]:
    """Scale a tally, give what is carried its depth, and drop k-mers that are neither carried nor frequent enough.

    All this happens in the tally's own memory: it is used up.

    Both halves of a k-mer are solid already, so one occurrence suffices, unless the reads are so deep that errors
    meet: the solid threshold of the first k, halved, and lowered as windows become fewer.
    """
    first, k0 = state.ladder[0], state.level.graph.k
    windows = count_windows(state.piece_lengths, tally.k), max(1, count_windows(state.piece_lengths, first))
    least = max(1, state.spectrum.threshold * windows[0] // (2 * windows[1]))
    dictionary = Dictionary.of(tally.keys, k=tally.k, k0=k0)
    is_frequent = tally.count >= least
    checks_flanks = "contradicted-flanks" not in state.without
    if checks_flanks:
        given_up = _contradicted(text, tally, dictionary, state)
        text, gone = without_flanks(text, given_up, tally, dictionary)
        is_frequent &= ~gone
        stage.note(flanks_given_up=int(given_up.sum()))
    is_kept = is_frequent.astype(np.uint8)
    worth = window_worth(state.piece_lengths, tally.k, n_bases=state.n_bases)
    scale(tally, worth)
    cuts_flanks = not state.has_fragments and not (checks_flanks and state.mode.is_isolate)
    set_carried(text, tally, dictionary, is_kept=is_kept, worth=worth, cuts_flanks=cuts_flanks)
    if least == 1 and count_true(is_kept) == is_kept.size:
        return tally, dictionary
    tally = tally.narrowed(is_kept == 1)
    return tally, Dictionary.of(tally.keys, k=tally.k, k0=k0)


def _contradicted(text: Text, tally: Tally, dictionary: Dictionary, state: AssemblyState) -> np.ndarray:
    """Return which flanks reads contradict, or fragments where depth tells copies: (n_flanks,) bool.

    Which pairs are joined is no chance, so among fragments nothing tells what chance leaves without.
    """
    graph, n_bases = state.level.graph, state.n_bases
    per_base = count_windows(state.lengths, tally.k) / n_bases
    if state.mode.is_isolate and not state.has_fragments:
        n_reads = int(state.lengths[tally.k :].sum())
        return improbable_flanks(
            text, tally, dictionary, graph, windows_per_base=per_base, reads_per_base=n_reads / n_bases
        )
    is_community = not state.mode.is_one_organism and "foreign-ways" not in state.without
    by_reads = contradicted_flanks(text, tally, dictionary, graph, windows_per_base=per_base, is_community=is_community)
    if state.spanning is None or not (state.is_joined and state.mode.tells_copies):
        return by_reads
    # Within a fragment's length of a repeat, a unitig's own depth may be that of the copies whose pairs were joined.
    is_long = graph.length > state.spanning.inserts.longest
    is_single = is_long & (graph.depth <= SINGLE * local_depth(graph, is_isolate=state.mode.is_isolate))
    per_base = count_windows(state.piece_lengths, tally.k) / n_bases
    single_ends = None
    if state.is_single is not None:
        single_ends = single_at_ends(text, state.is_single, k=graph.k, next_k=tally.k)
    by_fragments = contradicted_by_fragments(
        text, tally, dictionary, graph, is_single=is_single, single_ends=single_ends, windows_per_base=per_base
    )
    return by_reads | by_fragments
