"""Tips: which go, and which stay."""

from __future__ import annotations

import pytest

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.simplification.tips import find_tips
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.graphs import K, all_near, graph_of, marked
from tests.samples import simulated_genome, simulated_texts

DEPTH = 30.0


def tips(unitigs, arcs, *, strictness=1.0, nearby=DEPTH, circles="", k=K, reach=None, dense=False):
    graph, number = graph_of(unitigs, arcs, circles=circles, k=k)
    options = {"strictness": strictness, "reach": reach, "windows_are_dense": dense}
    return marked(find_tips(graph, all_near(graph, nearby), **options), number)


def fork(tip_kmers=10, tip_depth=2.0, other_depth=DEPTH, other_kmers=500):
    """A long unitig that goes on into a long one and into a short one that ends."""
    return [("trunk", 900, DEPTH), ("branch", other_kmers, other_depth), ("tip", tip_kmers, tip_depth)]


@pytest.mark.parametrize("arcs", ["trunk>branch trunk>tip", "-trunk>branch -trunk>-tip", "tip>trunk branch>trunk"])
def test_an_error_near_the_end_of_a_read_goes(arcs):
    assert tips(fork(), arcs) == {"tip"}


@pytest.mark.parametrize(
    ("changed", "goes"),
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
def test_how_long_and_how_deep_a_tip_may_be(changed, goes):
    assert ("tip" in tips(fork(**changed), "trunk>branch trunk>tip")) == goes


@pytest.mark.parametrize(("deep", "tip_depth", "goes"), [(100.0, 5.9, True), (100.0, 6.1, False), (900.0, 8.9, True)])
def test_two_errors_at_once_are_as_many_as_the_depth_has_of_them(deep, tip_depth, goes):
    unitigs = fork(tip_kmers=K + 1, tip_depth=tip_depth, other_depth=deep)
    assert ("tip" in tips(unitigs, "trunk>branch trunk>tip", nearby=100.0)) == goes


@pytest.mark.parametrize(("n_kmers", "depth", "goes"), [(31, 12.0, True), (50, 12.0, False), (50, 2.0, True)])
def test_at_a_larger_k_an_error_reaches_no_further_than_at_the_first(n_kmers, depth, goes):
    """A molecule that ends 50 bases beyond a repeat would else go on as the other copy does, from k = 61 on."""
    unitigs = fork(tip_kmers=n_kmers, tip_depth=depth)
    assert ("tip" in tips(unitigs, "trunk>branch trunk>tip", k=61, reach=31)) == goes
    assert tips(unitigs, "trunk>branch trunk>tip", k=61) == {"tip"}


@pytest.mark.parametrize(("n_kmers", "depth", "goes"), [(61, 2.5, True), (61, 3.5, False), (62, 2.5, False)])
def test_what_bridges_took_back_reaches_as_far_as_any_k(n_kmers, depth, goes):
    """Single reads hold errors at every k; they bridge where all is a few reads deep."""
    unitigs = fork(tip_kmers=n_kmers, tip_depth=depth, other_depth=6.0)
    assert ("tip" in tips(unitigs, "trunk>branch trunk>tip", nearby=6.0, k=61, reach=31)) == goes


@pytest.mark.parametrize("copies", [2, 5, 40])
def test_a_single_copy_that_ends_beside_several_of_a_repeat_stays(copies):
    """Without it, the other copies' bases would seem the only way on."""
    assert tips(fork(tip_depth=0.9 * DEPTH, other_depth=copies * DEPTH), "trunk>branch trunk>tip") == set()
    assert tips(fork(tip_depth=0.4 * DEPTH, other_depth=copies * DEPTH), "trunk>branch trunk>tip") == {"tip"}


@pytest.mark.parametrize(
    ("one", "other", "goes"),
    [
        ((10, 2.0), (10, 3.0), "a"),
        ((10, 2.0), (20, 2.0), "a"),
        ((20, 2.0), (10, 2.0), "b"),
        ((10, 2.0), (10, 2.0), "b"),
        ((10, 20.0), (10, 20.0), ""),
    ],
)
def test_two_tips_never_kill_each_other(one, other, goes):
    found = tips([("trunk", 900, DEPTH), ("a", *one), ("b", *other)], "trunk>a trunk>b")
    assert found == set(goes)


def test_the_deepest_of_three_tips_stays():
    unitigs = [("trunk", 900, DEPTH), ("a", 10, 2.0), ("b", 10, 3.0), ("c", 10, 4.0)]
    assert tips(unitigs, "trunk>a trunk>b trunk>c") == {"a", "b"}


@pytest.mark.parametrize(
    ("tip", "other", "goes"),
    [
        ((K, 2.5), (2 * K + 1, 1.25), {"tip"}),
        ((K + 1, 2.5), (2 * K + 1, 1.25), set()),
        ((K, 3.0), (2 * K + 1, 1.75), set()),
        ((K, 2.5), (2 * K, 1.25), set()),  # both end
        ((K, 2.5), (K, 1.25), {"other"}),  # both end: the shallower
    ],
)
def test_a_tip_of_few_reads_goes_before_what_leads_on(tip, other, goes):
    unitigs = [("trunk", 900, 9.0), ("other", *other), ("tip", *tip)]
    assert tips(unitigs, "trunk>other trunk>tip", nearby=9.0) == goes


def test_what_is_short_leads_on_by_what_follows():
    unitigs = [("trunk", 900, 9.0), ("bridge", 5, 1.25), ("tip", 10, 2.5), ("far", 900, 9.0)]
    assert tips(unitigs, "trunk>bridge trunk>tip bridge>far", nearby=9.0) == {"tip"}


def test_an_end_without_another_way_stays():
    assert tips([("trunk", 900, DEPTH), ("end", 5, 1.0)], "trunk>end") == set()


def test_what_is_joined_at_both_ends_or_at_none_is_no_tip():
    unitigs = [("a", 900, DEPTH), ("b", 900, DEPTH), ("thin", 10, 1.0), ("alone", 5, 1.0)]
    assert tips(unitigs, "a>b a>thin thin>b") == set()


def test_a_circle_is_no_tip():
    assert tips([("trunk", 900, DEPTH), ("ring", 10, 1.0)], "trunk>trunk", circles="ring") == set()


def test_gentle_rounds_take_short_and_thin_ones_only():
    arcs = "trunk>branch trunk>tip"
    assert tips(fork(tip_kmers=10), arcs, strictness=1 / 3) == {"tip"}
    assert tips(fork(tip_kmers=11, tip_depth=0.9), arcs, strictness=1 / 3) == {"tip"}
    assert tips(fork(tip_kmers=11, tip_depth=1.1), arcs, strictness=1 / 3) == set()
    assert tips(fork(tip_kmers=21), arcs, strictness=1 / 3) == set()
    assert tips(fork(tip_depth=5.0), arcs, strictness=1 / 3) == {"tip"}
    assert tips(fork(tip_depth=5.1), arcs, strictness=1 / 3) == set()


def test_a_tip_on_a_repeat_is_compared_with_other_ways_into_the_repeat():
    unitigs = [("in", 900, DEPTH), ("repeat", 300, 2 * DEPTH), ("a", 900, DEPTH), ("short", 20, DEPTH)]
    assert tips(unitigs, "in>repeat short>repeat repeat>a") == set()  # as deep as the other: a flank that ends


@pytest.mark.parametrize(
    ("tip", "branch", "arc", "goes"),
    [
        ((5, 11.0), (500, 60.0), 20.0, True),  # as deep as one copy, but all its reads end at once
        ((5, 11.0), (500, 12.0), 28.0, True),  # shallow on the whole, deep where they meet
        ((5, 11.0), (500, 12.0), 21.0, False),
        ((K + 1, 11.0), (500, 60.0), 60.0, False),
        ((5, 11.0), (2 * K, 60.0), 60.0, False),  # the other ends as well
    ],
)
def test_what_is_well_covered_does_not_end_where_windows_are_dense(tip, branch, arc, goes):
    unitigs = [("trunk", 900, 40.0), ("branch", *branch), ("tip", *tip)]
    arcs = f"trunk>branch:{arc} trunk>tip"
    assert tips(unitigs, arcs, nearby=16.0) == set()
    assert ("tip" in tips(unitigs, arcs, nearby=16.0, dense=True)) == goes
    assert tips(unitigs, arcs, nearby=16.0, strictness=2 / 3, dense=True) == set()


def test_a_few_reads_are_as_deep_as_their_windows_count():
    """At k = 31 a window of reads of 100 bases stands for 1.4 of them: two to three reads are 3.4 deep."""
    graph, number = graph_of(fork(tip_kmers=K + 6, tip_depth=3.4), "trunk>branch trunk>tip")
    nearby = all_near(graph, DEPTH)
    assert marked(find_tips(graph, nearby), number) == set()
    assert marked(find_tips(graph, nearby, few=3 * 100 / 70), number) == {"tip"}


def test_reads_that_leave_the_genome_together_cut_no_contig():
    """Three do, of one molecule copied wrong; one of them ends first, so that some windows have three reads."""
    genome = simulated_genome(length=5000, seed=3)
    texts = simulated_texts(genome, fold=20, length=100, error_rate=0.0)
    tail = decode(simulated_genome(length=2000, seed=4))
    away = [decode(genome)[2500 - 100 + n : 2500] + tail[:n] for n in (37, 37, 20)]
    contigs = assemble(Reads.from_strings(texts + away), AssemblyOptions(k=(31,))).contigs
    assert len(contigs) == 1
