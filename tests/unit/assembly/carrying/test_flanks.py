"""Ways on from carried unitigs, through those that are too short."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.carrying.carrying import next_text
from gpuasm.assembly.carrying.contradicted import _flank_support
from gpuasm.assembly.carrying.flanks import Flanks, find_flanks
from gpuasm.assembly.first_level import begin
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import tally_kmers
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.graphs import K, graph_of
from tests.oracles.kmers import reverse_complement

NEXT = K + 30
LONG, SHORT = 900, 10


def found(arcs: str, *, short: str = "s", goes_through: bool = True) -> list[tuple[str, int, bool]]:
    """Return each way, the bases that it adds, and whether it is met; the unitigs of ``short`` are short."""
    names = list(dict.fromkeys(arcs.replace(">", " ").replace("-", "").split()))
    graph, _ = graph_of([(name, SHORT if name in short.split() else LONG, 20.0) for name in names], arcs)
    flanks = find_flanks(graph, graph.length >= NEXT, k=NEXT, goes_through=goes_through)

    def told(v: int) -> str:
        return "-" * (v & 1) + names[v >> 1]

    ways = []
    for f in range(len(flanks)):
        along = flanks.unitig[flanks.start[f] : flanks.start[f + 1]].tolist()
        assert flanks.target[f] == along[-1]
        ways.append(
            (">".join(map(told, [int(flanks.source[f]), *along])), int(flanks.added[f]), bool(flanks.is_met[f]))
        )
    return sorted(ways)


FULL = NEXT - K + 1


def stubs(*ways: str) -> list[tuple[str, int, bool]]:
    return [(way, SHORT, False) for way in ways]


@pytest.mark.parametrize(
    ("arcs", "short", "ways"),
    [
        ("a>b", "", [("a>b", FULL, True)]),
        ("a>s", "s", stubs("a>s")),
        ("a>s s>b", "s", [("a>s>b", SHORT + FULL, True)]),
        ("a>s s>t t>b", "s t", [("a>s>t>b", 2 * SHORT + FULL, True)]),
        ("a>s s>b a>c", "s", [("a>c", FULL, True), ("a>s>b", SHORT + FULL, True)]),
        ("a>s c>s s>b", "s", stubs("-b>-s", "a>s", "c>s")),
        ("a>s s>b s>c", "s", stubs("-b>-s", "-c>-s", "a>s")),
        ("a>s c>s s>b s>d", "s", stubs("-b>-s", "-d>-s", "a>s", "c>s")),
        # None goes through t, so none through s from the same end, nor through u from that end's other side.
        ("a>s s>b a>t c>t t>d e>u u>b", "s t u", stubs("a>s", "-b>-s", "a>t", "c>t", "-d>-t", "e>u", "-b>-u")),
        ("a>s s>t", "s t", stubs("a>s")),
        ("a>s s>s", "s", stubs("a>s")),
        ("a>s s>t t>s", "s t", stubs("a>s")),
    ],
)
def test_ways_through_short_unitigs(arcs, short, ways):
    assert found(arcs, short=short) == sorted(ways)


def test_a_way_back_into_the_same_end_is_told_once():
    assert found("a>s s>-a") in ([("a>s>-a", SHORT + FULL, True)], [("a>-s>-a", SHORT + FULL, True)])


def test_ways_end_with_the_first_unitig_unless_they_go_through():
    assert found("a>s s>b", goes_through=False) == stubs("-b>-s", "a>s")
    assert found("a>b", goes_through=False) == found("a>b")


def test_least_count_and_depth_on_the_way():
    graph, _ = graph_of([("a", LONG, 30.0), ("s", SHORT, 9.0), ("b", LONG, 40.0)], "a>s:7 s>b:5")
    flanks = find_flanks(graph, graph.length >= NEXT, k=NEXT)
    assert (flanks.count.tolist(), flanks.depth.tolist(), flanks.n_through) == ([5 * graph.unit], [9.0], 1)
    assert len(flanks.without(np.ones(1, bool))) == 0


def is_own_mirror(text: str) -> bool:
    return text == reverse_complement(text)


def canonical(text: str) -> str:
    return min(text, reverse_complement(text))


def of_circle(n_blocks: int, seed: int) -> tuple[AssemblyState, str]:
    """Return the state at k = 21 of reads without errors, and the circle: blocks that stand several times.

    Where two stand side by side, 20 k-mers go across: a unitig of 40 bases, too short for k = 41.
    """
    rng = np.random.default_rng(seed)
    blocks = ["".join(rng.choice(list("ACGT"), int(rng.integers(45, 70)))) for _ in range(5)]
    circle = "".join(rng.choice(list("ACGT"), 200))
    for _ in range(n_blocks):
        block = blocks[int(rng.integers(5))]
        circle += block if rng.random() < 0.7 else reverse_complement(block)
        circle += "".join(rng.choice(list("ACGT"), int(rng.choice([0, 0, 1, 30]))))
    round_twice = circle + circle[:99]
    reads = Reads.from_strings([round_twice[i : i + 100] for i in range(len(circle))])
    without = ("bridges", "tips", "low-depth-connections", "bubbles", "similar-ways", "similar-ends", "islands")
    return begin(reads, AssemblyOptions(k=(21, 41), without=(*without, "few-reads")), Stages()), circle


def text_of(flanks: Flanks, state: AssemblyState, f: int) -> str:
    graph = state.level.graph

    def oriented(v: int) -> str:
        return reverse_complement(graph.sequence(v >> 1)) if v & 1 else graph.sequence(v >> 1)

    along = "".join(oriented(v)[20:] for v in flanks.unitig[flanks.start[f] : flanks.start[f + 1]].tolist())
    return oriented(int(flanks.source[f]))[-41:] + along[: flanks.added[f]]


@settings(max_examples=30)
@given(st.integers(0, 14), st.integers(0, 10_000))
def test_windows_of_flanks_are_true_and_told_once(n_blocks, seed):
    """And what begins in a carried unitig and has one way to go is told by that unitig or by a flank, if all can be."""
    state, circle = of_circle(n_blocks, seed)
    graph = state.level.graph
    flanks = find_flanks(graph, graph.length >= 41, k=41)
    texts = [text_of(flanks, state, f) for f in range(len(flanks))]
    windows = [[canonical(text[i : i + 41]) for i in range(len(text) - 40)] for text in texts]
    true = {canonical((circle + circle)[i : i + 41]) for i in range(len(circle))}
    own = [each[1 : len(each) - int(met)] for each, met in zip(windows, flanks.is_met, strict=True)]
    assert all(set(each) <= true for each in windows)
    # A way into the mirror image of its source has each window twice.
    times = Counter(window for each, text in zip(own, texts, strict=True) if not is_own_mirror(text) for window in each)
    assert set(times.values()) <= {1}
    unitigs = [graph.sequence(u) for u in range(graph.n)]
    unitigs += [2 * graph.sequence(u)[: graph.n_kmers[u]] for u in np.flatnonzero(graph.is_circular)]
    known = {window for each in own for window in each}
    known |= {canonical(text[i : i + 41]) for text in unitigs for i in range(len(text) - 40)}
    if flanks.is_met.all():  # none was stopped
        assert certain_windows(state, circle) <= known


def certain_windows(state: AssemblyState, circle: str) -> set[str]:
    """Return the windows of a circle that begin in a long unitig and go on through short ones of one way in and out."""
    graph = state.level.graph
    oriented = {}
    for u in range(graph.n):
        text = graph.sequence(u)
        for v, along in ((2 * u, text), (2 * u + 1, reverse_complement(text))):
            oriented |= {along[i : i + 21]: v for i in range(len(along) - 20)}
    n_out, both, windows = np.diff(graph.arc_start), circle + circle, set()
    for strand in (both, reverse_complement(both)):
        for i in range(len(circle)):
            window = strand[i : i + 41]
            way = [oriented[window[j : j + 21]] for j in range(21)]
            way = [v for j, v in enumerate(way) if j == 0 or v != way[j - 1]]
            if graph.length[way[0] >> 1] >= 41 and all(n_out[v] == n_out[v ^ 1] == 1 for v in way[1:-1]):
                windows.add(canonical(window))
    return windows


def test_circles_have_ways_through_short_unitigs():
    """Else what is said of these below and above would be said of nothing."""
    found = []
    for seed in range(10):
        graph = of_circle(8, seed)[0].level.graph
        flanks = find_flanks(graph, graph.length >= 41, k=41)
        found.append((flanks.n_through, bool(flanks.is_met.all())))
    assert sum(n > 0 for n, _ in found) >= 5
    assert sum(n > 0 and all_met for n, all_met in found) >= 3


@settings(max_examples=10)
@given(st.integers(1, 14), st.integers(0, 1000))
def test_no_read_across_is_no_support(n_blocks, seed):
    """Without reads nothing but flanks and unitigs is counted, and flanks tell each other no support."""
    state, _ = of_circle(n_blocks, seed)
    text = next_text(state.crossing.select(np.empty(0, np.int64)), state.names, state.level, k=41)
    tally = tally_kmers(text.reads, 41, text.names, k0=21)
    support = _flank_support(text, tally, Dictionary.of(tally.keys, k=41, k0=21), 21)
    first, flanks = text.n_reads + text.n_unitigs, text.flanks
    rows = zip(text.reads.start[first:].tolist(), text.reads.length[first:].tolist(), strict=True)
    pieces = [decode(unpack(text.reads.words, at, size)) for at, size in rows]
    assert not support.total[[not is_own_mirror(piece) for piece in pieces]].any()
    assert (support.places == flanks.added - flanks.is_met).all()
