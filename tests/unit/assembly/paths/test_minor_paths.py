"""Minor paths: shared sequence of a dominant path is duplicated for a minor genome."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, oriented_codes
from gpuasm.assembly.pairs.link_evidence import Gap
from gpuasm.assembly.paths.dominant_paths import copy_shared_stretches, find_dominant_paths, shared_stretches
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.graphs import K, graph_of, small_graphs
from tests.samples import simulated_genome, simulated_pairs

TWO = {"A": (900, 70.0), "a": (600, 20.0), "X": (2000, 90.0), "B": (800, 65.0), "b": (700, 25.0)}
EDGES = "A>X a>X X>B X>b"


def made_of(unitigs, arcs):
    graph, number = graph_of([(name, *own) for name, own in unitigs.items()], arcs)
    return graph, number


def lengths(graph: UnitigGraph) -> list[int]:
    return sorted((graph.length - K + 1).tolist())


@pytest.mark.parametrize(
    ("changed", "arcs", "expected"),
    [
        ({}, EDGES, [900 + 2000 + 800, 600 + 2000 + 700]),
        ({"b": (700, 9.0)}, EDGES, None),  # a third genome ends where b begins
        ({"a": (600, 40.0)}, EDGES, None),  # no dominant path
        ({}, "A>X X>B X>b", None),  # nothing else comes in
        ({}, "A>X a>X X>B", None),
        ({"a": (600, 20.0), "b": (700, 6.0), "A": (900, 70.0)}, EDGES, None),
        ({"a": (600, 4.0), "b": (700, 4.0)}, EDGES, None),  # at such depth a minor genome has holes
        ({"b": (8, 25.0)}, EDGES, None),  # too few bases to compare
        ({}, "A>X a>X X>-B X>-b", [900 + 2000 + 800, 600 + 2000 + 700]),
        # Two shared sequences with a dominant one between, and two that follow each other.
        ({"Y": (500, 90.0), "c": (300, 22.0), "C": (400, 70.0)}, f"{EDGES} B>Y b>Y Y>C Y>c", [4600, 4100]),
        ({"Y": (500, 95.0), "c": (300, 5.0), "d": (300, 5.0)}, "A>X a>X c>X X>Y X>d Y>B Y>b", None),
        # Three genomes: the second one's path is the next dominant one.
        ({"z": (250, 9.0), "y": (150, 9.0)}, f"{EDGES} z>X X>y", [3700, 3300, 2400]),
    ],
)
def test_minor_paths_are_resolved(changed, arcs, expected):
    graph, _ = made_of(TWO | changed, arcs)
    resolved, gaps, n = copy_shared_stretches(graph, [])
    assert gaps == []
    if expected is None:
        assert resolved is graph
        assert n == 0
    else:
        assert n > 0
        assert lengths(resolved) == sorted(expected)
        assert resolved.arc_to.size == 0


def test_depth_of_shared_sequence_is_divided():
    graph, _ = made_of(TWO, EDGES)
    resolved, _, _ = copy_shared_stretches(graph, [])
    dominant, minor = sorted(resolved.depth.tolist(), reverse=True)
    assert dominant == pytest.approx(66, abs=2)
    assert minor == pytest.approx(24, abs=2)
    assert resolved.count.sum() == graph.count.sum()


def test_gaps_move_with_their_ends():
    graph, number = made_of(TWO | {"far": (400, 66.0)}, EDGES)
    resolved, gaps, _ = copy_shared_stretches(graph, [Gap(2 * number["B"], 2 * number["far"], 50, 5.0, 9)])
    (gap,) = gaps
    assert {int(resolved.length[gap.source >> 1]) - K + 1, int(resolved.length[gap.target >> 1]) - K + 1} == {3700, 400}


def are_similar(graph, other, successor):
    """Compare 100 bases by the whole edit matrix."""
    own, reference = ("".join(decode(oriented_codes(graph, one)))[K - 1 :] for one in (other, successor))
    row = list(range(106))
    for i, base in enumerate(own[:100]):
        before, row = row, [i + 1]
        for j, letter in enumerate(reference[:105]):
            row.append(min(before[j] + (base != letter), before[j + 1] + 1, row[j] + 1))
    return min(row) <= 5


@settings(max_examples=300)  # one in forty has such a path
@given(small_graphs(around="a>c b>c c>d c>e", least=5, depths=(6, 8, 9, 40, 40)))
def test_shared_parts_follow_their_definition(graph):
    follower = find_dominant_paths(graph)
    ends = set()
    for walk in shared_stretches(graph):
        assert all(follower[here] == there for here, there in pairwise(walk))
        assert walk[0] < walk[-1] ^ 1
        for here in (walk[0], walk[-1] ^ 1):
            assert here not in ends
            ends.add(here)
        for inner in walk[1:-1]:
            depths = []
            for side, successor in ((inner, follower[inner]), (inner ^ 1, follower[inner ^ 1])):
                row = graph.arc_to[graph.arc_start[side] : graph.arc_start[side + 1]]
                assert successor in row
                others = [o for o in row.tolist() if o != successor]
                assert all(are_similar(graph, other, successor) for other in others)
                depths.append(sum(graph.depth[other >> 1] for other in others))
            assert min(depths) > 0
            assert max(depths) <= 2 * min(depths)
    resolved, _, found = copy_shared_stretches(graph, [])
    assert (found > 0) == bool(ends)
    assert not list(shared_stretches(resolved))


@pytest.mark.parametrize(("n_different", "is_resolved"), [(1, True), (3, True), (12, False), (60, False)])
def test_minor_branches_must_be_similar(n_different, is_resolved):
    """Dissimilar branches are repeats of one genome, or of two unrelated ones."""
    graph, number = made_of(TWO, EDGES)
    graph.bases[graph.start[number["b"]] + K - 1 + np.arange(n_different)] = 1
    assert (copy_shared_stretches(graph, [])[2] == 1) == is_resolved


@pytest.fixture(scope="module")
def strains():
    """Return two strains that differ in two bases of a hundred, except for 3,000 bases."""
    dominant, rng = simulated_genome(length=12_000, seed=5), np.random.default_rng(7)
    minor, differing = dominant.copy(), rng.random(dominant.size) < 0.02
    differing[4000:7000] = False
    minor[differing] = (minor[differing] + rng.integers(1, 4, int(differing.sum()))) % 4
    return dominant, minor.astype(np.uint8)


def longest_within(contigs, genome):
    texts = decode(genome), decode(reverse_complement(genome))
    return max(contig.length for contig in contigs if any(contig.sequence in text for text in texts))


def test_both_strains_pass_through_shared_sequence(strains):
    dominant, minor = strains
    texts = [
        text
        for seed, (genome, fold) in enumerate(((dominant, 80), (minor, 20)))
        for text in simulated_pairs(genome, fold=fold, length=150, insert=400, sd=40, seed=seed)
    ]
    reads = Reads.from_strings(texts, paired=True)
    contigs = assemble(reads, AssemblyOptions(mode="meta")).contigs
    assert min(longest_within(contigs, own) for own in strains) > 11_800
    without = assemble(reads, AssemblyOptions(mode="meta", without=("dominant-paths",))).contigs
    assert max(longest_within(without, own) for own in strains) < 6000


def test_a_graph_of_one_unitig_stays():
    graph, _ = graph_of([("a", 900, 40.0)])
    assert copy_shared_stretches(graph, [])[0] is graph
    assert np.array(list(shared_stretches(graph))).size == 0
