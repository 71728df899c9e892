"""Shallow ways: what a deep way leaves of shared sequence leads a shallow member on."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.graph.deep_ways import find_deep_ways
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.gaps import Gap
from gpuasm.assembly.pairs.overlaps import oriented_codes
from gpuasm.assembly.pairs.shallow_ways import shared_stretches, tell_shared
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.graphs import K, graph_of, small_graphs
from tests.samples import simulated_genome, simulated_pairs

TWO = {"A": (900, 70.0), "a": (600, 20.0), "X": (2000, 90.0), "B": (800, 65.0), "b": (700, 25.0)}
WAYS = "A>X a>X X>B X>b"


def made_of(unitigs, arcs):
    graph, number = graph_of([(name, *own) for name, own in unitigs.items()], arcs)
    return graph, number


def lengths(graph: UnitigGraph) -> list[int]:
    return sorted((graph.length - K + 1).tolist())


@pytest.mark.parametrize(
    ("changed", "arcs", "expected"),
    [
        ({}, WAYS, [900 + 2000 + 800, 600 + 2000 + 700]),
        ({"b": (700, 9.0)}, WAYS, None),  # another one ends where b begins
        ({"a": (600, 40.0)}, WAYS, None),  # no deep way
        ({}, "A>X X>B X>b", None),  # nothing else comes in
        ({}, "A>X a>X X>B", None),
        ({"a": (600, 20.0), "b": (700, 6.0), "A": (900, 70.0)}, WAYS, None),
        ({"a": (600, 6.0), "b": (700, 6.0)}, WAYS, None),  # so thin a member may have holes
        ({"b": (19, 25.0)}, WAYS, None),  # and so few bases say nothing
        ({}, "A>X a>X X>-B X>-b", [900 + 2000 + 800, 600 + 2000 + 700]),
        # Two stretches with something of the deep one's own between, and two that follow each other.
        ({"Y": (500, 90.0), "c": (300, 22.0), "C": (400, 70.0)}, f"{WAYS} B>Y b>Y Y>C Y>c", [4600, 4100]),
        ({"Y": (500, 95.0), "c": (300, 5.0), "d": (300, 5.0)}, "A>X a>X c>X X>Y X>d Y>B Y>b", None),
        # Three members: the second one's way is the next deep one.
        ({"z": (250, 9.0), "y": (150, 9.0)}, f"{WAYS} z>X X>y", [3700, 3300, 2400]),
    ],
)
def test_what_is_told(changed, arcs, expected):
    graph, _ = made_of(TWO | changed, arcs)
    told, gaps, n = tell_shared(graph, [])
    assert gaps == []
    if expected is None:
        assert told is graph
        assert n == 0
    else:
        assert n > 0
        assert lengths(told) == sorted(expected)
        assert told.arc_to.size == 0


def test_depth_of_what_is_shared_is_shared_out():
    graph, _ = made_of(TWO, WAYS)
    told, _, _ = tell_shared(graph, [])
    deep, shallow = sorted(told.depth.tolist(), reverse=True)
    assert deep == pytest.approx(66, abs=2)
    assert shallow == pytest.approx(24, abs=2)
    assert told.count.sum() == graph.count.sum()


def test_gaps_move_with_their_ends():
    graph, number = made_of(TWO | {"far": (400, 66.0)}, WAYS)
    told, gaps, _ = tell_shared(graph, [Gap(2 * number["B"], 2 * number["far"], 50, 5.0, 9)])
    (gap,) = gaps
    assert {int(told.length[gap.source >> 1]) - K + 1, int(told.length[gap.target >> 1]) - K + 1} == {3700, 400}


def says_nearly_the_same(graph, other, way):
    """Compare 100 bases by the whole matrix of edits."""
    own, beside = ("".join(decode(oriented_codes(graph, one)))[K - 1 :] for one in (other, way))
    row = list(range(106))
    for i, base in enumerate(own[:100]):
        before, row = row, [i + 1]
        for j, against in enumerate(beside[:105]):
            row.append(min(before[j] + (base != against), before[j + 1] + 1, row[j] + 1))
    return min(row) <= 5


@settings(max_examples=300)  # one in forty has such a stretch
@given(small_graphs(around="a>c b>c c>d c>e", least=5, depths=(6, 8, 9, 40, 40)))
def test_a_stretch_is_a_deep_way_that_others_share(graph):
    follower = find_deep_ways(graph)
    ends = set()
    for walk in shared_stretches(graph):
        assert all(follower[here] == there for here, there in pairwise(walk))
        assert walk[0] < walk[-1] ^ 1
        for here in (walk[0], walk[-1] ^ 1):
            assert here not in ends
            ends.add(here)
        for inner in walk[1:-1]:
            depths = []
            for side, way in ((inner, follower[inner]), (inner ^ 1, follower[inner ^ 1])):
                row = graph.arc_to[graph.arc_start[side] : graph.arc_start[side + 1]]
                assert way in row
                others = [o for o in row.tolist() if o != way]
                assert all(says_nearly_the_same(graph, other, way) for other in others)
                depths.append(sum(graph.depth[other >> 1] for other in others))
            assert min(depths) > 0
            assert max(depths) <= 2 * min(depths)
    told, _, found = tell_shared(graph, [])
    assert (found > 0) == bool(ends)
    assert not list(shared_stretches(told))


@pytest.mark.parametrize(("n_different", "is_told"), [(1, True), (5, True), (6, False), (60, False)])
def test_ways_beside_it_say_nearly_the_same(n_different, is_told):
    """Else they are repeats of one genome, or of two that are not related."""
    graph, number = made_of(TWO, WAYS)
    graph.bases[graph.start[number["b"]] + K - 1 + np.arange(n_different)] = 1
    assert (tell_shared(graph, [])[2] == 1) == is_told


@pytest.fixture(scope="module")
def members():
    """Two strains that differ in two bases of a hundred, but for 3,000 bases."""
    deep, rng = simulated_genome(length=12_000, seed=5), np.random.default_rng(7)
    shallow, differing = deep.copy(), rng.random(deep.size) < 0.02
    differing[4000:7000] = False
    shallow[differing] = (shallow[differing] + rng.integers(1, 4, int(differing.sum()))) % 4
    return deep, shallow.astype(np.uint8)


def longest_within(contigs, genome):
    texts = decode(genome), decode(reverse_complement(genome))
    return max(contig.length for contig in contigs if any(contig.sequence in text for text in texts))


def test_both_members_are_told_through_what_they_share(members):
    deep, shallow = members
    texts = [
        text
        for seed, (genome, fold) in enumerate(((deep, 80), (shallow, 20)))
        for text in simulated_pairs(genome, fold=fold, length=150, insert=400, sd=40, seed=seed)
    ]
    reads = Reads.from_strings(texts, paired=True)
    contigs = assemble(reads, AssemblyOptions(mode="meta")).contigs
    assert min(longest_within(contigs, own) for own in members) > 11_800
    without = assemble(reads, AssemblyOptions(mode="meta", without=("shallow-ways",))).contigs
    assert longest_within(without, deep) > 11_800
    assert longest_within(without, shallow) < 6000


def test_an_empty_graph():
    graph, _ = graph_of([("a", 900, 40.0)])
    assert tell_shared(graph, [])[0] is graph
    assert np.array(list(shared_stretches(graph))).size == 0
