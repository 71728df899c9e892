"""Dead ends that share their last bases: joined where nothing speaks against it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.pairs.lost_junctions import LEAST_SHARED, find_lost_junctions, has_hardly_holes
from gpuasm.assembly.pairs.overlaps import oriented_codes
from gpuasm.assembly.pairs.resolving import resolve
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from tests.unit.assembly.pairs.test_resolving import K, either_strand, graph_of, pairs_of, random_text, texts_of

A, B, C, D = (random_text(2000, seed) for seed in range(20, 24))
R = random_text(55, 30)


def turned(text):
    return decode(reverse_complement(encode(text)))


def resolved_texts(*texts, mean=104, times_deeper=1):
    """Return what becomes of texts; by default fragments are so short and few that few of them can link two."""
    graph = graph_of(*texts)
    count = graph.count // 2
    count[np.argmax(graph.length)] *= times_deeper
    return texts_of(resolve(replace(graph, count=count), pairs_of(*texts, mean=mean, sd=1)).graph)


def test_two_dead_ends_that_share_their_bases_are_joined():
    assert resolved_texts(A + R, R + B) == [either_strand(A + R + B)]
    assert resolved_texts(A + R, turned(R + B)) == [either_strand(A + R + B)]


def test_a_resolved_copy_beside_them_is_left_alone():
    """What follows R in the whole copy is not what the end could go on with: that copy is taken."""
    texts = [A + R + random_text(40, 31), D]
    whole = C + R[:-1] + random_text(2000, 32)
    assert either_strand(whole) in resolved_texts(*texts, whole)


def test_a_third_end_that_shares_them_leaves_the_choice_open():
    texts = [A + R, R + B, R + C]
    assert resolved_texts(*texts) == sorted(map(either_strand, texts))


@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize("shared", [LEAST_SHARED - 1, LEAST_SHARED + 2])
def test_a_third_end_leaves_the_choice_open_though_it_goes_on(shared, turn):
    """The third is a repeat: it goes on in two ways, and what the ends share may be all that they have of it."""
    third = D + R[:shared]
    ways = [third + "ACGT"[("ACGT".index(R[shared]) + i) % 4] + random_text(300, 33 + i) for i in (1, 2)]
    texts = [A + R, R + B, *(map(turned, ways) if turn else ways)]
    assert (either_strand(A + R + B) in resolved_texts(*texts)) == (shared < LEAST_SHARED)


def test_units_of_a_tandem_repeat_may_be_missing_between():
    texts = [A + R + R, R + B]
    assert resolved_texts(*texts) == sorted(map(either_strand, texts))


@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize("rotation", [0, 100, 310])
def test_units_may_be_missing_that_became_a_circle(turn, rotation):
    """Of R M R M R what is between its ends may be told as a circle of R and M, which has no end to be a rival."""
    unit = R + random_text(300, 35)
    unit = unit[rotation:] + unit[:rotation]
    around = unit + unit[:K]
    graph = graph_of(A + R, R + B, turned(around) if turn else around)
    assert graph.is_circular.sum() == 1
    assert find_lost_junctions(graph, np.ones(2 * graph.n, dtype=bool)) == []
    other = random_text(355, 36)
    apart = graph_of(A + R, R + B, other + other[:K])
    assert apart.is_circular.sum() == 1
    assert len(find_lost_junctions(apart, np.ones(2 * apart.n, dtype=bool))) == 1


def test_ends_of_different_depth_are_not_neighbours():
    texts = [A + R, R + B + C]
    assert resolved_texts(*texts) == [either_strand(A + R + B + C)]
    assert resolved_texts(*texts, times_deeper=2) == sorted(map(either_strand, texts))


def test_pairs_that_should_be_there_and_are_not_speak_against_it():
    texts = [A + R, R + B]
    assert resolved_texts(*texts, mean=300) == sorted(map(either_strand, texts))


def test_fewer_bases_say_nothing():
    few = R[: LEAST_SHARED - 1]
    texts = [A + few, few + B]
    assert resolved_texts(*texts) == sorted(map(either_strand, texts))


def slow_lost_junctions(graph):
    """Return every join of two dead ends that share their bases with no other, by trying all numbers of bases."""
    dead = [o for o in range(2 * graph.n) if graph.arc_start[o] == graph.arc_start[o + 1]]
    own = {o: oriented_codes(graph, o) for o in range(2 * graph.n)}
    pairs = [
        (x, y ^ 1, n)
        for x in dead
        for y in dead
        for n in range(LEAST_SHARED, min(own[x].size, own[y].size, graph.k - 2) + 1)
        if np.array_equal(own[x][-n:], own[y ^ 1][:n])
    ]
    alone = [(x, y, n) for x, y, n in pairs if [p[0] for p in pairs].count(x) == [p[1] for p in pairs].count(y) == 1]
    return {(x, y, n) for x, y, n in alone if (x, y) <= (y ^ 1, x ^ 1) and x >> 1 != y >> 1}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), min_size=1, max_size=6), st.data())
def test_all_are_found_that_trying_every_length_finds(made, data):
    shared = [random_text(data.draw(st.integers(LEAST_SHARED - 1, K - 2)), 40 + i) for i in range(5)]
    texts = [shared[a] + random_text(200, 50 + i) + shared[b] for i, (a, b, _) in enumerate(made)]
    graph = graph_of(*(turned(text) if turn else text for text, (_, _, turn) in zip(texts, made, strict=True)))
    found = find_lost_junctions(graph, np.ones(2 * graph.n, dtype=bool))
    assert len(set(found)) == len(found)
    assert set(found) == slow_lost_junctions(graph)


@pytest.mark.parametrize(("depth", "goes"), [(8, False), (10, True)])
def test_where_holes_are_common_nothing_can_be_told(depth, goes):
    graph, pairs = graph_of(A + R, R + B), pairs_of(A + R, R + B, mean=104, sd=1)
    thin = replace(graph, count=graph.n_kmers * graph.unit * depth)
    found = texts_of(resolve(thin, pairs).graph)
    assert (found == [either_strand(A + R + B)]) == goes


@pytest.mark.parametrize(
    ("depth", "bases", "is_sure"), [(5.0, 150, False), (7.0, 150, True), (7.0, 75, False), (14.0, 75, True)]
)
def test_holes_are_rare_where_reads_are_many(depth, bases, is_sure):
    """Of junctions over 50 bases, chance leaves one in 28 without a read at 5x, one in 106 at 7x."""
    graph = replace(graph_of(A), unit=1)
    graph = replace(graph, count=np.round(graph.n_kmers * depth).astype(np.int64))
    assert has_hardly_holes(graph, bases_per_read=bases).tolist() == [is_sure]
