"""The next k-mer graph, built from the graph of one k and its junction-spanning reads or fragments."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.coverage.copy_number import local_depth
from gpuasm.assembly.coverage.graph_depth import scale
from gpuasm.assembly.graph.kmer_graph import KmerGraph, find_next_neighbours, rename
from gpuasm.assembly.graph.unitig_graph import DEPTH_SCALE, UnitigGraph
from gpuasm.assembly.graph.unitigs import build_unitigs
from gpuasm.assembly.iteration.edge_support import (
    flank_support,
    improbable_flanks,
    unsupported_by_fragments,
    unsupported_flanks,
)
from gpuasm.assembly.iteration.junction_reads import name_next_windows, select_named_junction_reads
from gpuasm.assembly.iteration.passed_contigs import (
    Text,
    contig_names,
    copy_at_ends,
    isolated_contigs,
    link_chains,
    next_text,
    set_passed_depth,
)
from gpuasm.assembly.iteration.single_copy_kmers import name_single_copy, single_copy_ends
from gpuasm.assembly.parameters import COVERAGE, DepthModel
from gpuasm.assembly.paths.pseudo_long_reads import with_reads_counted
from gpuasm.assembly.simplification.engine import clean, note_simplified
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally
from gpuasm.primitives.counting import count_true
from gpuasm.sequence.reads import count_windows
from gpuasm.stages import Stage, Stages


def build_next_graph(state: AssemblyState, k: int, stages: Stages) -> AssemblyState:
    """Build the k-mer graph of the next k from the one before."""
    before, k0 = state.kmer_graph, state.kmer_graph.graph.k
    with stages.stage("count k-mers", k=k) as stage:
        counted = with_reads_counted(state.junction_reads, state.read_weight)
        text = next_text(counted, state.names, before, k=k)
        tally = tally_kmers(text.reads, k, text.names, k0=k0, in_text_order=True)
        stage.note(distinct=tally.n + text.n_inner)
    with stages.stage("build graph", k=k) as stage:
        tally, dictionary = _select_kmers(text, tally, state, stage)
        head, found, name_of = _link_and_compact(text, tally, dictionary, before)
        tally = tally.without_followers()
        stage.note(unitigs=found.n)
    with stages.stage("clean graph", k=k) as stage:
        graph, sources, removed = clean(
            found,
            mode=state.mode,
            without=state.without,
            reach=state.k_values[0],
            protected_depth=_protected_depth(state, k),
            are_read=not state.has_fragments,
            merged=sum(of_one["superbubbles"] for of_one in state.removed.values()),
            window=state.window_weight(k) / DEPTH_SCALE,
        )
        note_simplified(stage, graph, removed)
        rename(name_of, found, sources)
        del found
        kmer_graph = KmerGraph.of(graph, array_namespace(name_of))
        contig_name = contig_names(text, head, name_of)
        is_single = state.is_single
        if is_single is not None:
            is_single = name_single_copy(text, tally, name_of, is_single, (before, kmer_graph), contig_name)
    junction_reads, names = state.junction_reads, state.names
    is_last = k == state.k_values[-1]
    if not is_last or state.waits_for_fragments:
        with stages.stage("find reads across junctions", k=k) as stage:
            n_next = to_namespace(array_namespace(names), text.n_next)
            known = dictionary, name_of
            names = name_next_windows(junction_reads, names, (before, n_next), known, contig_name, kmer_graph)
            if not is_last:  # fragments replace reads by their numbers, of those selected before
                junction_reads = select_named_junction_reads(junction_reads, names, kmer_graph)
            stage.note(reads=junction_reads.n_segments)
    return replace(
        state,
        kmer_graph=kmer_graph,
        junction_reads=junction_reads,
        names=names,
        removed={**state.removed, k: asdict(removed)},
        isolated=_with_isolated(state, k),
        is_single=is_single,
    )


def _link_and_compact(
    text: Text, tally: Tally, dictionary: Dictionary, before: KmerGraph
) -> tuple[Array, UnitigGraph, Array]:
    """Return the first window of each passed contig as a vertex, the unitigs of the next k, and the names of k-mers."""
    neighbour = find_next_neighbours(text.reads.packed, tally, dictionary, before)
    chains, head = link_chains(neighbour, text, before.graph, tally, dictionary)
    return head, *build_unitigs(text.reads.packed, tally, neighbour, unit=DEPTH_SCALE, chains=chains)


def _with_isolated(state: AssemblyState, k: int) -> tuple[UnitigGraph, ...]:
    """Return the isolated contigs so far, with those too short for this k."""
    if "isolated-contigs" not in state.rules:
        return state.isolated
    graph = state.kmer_graph.graph
    return (*state.isolated, isolated_contigs(graph, k, window=state.window_weight(graph.k) / DEPTH_SCALE))


def _protected_depth(state: AssemblyState, k: int) -> float:
    """Return the depth from which no unitig is removed: the depth of three fragments, once pairs are joined.

    Fragments are spelled from a cleaned graph, so they are free of read errors. The depth of a repeat copy depends on
    how many of its pairs could be joined, so a much higher depth of its alternatives proves nothing. In a population
    errors may remain in the graph, at the depth of its rarer variants.
    """
    holds = state.is_joined and "fragment-support" in state.rules
    return (COVERAGE.two_reads + 1) * state.window_weight(k) / DEPTH_SCALE if holds else np.inf


def _select_kmers(text: Text, tally: Tally, state: AssemblyState, stage: Stage) -> tuple[Tally, Dictionary]:
    """Scale a tally, set the depth of passed contigs and flanks, and drop the other k-mers that are too rare.

    The tally is changed in place and must not be used afterwards.

    Both halves of a k-mer are solid already, so one occurrence suffices, unless coverage is so high that errors
    coincide: then the solid threshold of the first k, halved, and lowered as windows become fewer, applies.
    """
    first, k0 = state.k_values[0], state.kmer_graph.graph.k
    windows = count_windows(state.counted_lengths, tally.k), max(1, count_windows(state.counted_lengths, first))
    least = max(1, state.spectrum.threshold * windows[0] // (2 * windows[1]))
    dictionary = Dictionary.of(tally.keys, k=tally.k, k0=k0)
    is_kept, is_removed = (tally.count >= least).astype(np.uint8), np.zeros(text.flanks.source.size, bool)
    checks_flanks = "edge-support" in state.rules
    if checks_flanks:
        is_removed = find_unsupported(text, tally, dictionary, state)
        stage.note(flanks_removed=int(is_removed.sum()))
    weight = state.window_weight(tally.k)
    one = scale(tally, weight)
    copy, parameters = None, state.mode.parameters
    if not state.has_fragments and not (checks_flanks and parameters.edges_by_rate):
        copy = copy_at_ends(state.kmer_graph.graph, text.flanks, model=parameters.depth_model)
    set_passed_depth(text, tally, dictionary, is_kept=is_kept, is_removed=is_removed, weight=weight, one=one, copy=copy)
    if least == 1 and count_true(is_kept) == is_kept.size:
        return tally, dictionary
    tally = tally.narrowed(is_kept == 1)
    return tally, Dictionary.of(tally.keys, k=tally.k, k0=k0)


def find_unsupported(text: Text, tally: Tally, dictionary: Dictionary, state: AssemblyState) -> np.ndarray:
    """Return which flanks lack support of reads, or of fragments where depth shows copy numbers: (n_flanks,) bool.

    Which pairs are joined is not random, so missing fragments follow no distribution.
    """
    graph, n_bases, support = state.kmer_graph.graph, state.n_bases, flank_support(text, tally, dictionary)
    per_base = count_windows(state.lengths, tally.k) / n_bases
    if state.mode.parameters.edges_by_rate and not state.has_fragments:
        reads_per_base = int(state.lengths[tally.k :].sum()) / n_bases
        return improbable_flanks(text.flanks.depth, support, windows_per_base=per_base, reads_per_base=reads_per_base)
    by_reads = unsupported_flanks(text, graph, support, windows_per_base=per_base, is_community=state.mode.is_community)
    model = state.mode.parameters.depth_model
    if state.spanning is None or not state.is_joined or model is DepthModel.NONE:
        return by_reads
    # Within a fragment's length of a repeat, the depth of a unitig may depend on which pairs were joined.
    is_long = graph.length > state.spanning.inserts.longest
    is_single = is_long & (graph.depth <= COVERAGE.single_copy_ratio * local_depth(graph, model))
    single_ends = None
    if state.is_single is not None:
        single_ends = single_copy_ends(text, state.is_single, k=graph.k, next_k=tally.k)
    per_base = count_windows(state.counted_lengths, tally.k) / n_bases
    return by_reads | unsupported_by_fragments(
        text, graph, support, is_single=is_single, single_ends=single_ends, windows_per_base=per_base
    )
