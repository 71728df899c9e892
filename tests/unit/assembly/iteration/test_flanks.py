"""Flanks: the edges of passed contigs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.iteration.edge_support import flank_support
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.iteration.passed_contigs import next_text
from gpuasm.assembly.iteration.spelling import Flanks, find_flanks
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.names import Dictionary
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.graphs import K, graph_of
from tests.oracles.kmers import reverse_complement

NEXT = K + 30
LONG, SHORT = 900, 10


def found(arcs: str, *, short: str) -> list[tuple[str, int, bool]]:
    """Return each flank, the bases that it adds, and whether it ends in a passed contig; ``short`` are short."""
    names = list(dict.fromkeys(arcs.replace(">", " ").replace("-", "").split()))
    graph, _ = graph_of([(name, SHORT if name in short.split() else LONG, 20.0) for name in names], arcs)
    flanks = find_flanks(graph, graph.length >= NEXT, k=NEXT)
    ends = ["-" * (v & 1) + names[v >> 1] for v in [*flanks.source.tolist(), *flanks.target.tolist()]]
    paths = map(">".join, zip(ends[: len(ends) // 2], ends[len(ends) // 2 :], strict=True))
    return sorted(zip(paths, flanks.added.tolist(), flanks.reaches_passed.tolist(), strict=True))


FULL = NEXT - K + 1


def stubs(*paths: str) -> list[tuple[str, int, bool]]:
    return [(path, SHORT, False) for path in paths]


@pytest.mark.parametrize(
    ("arcs", "short", "paths"),
    [
        ("a>b", "", [("a>b", FULL, True)]),
        ("a>b a>c", "", [("a>b", FULL, True), ("a>c", FULL, True)]),
        ("a>-a", "", [("a>-a", FULL, True)]),
        ("a>s", "s", stubs("a>s")),
        ("a>s s>b", "s", stubs("-b>-s", "a>s")),
        ("a>s s>b a>c", "s", [("a>c", FULL, True), *stubs("-b>-s", "a>s")]),
        ("a>s c>s s>b", "s", stubs("-b>-s", "a>s", "c>s")),
        ("a>s s>t t>b", "s t", stubs("-b>-t", "a>s")),
        ("a>s s>s", "s", stubs("a>s")),
    ],
)
def test_flanks_are_the_edges_of_passed_contigs(arcs, short, paths):
    assert found(arcs, short=short) == sorted(paths)


def test_count_and_depth_of_a_flank():
    graph, _ = graph_of([("a", LONG, 30.0), ("b", LONG, 40.0)], "a>b:5")
    flanks = find_flanks(graph, graph.length >= NEXT, k=NEXT)
    assert (flanks.count.tolist(), flanks.depth.tolist()) == ([5 * graph.unit], [30.0])


def is_own_mirror(text: str) -> bool:
    return text == reverse_complement(text)


def canonical(text: str) -> str:
    return min(text, reverse_complement(text))


def of_circle(n_blocks: int, seed: int) -> tuple[AssemblyState, str]:
    """Return the state at k = 21 of reads without errors, and the circular genome of blocks that occur several times.

    20 k-mers span two adjacent blocks: a unitig of 40 bases, too short for k = 41.
    """
    rng = np.random.default_rng(seed)
    blocks = ["".join(rng.choice(list("ACGT"), int(rng.integers(45, 70)))) for _ in range(5)]
    circle = "".join(rng.choice(list("ACGT"), 200))
    for _ in range(n_blocks):
        block = blocks[int(rng.integers(5))]
        circle += block if rng.random() < 0.7 else reverse_complement(block)
        circle += "".join(rng.choice(list("ACGT"), int(rng.choice([0, 0, 1, 30]))))
    extended = circle + circle[:99]
    reads = Reads.from_strings([extended[i : i + 100] for i in range(len(circle))])
    without = (
        "mercy-kmers",
        "tips",
        "low-coverage-edges",
        "bubbles",
        "isolated-unitigs",
    )
    return build_first_graph(reads, AssemblyOptions(k=(21, 41), without=(*without, "few-reads")), Stages()), circle


def text_of(flanks: Flanks, state: AssemblyState, f: int) -> str:
    graph = state.kmer_graph.graph

    def oriented(v: int) -> str:
        return reverse_complement(graph.sequence(v >> 1)) if v & 1 else graph.sequence(v >> 1)

    return oriented(int(flanks.source[f]))[-41:] + oriented(int(flanks.target[f]))[20 : 20 + flanks.added[f]]


@settings(max_examples=30)
@given(st.integers(0, 14), st.integers(0, 10_000))
def test_windows_of_flanks_are_true_and_unique(n_blocks, seed):
    """Each window with a unique path from a passed contig is in that contig or in a flank, if no neighbour is short."""
    state, circle = of_circle(n_blocks, seed)
    graph = state.kmer_graph.graph
    flanks = find_flanks(graph, graph.length >= 41, k=41)
    texts = [text_of(flanks, state, f) for f in range(flanks.source.size)]
    windows = [[canonical(text[i : i + 41]) for i in range(len(text) - 40)] for text in texts]
    true = {canonical((circle + circle)[i : i + 41]) for i in range(len(circle))}
    own = [each[1 : len(each) - int(passes)] for each, passes in zip(windows, flanks.reaches_passed, strict=True)]
    assert all(set(each) <= true for each in windows)
    # A path into the reverse complement of its source contains each window twice.
    times = Counter(window for each, text in zip(own, texts, strict=True) if not is_own_mirror(text) for window in each)
    assert set(times.values()) <= {1}
    unitigs = [graph.sequence(u) for u in range(graph.n)]
    unitigs += [2 * graph.sequence(u)[: graph.n_kmers[u]] for u in np.flatnonzero(graph.is_circular)]
    known = {window for each in own for window in each}
    known |= {canonical(text[i : i + 41]) for text in unitigs for i in range(len(text) - 40)}
    if flanks.reaches_passed.all():
        assert certain_windows(state, circle) <= known


def certain_windows(state: AssemblyState, circle: str) -> set[str]:
    """Return the windows that begin in a long unitig and continue through short ones with one edge in and one out."""
    graph = state.kmer_graph.graph
    oriented = {}
    for u in range(graph.n):
        text = graph.sequence(u)
        for v, along in ((2 * u, text), (2 * u + 1, reverse_complement(text))):
            oriented |= {along[i : i + 21]: v for i in range(len(along) - 20)}
    n_out, both, windows = np.diff(graph.arc_start), circle + circle, set()
    for strand in (both, reverse_complement(both)):
        for i in range(len(circle)):
            window = strand[i : i + 41]
            path = [oriented[window[j : j + 21]] for j in range(21)]
            path = [v for j, v in enumerate(path) if j == 0 or v != path[j - 1]]
            if graph.length[path[0] >> 1] >= 41 and all(n_out[v] == n_out[v ^ 1] == 1 for v in path[1:-1]):
                windows.add(canonical(window))
    return windows


@settings(max_examples=10)
@given(st.integers(1, 14), st.integers(0, 1000))
def test_flanks_without_reads_have_no_support(n_blocks, seed):
    """Without reads only flanks and unitigs are counted, and flanks do not support each other."""
    state, _ = of_circle(n_blocks, seed)
    text = next_text(state.junction_reads.select(np.empty(0, np.int64)), state.names, state.kmer_graph, k=41)
    tally = tally_kmers(text.reads, 41, text.names, k0=21)
    support = flank_support(text, tally, Dictionary.of(tally.keys, k=41, k0=21))
    first, flanks = text.n_reads + text.n_ends, text.flanks
    rows = zip(text.reads.start[first:].tolist(), text.reads.length[first:].tolist(), strict=True)
    segments = [decode(unpack(text.reads.packed, at, size)) for at, size in rows]
    assert not support.total[[not is_own_mirror(segment) for segment in segments]].any()
    assert (support.places == flanks.added - flanks.reaches_passed).all()
