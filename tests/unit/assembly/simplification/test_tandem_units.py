"""Tandem repeat units: superbubbles on a cycle, whose paths are in every molecule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.parameters import PATHS, SIMPLIFICATION
from gpuasm.assembly.simplification.superbubbles import find_superbubble_variants
from gpuasm.assembly.simplification.tandem_units import lies_in_tandem_repeat
from gpuasm.sequence.encoding import decode
from tests.graphs import K, graph_of, observed_graph
from tests.oracles import superbubbles as oracle
from tests.samples import simulated_genome

BUBBLE = "s>a s>b a>t b>t"
TANDEM = f"before>s {BUBBLE} t>loop loop>s t>after"


def on_cycle(*others, arcs=TANDEM, entrance="s", compared=True):
    unitigs = [("s", 7, 60.0), ("a", K, 30.0), ("b", K, 30.0), ("t", 27, 60.0), *others]
    graph, number = graph_of(unitigs, arcs)
    s, t = 2 * number["s"], 2 * number["t"]
    if entrance == "t":
        s, t = t ^ 1, s ^ 1
    arrays = graph.arc_start, graph.arc_to, graph.start, graph.count, graph.k
    found = lies_in_tandem_repeat(np.int64(s), np.int64(t), np.int64(number["b"]), arrays)
    assert not compared or found == oracle.lies_in_tandem_repeat(graph, s, t, graph.depth[number["b"]])
    return found


def loop(n_kmers=40, depth=30.0, *, before=30.0, after=30.0):
    return ("loop", n_kmers, depth), ("before", 900, before), ("after", 900, after)


@pytest.mark.parametrize("entrance", ["s", "t"])
def test_units_of_a_tandem_repeat_lie_on_a_cycle(entrance):
    assert on_cycle(*loop(), entrance=entrance)


def test_superbubble_without_a_return_path_lies_on_no_cycle():
    assert not on_cycle(*loop(), arcs=f"before>s {BUBBLE} t>after t>loop")


@pytest.mark.parametrize("arcs", [f"{BUBBLE} t>loop loop>s", f"before>s {BUBBLE} t>loop loop>s"])
def test_small_circular_molecule_with_variants_is_no_tandem_repeat(arcs):
    """At most one edge enters or leaves the cycle."""
    assert not on_cycle(*loop(), arcs=arcs)


@pytest.mark.parametrize("low", ["before", "after"])
def test_chimeric_edges_of_a_cycle_do_not_count(low):
    assert not on_cycle(*loop(**{low: 14.0}))
    assert on_cycle(*loop(**{low: 15.0}))


def test_return_path_of_low_depth_does_not_count():
    assert not on_cycle(*loop(depth=14.0))


def test_cycle_as_long_as_a_plasmid_is_no_tandem_repeat():
    assert on_cycle(*loop(int(0.8 * PATHS.replicon_min_bases)))
    assert not on_cycle(*loop(int(1.2 * PATHS.replicon_min_bases)))


def test_cycle_may_have_no_unitig_or_other_edges():
    assert on_cycle(*loop(), arcs=f"before>s {BUBBLE} t>s t>after")
    assert on_cycle(*loop(), arcs=f"before>loop {BUBBLE} t>loop loop>s loop>after")


def test_tangle_is_no_tandem_repeat():
    most = SIMPLIFICATION.tandem_max_unitigs
    for n, found in ((most // 2, True), (most, False)):
        many = [(f"loop{i}", 2, 30.0) for i in range(n)]
        arcs = " ".join(f"t>loop{i} loop{i}>s" for i in range(n))
        arcs = f"before>s {BUBBLE} {arcs} t>after"
        assert on_cycle(*many, *loop()[1:], arcs=arcs, compared=n < most) == found


@given(st.integers(0, 1 << 30))
@settings(max_examples=60, deadline=None)
def test_result_equals_the_oracle(seed):
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(int(rng.integers(2, 6)))]
    others = [(name, int(rng.integers(1, 500)), float(rng.integers(10, 40))) for name in names]
    between = ["t", "s", *names]
    arcs = set(BUBBLE.split())
    for _ in range(int(rng.integers(3, 12))):
        source, target = rng.choice([n for n in between if n != "s"]), rng.choice([n for n in between if n != "t"])
        arcs.add(f"{source}>{target}")
    on_cycle(*others, arcs=" ".join(sorted(arcs)))


def test_tandem_repeat_of_a_population_keeps_its_units():
    """Two units of 147 bases that differ in two are kept; two variants of one unit are merged."""
    unit = simulated_genome(length=1700, seed=3)[:147]
    other = unit.copy()
    other[[6, 70]] = (other[[6, 70]] + 1) % 4
    before, after = (simulated_genome(length=1700, seed=seed) for seed in (4, 5))
    tandem = observed_graph([decode(np.concatenate([before, unit, other, after]))] * 30, 31)
    assert not find_superbubble_variants(tandem).any()
    variants = [decode(np.concatenate([before, own, after])) for own in (unit, other)] * 30
    assert find_superbubble_variants(observed_graph(variants, 31)).sum() == 2
