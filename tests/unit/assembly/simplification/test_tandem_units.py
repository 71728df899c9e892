"""Turns: superbubbles of tandem repeats, whose ways are all in every molecule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.simplification.superbubbles import find_superbubble_variants
from gpuasm.assembly.simplification.tandem_units import LONGEST_TURN, MOST_FOUND, lies_in_tandem_repeat
from gpuasm.sequence.encoding import decode
from tests.graphs import K, graph_of
from tests.oracles import superbubbles as oracle
from tests.samples import simulated_genome
from tests.unit.assembly.simplification.test_superbubbles import observed

BUBBLE = "s>a s>b a>t b>t"
TANDEM = f"before>s {BUBBLE} t>loop loop>s t>after"


def on_turn(*others, arcs=TANDEM, entrance="s", compared=True):
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
def test_units_of_a_tandem_repeat_lie_on_a_turn(entrance):
    assert on_turn(*loop(), entrance=entrance)


def test_where_nothing_leads_back_there_is_no_turn():
    assert not on_turn(*loop(), arcs=f"before>s {BUBBLE} t>after t>loop")


@pytest.mark.parametrize("arcs", [f"{BUBBLE} t>loop loop>s", f"before>s {BUBBLE} t>loop loop>s"])
def test_a_small_circle_with_variants_is_no_tandem_repeat(arcs):
    """Nothing leads in or out: a viroid, say. Nor where only one thing does."""
    assert not on_turn(*loop(), arcs=arcs)


@pytest.mark.parametrize("thin", ["before", "after"])
def test_nor_is_one_that_chimeras_lead_into_or_out_of(thin):
    assert not on_turn(*loop(**{thin: 14.0}))
    assert on_turn(*loop(**{thin: 15.0}))


def test_nor_are_ways_beside_a_thin_arc_back():
    assert not on_turn(*loop(depth=14.0))


def test_a_turn_as_long_as_a_plasmid_is_a_circle():
    assert on_turn(*loop(LONGEST_TURN - 7 - 27))
    assert not on_turn(*loop(LONGEST_TURN - 7 - 26))


def test_the_loop_may_be_empty_and_others_may_join_it():
    assert on_turn(*loop(), arcs=f"before>s {BUBBLE} t>s t>after")
    assert on_turn(*loop(), arcs=f"before>loop {BUBBLE} t>loop loop>s loop>after")


def test_nothing_is_told_in_a_tangle():
    """As many unitigs between the exit and the entrance as are not looked at any more."""
    for n, found in ((MOST_FOUND - 4, True), (MOST_FOUND, False)):
        many = [(f"loop{i}", 2, 30.0) for i in range(n)]
        arcs = " ".join(f"t>loop{i} loop{i}>s" for i in range(n))
        arcs = f"before>s {BUBBLE} {arcs} t>after"
        assert on_turn(*many, *loop()[1:], arcs=arcs, compared=n < MOST_FOUND) == found


@given(st.integers(0, 1 << 30))
@settings(max_examples=60, deadline=None)
def test_a_turn_is_what_a_plain_search_says(seed):
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(int(rng.integers(2, 6)))]
    others = [(name, int(rng.integers(1, 500)), float(rng.integers(10, 40))) for name in names]
    between = ["t", "s", *names]
    arcs = set(BUBBLE.split())
    for _ in range(int(rng.integers(3, 12))):
        source, target = rng.choice([n for n in between if n != "s"]), rng.choice([n for n in between if n != "t"])
        arcs.add(f"{source}>{target}")
    on_turn(*others, arcs=" ".join(sorted(arcs)))


def test_a_tandem_repeat_of_a_population_keeps_its_units():
    """Two units of 147 bases that differ in two, as the plasmid of TMV has; and two variants of one such unit."""
    unit = simulated_genome(length=1700, seed=3)[:147]
    other = unit.copy()
    other[[6, 70]] = (other[[6, 70]] + 1) % 4
    before, after = (simulated_genome(length=1700, seed=seed) for seed in (4, 5))
    tandem = observed([decode(np.concatenate([before, unit, other, after]))] * 30, 31)
    assert not find_superbubble_variants(tandem).any()
    variants = [decode(np.concatenate([before, own, after])) for own in (unit, other)] * 30
    assert find_superbubble_variants(observed(variants, 31)).sum() == 2
