"""Tips: short dead ends that are removed."""

from __future__ import annotations

import pytest

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.simplification.branches import RuleLimits, find_tips
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.graphs import K, all_near, graph_of, marked
from tests.samples import simulated_genome, simulated_texts

DEPTH = 30.0


def tips(unitigs, arcs, *, strictness=1.0, nearby=DEPTH, circles="", k=K, reach=None, dense=False):
    graph, number = graph_of(unitigs, arcs, circles=circles, k=k)
    options = {"strictness": strictness, "reach": reach, "windows_are_dense": dense}
    return marked(find_tips(graph, all_near(graph, nearby), RuleLimits(**options)), number)


def fork(tip_kmers=10, tip_depth=2.0, other_depth=DEPTH, other_kmers=500):
    """Return unitigs for a trunk that continues into a long branch and into a tip."""
    return [("trunk", 900, DEPTH), ("branch", other_kmers, other_depth), ("tip", tip_kmers, tip_depth)]


@pytest.mark.parametrize("arcs", ["trunk>branch trunk>tip", "-trunk>branch -trunk>-tip", "tip>trunk branch>trunk"])
def test_error_near_the_end_of_a_read_is_removed(arcs):
    assert tips(fork(), arcs) == {"tip"}


@pytest.mark.parametrize(
    ("changed", "removed"),
    [
        ({"tip_kmers": K}, True),
        ({"tip_kmers": K + 1}, True),
        ({"tip_kmers": 2 * K}, True),
        ({"tip_kmers": 2 * K + 1}, False),
        ({"tip_kmers": K, "tip_depth": 8.0}, True),
        ({"tip_kmers": K + 1, "tip_depth": 2.9}, True),
        ({"tip_kmers": K + 1, "tip_depth": 3.1}, False),
        ({"tip_kmers": K + 1, "tip_depth": 10.0, "other_depth": 90.0}, False),
        ({"tip_depth": 15.0}, True),
        ({"tip_depth": 15.5}, False),
        ({"tip_depth": 9.0, "other_depth": 10.0}, True),
        ({"tip_depth": 10.5, "other_depth": 12.0}, False),
        ({"tip_depth": 10.0, "other_depth": 9.0, "other_kmers": 500}, False),
    ],
)
def test_length_and_depth_of_a_tip(changed, removed):
    assert ("tip" in tips(fork(**changed), "trunk>branch trunk>tip")) == removed


@pytest.mark.parametrize(
    ("branch_depth", "tip_depth", "removed"), [(100.0, 5.9, True), (100.0, 6.1, False), (900.0, 8.9, True)]
)
def test_depth_of_a_tip_of_two_errors(branch_depth, tip_depth, removed):
    unitigs = fork(tip_kmers=K + 1, tip_depth=tip_depth, other_depth=branch_depth)
    assert ("tip" in tips(unitigs, "trunk>branch trunk>tip", nearby=100.0)) == removed


@pytest.mark.parametrize(("n_kmers", "depth", "removed"), [(31, 12.0, True), (50, 12.0, False), (50, 2.0, True)])
def test_reach_of_an_error_is_that_of_the_first_k(n_kmers, depth, removed):
    """A molecule may end 50 bases beyond a repeat, next to the continuation of the other copy."""
    unitigs = fork(tip_kmers=n_kmers, tip_depth=depth)
    assert ("tip" in tips(unitigs, "trunk>branch trunk>tip", k=61, reach=31)) == removed
    assert tips(unitigs, "trunk>branch trunk>tip", k=61) == {"tip"}


@pytest.mark.parametrize(("n_kmers", "depth", "removed"), [(61, 2.5, True), (61, 3.5, False), (62, 2.5, False)])
def test_tip_of_few_reads_reaches_as_far_as_k(n_kmers, depth, removed):
    """Mercy k-mers of single reads may contain errors, which spoil k k-mers at each k."""
    unitigs = fork(tip_kmers=n_kmers, tip_depth=depth, other_depth=6.0)
    assert ("tip" in tips(unitigs, "trunk>branch trunk>tip", nearby=6.0, k=61, reach=31)) == removed


@pytest.mark.parametrize("copies", [2, 5, 40])
def test_dead_end_of_one_copy_next_to_a_repeat_is_kept(copies):
    """Without it, the other copies would be its only continuation."""
    assert tips(fork(tip_depth=0.9 * DEPTH, other_depth=copies * DEPTH), "trunk>branch trunk>tip") == set()
    assert tips(fork(tip_depth=0.4 * DEPTH, other_depth=copies * DEPTH), "trunk>branch trunk>tip") == {"tip"}


@pytest.mark.parametrize(
    ("one", "other", "removed"),
    [
        ((10, 2.0), (10, 3.0), "a"),
        ((10, 2.0), (20, 2.0), "a"),
        ((20, 2.0), (10, 2.0), "b"),
        ((10, 2.0), (10, 2.0), "b"),
        ((10, 20.0), (10, 20.0), ""),
    ],
)
def test_one_of_two_tips_is_kept(one, other, removed):
    found = tips([("trunk", 900, DEPTH), ("a", *one), ("b", *other)], "trunk>a trunk>b")
    assert found == set(removed)


def test_tip_of_the_highest_depth_of_three_is_kept():
    unitigs = [("trunk", 900, DEPTH), ("a", 10, 2.0), ("b", 10, 3.0), ("c", 10, 4.0)]
    assert tips(unitigs, "trunk>a trunk>b trunk>c") == {"a", "b"}


@pytest.mark.parametrize(
    ("tip", "other", "removed"),
    [
        ((K, 2.5), (2 * K + 1, 1.25), {"tip"}),
        ((K + 1, 2.5), (2 * K + 1, 1.25), set()),
        ((K, 3.0), (2 * K + 1, 1.75), set()),
        ((K, 2.5), (2 * K, 1.25), set()),  # both end
        ((K, 2.5), (K, 1.25), {"other"}),  # both end: that of lower depth
    ],
)
def test_tip_of_few_reads_is_removed_next_to_a_continuing_branch(tip, other, removed):
    unitigs = [("trunk", 900, 9.0), ("other", *other), ("tip", *tip)]
    assert tips(unitigs, "trunk>other trunk>tip", nearby=9.0) == removed


def test_short_branch_continues_by_its_successor():
    unitigs = [("trunk", 900, 9.0), ("bridge", 5, 1.25), ("tip", 10, 2.5), ("far", 900, 9.0)]
    assert tips(unitigs, "trunk>bridge trunk>tip bridge>far", nearby=9.0) == {"tip"}


def test_dead_end_without_competing_branch_is_kept():
    assert tips([("trunk", 900, DEPTH), ("end", 5, 1.0)], "trunk>end") == set()


def test_unitigs_with_two_or_no_neighbours_are_no_tips():
    unitigs = [("a", 900, DEPTH), ("b", 900, DEPTH), ("low", 10, 1.0), ("alone", 5, 1.0)]
    assert tips(unitigs, "a>b a>low low>b") == set()


def test_circular_unitig_is_no_tip():
    assert tips([("trunk", 900, DEPTH), ("ring", 10, 1.0)], "trunk>trunk", circles="ring") == set()


def test_first_rounds_remove_short_tips_of_low_depth_only():
    arcs = "trunk>branch trunk>tip"
    assert tips(fork(tip_kmers=10), arcs, strictness=1 / 3) == {"tip"}
    assert tips(fork(tip_kmers=11, tip_depth=0.9), arcs, strictness=1 / 3) == {"tip"}
    assert tips(fork(tip_kmers=11, tip_depth=1.1), arcs, strictness=1 / 3) == set()
    assert tips(fork(tip_kmers=21), arcs, strictness=1 / 3) == set()
    assert tips(fork(tip_depth=5.0), arcs, strictness=1 / 3) == {"tip"}
    assert tips(fork(tip_depth=5.1), arcs, strictness=1 / 3) == set()


def test_tip_is_compared_with_other_incoming_edges():
    unitigs = [("in", 900, DEPTH), ("repeat", 300, 2 * DEPTH), ("a", 900, DEPTH), ("short", 20, DEPTH)]
    assert tips(unitigs, "in>repeat short>repeat repeat>a") == set()  # of equal depth: a flank that ends


@pytest.mark.parametrize(
    ("tip", "branch", "arc", "removed"),
    [
        ((5, 11.0), (500, 60.0), 20.0, True),  # the depth of one copy, but all its reads end at one place
        ((5, 11.0), (500, 12.0), 28.0, True),  # of low depth, but with many reads at the junction
        ((5, 11.0), (500, 12.0), 21.0, False),
        ((K + 1, 11.0), (500, 60.0), 60.0, False),
        ((5, 11.0), (2 * K, 60.0), 60.0, False),  # the other branch ends as well
    ],
)
def test_tip_of_any_depth_is_removed_if_windows_are_dense(tip, branch, arc, removed):
    unitigs = [("trunk", 900, 40.0), ("branch", *branch), ("tip", *tip)]
    arcs = f"trunk>branch:{arc} trunk>tip"
    assert tips(unitigs, arcs, nearby=16.0) == set()
    assert ("tip" in tips(unitigs, arcs, nearby=16.0, dense=True)) == removed
    assert tips(unitigs, arcs, nearby=16.0, strictness=2 / 3, dense=True) == set()


def test_depth_of_few_reads_depends_on_their_windows():
    """At k = 31 a window of reads of 100 bases counts 1.4: two to three reads have a depth of 3.4."""
    graph, number = graph_of(fork(tip_kmers=K + 6, tip_depth=3.4), "trunk>branch trunk>tip")
    nearby = all_near(graph, DEPTH)
    assert marked(find_tips(graph, nearby, RuleLimits()), number) == set()
    assert marked(find_tips(graph, nearby, RuleLimits(few=3 * 100 / 70)), number) == {"tip"}


def test_reads_that_diverge_together_do_not_split_a_contig():
    """Three reads of one miscopied molecule diverge; one ends first, so some windows have three reads."""
    genome = simulated_genome(length=5000, seed=3)
    texts = simulated_texts(genome, fold=20, length=100, error_rate=0.0)
    tail = decode(simulated_genome(length=2000, seed=4))
    away = [decode(genome)[2500 - 100 + n : 2500] + tail[:n] for n in (37, 37, 20)]
    contigs = assemble(Reads.from_strings(texts + away), AssemblyOptions(k=(31,))).contigs
    assert len(contigs) == 1
