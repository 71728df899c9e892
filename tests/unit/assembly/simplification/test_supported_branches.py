"""Supported branches: those of a minor genome next to a related dominant one are kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode, reads_of_one_error
from gpuasm.assembly.simplification.branches import find_supported
from gpuasm.assembly.simplification.engine import clean
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.graphs import K, graph_of, marked
from tests.oracles.kmers import reverse_complement
from tests.oracles.supported import supported
from tests.samples import simulated_genome, simulated_pairs

STRAINS = Mode("meta", "as requested", keeps_variants=True)
COMMON = "left>main main>common common>right left>rare rare>common common>next"


def relatives(*, rare=(K, 4.0), following=(300, 4.0), common=(60, 44.0)):
    """Return a graph of two genomes that share a stretch."""
    unitigs = [("left", 900, 44.0), ("main", K, 40.0), ("rare", *rare), ("common", *common), ("right", 900, 40.0)]
    return graph_of([*unitigs, ("next", *following)], COMMON)


@pytest.mark.parametrize(
    ("changed", "is_supported"),
    [
        ({"rare": (K + 1, 4.0), "following": (9, 4.0)}, True),  # longer than one error spoils
        ({"rare": (K + 1, 1.8), "following": (9, 4.0)}, True),
        ({"rare": (K + 1, 1.7), "following": (9, 4.0)}, False),  # one read and a part of another
        ({}, True),  # with a partner
        ({"rare": (5, 4.0)}, True),
        ({"rare": (K, 1.7)}, False),
        ({"following": (K, 4.0)}, False),  # the partner may be an error
        ({"following": (300, 1.7)}, False),
        ({"following": (300, 12.1)}, False),  # of another genome
        ({"following": (300, 11.9)}, True),
        ({"rare": (K, 13.0)}, False),
        ({"common": (201, 44.0)}, False),  # too far
        ({"common": (60, 7.9)}, False),  # less than both together
        ({"common": (60, 8.0)}, True),
    ],
)
def test_branches_of_two_reads_are_supported(changed, is_supported):
    graph, number = relatives(**changed)
    assert ("rare" in marked(find_supported(graph, graph.depth), number)) == is_supported


@pytest.mark.parametrize(
    ("first", "depth", "supported"),
    [
        (("long", K + 1), 20.0, "0123"),
        (("short", K), 20.0, "0123"),  # two of them have a neighbour at either end
        (("long", K + 1), 3.0, ""),
        (("long", K + 1), 5.0, "0123"),
        (("short", K), 5.0, ""),  # of two errors fewer reads coincide than of one
    ],
)
def test_support_passes_from_branch_to_branch(first, depth, supported):
    """Four branches as short as that of an error, in a row, follow another branch of the same depth."""
    unitigs, arcs = [(*first, depth)], []
    for i in range(4):
        unitigs += [(f"common{i}", 60, 800.0 + depth), (f"rare{i}", K, depth), (f"main{i}", K, 800.0)]
        arcs += [f"{first[0] if i == 0 else f'rare{i - 1}'}>common{i}", f"common{i}>rare{i}", f"common{i}>main{i}"]
        arcs += [f"main{i - 1}>common{i}"] if i else []
    graph, number = graph_of(unitigs, " ".join(arcs))
    found = marked(find_supported(graph, np.full(graph.n, 800.0), error_rate=0.002), number)
    assert {name[-1] for name in found if name.startswith("rare")} == set(supported)


@pytest.mark.parametrize(
    ("nearby", "depth", "is_supported"),
    [(20.0, 1.8, True), (800.0, 1.8, False), (800.0, 4.0, False), (800.0, 5.0, True)],
)
def test_the_higher_the_depth_the_more_reads_share_errors(nearby, depth, is_supported):
    graph, number = graph_of([("rare", K + 1, depth)], "")
    found = find_supported(graph, np.full(graph.n, nearby), error_rate=0.002)
    assert marked(found, number) == ({"rare"} if is_supported else set())


@pytest.mark.parametrize("window", [1.0, 1.15])
def test_result_equals_the_oracle(window):
    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, 2**32 - 1))
    def compare(seed):
        rng = np.random.default_rng(seed)
        sizes, depths = rng.choice([5, K, K + 1, 150, 300], 9), rng.choice([1.5, 1.9, 2.2, 4.0, 12.0, 40.0], 9)
        ends = [f"{'-' * int(rng.integers(2))}u{rng.integers(9)}" for _ in range(24)]
        arcs = " ".join(f"{a}>{b}" for a, b in zip(ends[::2], ends[1::2], strict=True))
        unitigs = [(f"u{i}", int(n), float(d)) for i, (n, d) in enumerate(zip(sizes, depths, strict=True))]
        graph, _ = graph_of(unitigs, arcs)
        nearby = rng.choice([20.0, 300.0, 900.0], graph.n)
        found = find_supported(graph, nearby, window=window, error_rate=0.002)
        one = window * reads_of_one_error(nearby, 0.002)
        two = 1.75 * np.maximum(window, (one - window) / 3)
        assert found.tolist() == supported(graph, two.tolist(), one.tolist())

    compare()


@pytest.mark.parametrize(
    ("mode", "without", "window", "is_kept"),
    [
        (STRAINS, (), None, True),
        (STRAINS, ("supported-branches",), None, False),
        (STRAINS, (), 1.2, False),  # of less than two reads
        (Mode("meta", "by the graph"), (), None, True),
        (Mode("meta", "by the graph", is_population=True), (), None, False),
        (ISOLATE, (), None, False),
    ],
)
def test_supported_branch_is_kept_in_a_community(mode, without, window, is_kept):
    """A bubble of 100 k-mers at a fortieth of the depth is as rare as an error."""
    unitigs = [("left", 900, 80.0), ("main", 100, 80.0), ("rare", 100, 2.0), ("right", 900, 80.0)]
    graph, _ = graph_of(unitigs, "left>main main>right left>rare rare>right")
    _, _, removed = clean(graph, mode=mode, without=without, window=window)
    assert removed.bubbles == (0 if is_kept else 1)


@pytest.mark.parametrize(
    ("mode", "seed"), [("auto", 4), ("meta", 6), pytest.param("meta", 7, marks=pytest.mark.thorough)]
)
def test_minor_genome_keeps_its_own_sequence(mode, seed):
    """The genomes share 40 bases every 150: without the rule the minor one is cut at most of them."""
    options = {"length": 100, "insert": 250, "sd": 20, "error_rate": 0.002}
    dominant = simulated_genome(length=20_000, seed=seed + 100, repeats=0)
    minor = np.random.default_rng(seed).integers(0, 4, dominant.size).astype(np.uint8)
    for at in range(0, dominant.size, 150):
        minor[at : at + 40] = dominant[at : at + 40]
    texts = simulated_pairs(dominant, fold=50, seed=seed, **options)
    texts += simulated_pairs(minor, fold=6, seed=seed + 50, **options)
    reads, own = Reads.from_strings(texts, paired=True), decode(minor) + "-" + reverse_complement(decode(minor))
    covered = []
    for without in ((), ("supported-branches",)):
        contigs = assemble(reads, AssemblyOptions(mode=mode, without=without)).contigs
        covered.append(sum(c.length for c in contigs if c.sequence in own and c.length >= 500))
    assert covered[0] > 1.2 * covered[1] > 0


def test_relative_of_a_deep_circle_is_not_joined_with_it():
    """A thirtieth of the depth is that of some errors; the circle shares 1,000 bases but for 3 %."""
    rng, options = np.random.default_rng(3), {"length": 150, "insert": 350, "sd": 35, "error_rate": 0.002}
    circle, left, right = (rng.integers(0, 4, n).astype(np.uint8) for n in (3000, 1500, 1500))
    copy = circle[1000:2000].copy()
    places = np.flatnonzero(rng.random(copy.size) < 0.03)
    copy[places] = (copy[places] + 1 + rng.integers(0, 3, places.size)) % 4
    linear = np.concatenate([left, copy, right])
    texts = simulated_pairs(circle, fold=600, seed=3, circular=True, **options)
    texts += simulated_pairs(linear, fold=20, seed=103, **options)
    own, whole = assemble(Reads.from_strings(texts, paired=True), AssemblyOptions()).contigs
    assert own.sequence in decode(linear) + "-" + reverse_complement(decode(linear))
    assert own.length > 3800
    assert (whole.is_circular, whole.length) == (True, circle.size)
