"""The next graph from windows near junctions only, compared with plain Python on all windows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.assembly.graph.compaction import SourceUnitigs
from gpuasm.assembly.graph.kmer_graph import KmerGraph, rename
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.iteration.junction_reads import name_next_windows
from gpuasm.assembly.iteration.next_graph import _link_and_compact
from gpuasm.assembly.iteration.passed_contigs import contig_names, next_text
from gpuasm.assembly.iteration.single_copy_kmers import name_single_copy
from gpuasm.assembly.iteration.spelling import n_next_windows
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.simplification.engine import clean
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.names import Dictionary
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles import unitigs as oracle
from tests.oracles.kmers import canonical, reverse_complement
from tests.samples import simulated_genome, simulated_texts
from tests.unit.assembly.iteration.test_flanks import of_circle, text_of

K, NEXT = 21, 41


def state_of(xp, *, circular=False, fold=15, repeats=6, seed=1):
    genome = simulated_genome(length=3000, repeats=repeats, repeat_length=90, seed=seed)
    texts = simulated_texts(genome, fold=fold, length=80, error_rate=0.004, circular=circular, seed=seed)
    plasmid = simulated_genome(length=160, repeat_length=20, seed=seed + 50)
    texts += simulated_texts(plasmid, fold=20, length=80, circular=True, error_rate=0, seed=seed)
    return build_first_graph(Reads.from_strings(texts).moved_to(xp), AssemblyOptions(k=(K, NEXT)), Stages())


def windows_of(text: str, k: int) -> list[str]:
    return [text[i : i + k] for i in range(len(text) - k + 1)]


def closed_text(graph, u: int) -> str:
    """Return a unitig; one that is circular with its first window again, as its bases at the next k are."""
    text, n = graph.sequence(u), int(graph.n_kmers[u])
    return (3 * text[:n])[: n + NEXT] if graph.is_circular[u] else text


def texts_of(reads: Reads) -> list[str]:
    rows = zip(to_host(reads.start).tolist(), to_host(reads.length).tolist(), strict=True)
    return [decode(unpack(to_host(reads.packed), start, n)) for start, n in rows]


def expected_graph(state):
    """Return the k-mers of the next k and its unitigs, from all windows of all reads, passed contigs and flanks."""
    graph, text = state.kmer_graph.graph, next_text(state.junction_reads, state.names, state.kmer_graph, k=NEXT)
    arcs = zip(graph.arc_from.tolist(), graph.arc_to.tolist(), strict=True)
    ends = [
        [reverse_complement(graph.sequence(v >> 1)) if v & 1 else graph.sequence(v >> 1) for v in arc] for arc in arcs
    ]
    edges = {one[-K:] + other[K - 1] for one, other in ends}
    kmers = set()
    for u in range(graph.n):
        unitig = graph.sequence(u)
        unitig += unitig[K - 1] if graph.is_circular[u] else ""
        edges |= {edge for one in (unitig, reverse_complement(unitig)) for edge in windows_of(one, K + 1)}
        kmers |= {canonical(kmer) for kmer in windows_of(unitig, K)}
    passed = [closed_text(graph, u) for u in np.flatnonzero(text.n_next).tolist()]
    passed += [text_of(text.flanks, state, f) for f in range(text.flanks.source.size)]
    windows, follows = set(), set()
    for one in texts_of(state.junction_reads) + passed:
        for strand in (one, reverse_complement(one)):
            named = [canonical(w[:K]) in kmers and canonical(w[-K:]) in kmers for w in windows_of(strand, NEXT)]
            windows |= {canonical(w) for w, has in zip(windows_of(strand, NEXT), named, strict=True) if has}
            follows |= set(windows_of(strand, NEXT + 1))

    def successors(window: str) -> list[str]:
        after = [window + base for base in "ACGT" if window + base in follows and window[: K + 1] in edges]
        return [edge[1:] for edge in after if edge[-K - 1 :] in edges and canonical(edge[1:]) in windows]

    return windows, oracle.unitigs(windows, successors)


def built(state):
    """Return the text of the next k, its tally and dictionary, the first windows of contigs, unitigs and names."""
    text = next_text(state.junction_reads, state.names, state.kmer_graph, k=NEXT)
    tally = tally_kmers(text.reads, NEXT, text.names, k0=K, in_text_order=True)
    dictionary = Dictionary.of(tally.keys, k=NEXT, k0=K)
    return text, tally, dictionary, *_link_and_compact(text, tally, dictionary, state.kmer_graph)


def assert_as_expected(state):
    windows, expected = expected_graph(state)
    text, tally, _, _, graph, _ = built(state)
    assert sorted((graph.sequence(u), bool(graph.is_circular[u])) for u in range(graph.n)) == expected
    assert int(graph.n_kmers.sum()) == len(windows) == tally.n + text.n_inner
    return text


@pytest.mark.parametrize("circular", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_unitigs_equal_those_of_all_windows(xp, circular, seed):
    state = state_of(xp, circular=circular, seed=seed)
    text = assert_as_expected(state)
    assert state.kmer_graph.graph.is_circular.any()
    assert text.n_inner > 0
    assert text.reads.n_segments > text.n_reads > 0


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 14), st.integers(0, 10_000))
def test_unitigs_of_tangled_circles_equal_those_of_all_windows(n_blocks, seed):
    assert_as_expected(of_circle(n_blocks, seed)[0])


@settings(max_examples=10, deadline=None)
@given(st.integers(3, 30), st.integers(0, 8), st.booleans(), st.integers(0, 1000))
def test_unitigs_of_any_coverage_equal_those_of_all_windows(fold, repeats, circular, seed):
    assert_as_expected(state_of(np, fold=fold, repeats=repeats, circular=circular, seed=seed))


@pytest.mark.parametrize("cleaned", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_names_and_single_copy_windows_equal_a_plain_search(xp, cleaned, seed):
    state = state_of(xp, circular=True, fold=12, seed=seed)
    text, tally, dictionary, head, unitigs, name_of = built(state)
    graph, sources = unitigs, SourceUnitigs.identity(unitigs.n)
    if cleaned:
        graph, sources, _ = clean(graph)
    rename(name_of, unitigs, sources)
    after = KmerGraph.of(graph, xp)
    contig_name = contig_names(text, head, name_of)
    before = state.kmer_graph, to_namespace(xp, n_next_windows(state.kmer_graph.graph, NEXT))
    reads = state.junction_reads
    found = name_next_windows(reads, state.names, before, (dictionary, name_of), contig_name, after)
    windows = [w for u in range(graph.n) for w in windows_of(graph.sequence(u), NEXT)]
    number = {w: 2 * i for i, w in enumerate(windows)}
    number |= {reverse_complement(w): name + 1 for w, name in number.items()}
    expected = np.full(found.size, -1)
    for start, one in zip(to_host(reads.start).tolist(), texts_of(reads), strict=True):
        expected[start : start + len(one) - NEXT + 1] = [number.get(w, -1) for w in windows_of(one, NEXT)]
    assert np.array_equal(to_host(found), expected)
    assert (expected >= 0).any()

    kmers = [canonical(w) for u in range(before[0].graph.n) for w in windows_of(before[0].graph.sequence(u), K)]
    is_single = np.random.default_rng(4).random(len(kmers)) < 0.02
    single = {kmer for kmer, flag in zip(kmers, is_single.tolist(), strict=True) if flag}
    both = before[0], after
    contains = name_single_copy(text, tally, name_of, to_namespace(xp, is_single), both, contig_name)
    assert to_host(contains).tolist() == [any(canonical(w) in single for w in windows_of(one, K)) for one in windows]
