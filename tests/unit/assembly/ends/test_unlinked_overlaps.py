"""Dead ends that share their last bases: joined if no alternative exists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.ends.end_joining import are_densely_covered, find_unlinked_overlaps
from gpuasm.assembly.graph.unitig_graph import oriented_codes
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.assembly.paths.repeat_resolution import resolve
from tests.oracles.kmers import reverse_complement
from tests.repeat_graphs import K, either_strand, graph_of, pairs_of, random_text, texts_of

A, B, C, D = (random_text(2000, seed) for seed in range(20, 24))
R = random_text(55, 30)
LEAST = ALIGNMENT.contained_end_min_bases


def resolved_texts(*texts, mean=104, depth_ratio=1):
    """Return the resolved texts; by default few fragments are long enough to link two."""
    graph = graph_of(*texts)
    count = graph.count // 2
    count[np.argmax(graph.length)] *= depth_ratio
    return texts_of(resolve(replace(graph, count=count), pairs_of(*texts, mean=mean, sd=1)).graph)


def test_two_dead_ends_that_share_their_bases_are_joined():
    assert resolved_texts(A + R, R + B) == [either_strand(A + R + B)]
    assert resolved_texts(A + R, reverse_complement(R + B)) == [either_strand(A + R + B)]


def test_a_resolved_copy_does_not_compete():
    """The continuation of R in the resolved copy is used, so the end cannot continue there."""
    texts = [A + R + random_text(40, 31), D]
    whole = C + R[:-1] + random_text(2000, 32)
    assert either_strand(whole) in resolved_texts(*texts, whole)


def test_a_third_overlapping_end_prevents_a_join():
    texts = [A + R, R + B, R + C]
    assert resolved_texts(*texts) == sorted(map(either_strand, texts))


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("shared", [30, 54])
def test_a_third_overlapping_end_that_continues_prevents_a_join(shared, is_reversed):
    """The third unitig is a repeat with two continuations, and the overlap may be all that the ends have of it."""
    third = D + R[:shared]
    continuations = [third + "ACGT"[("ACGT".index(R[shared]) + i) % 4] + random_text(300, 33 + i) for i in (1, 2)]
    texts = [A + R, R + B, *(map(reverse_complement, continuations) if is_reversed else continuations)]
    assert (either_strand(A + R + B) in resolved_texts(*texts)) == (shared < LEAST)


def test_an_overlap_that_occurs_again_is_not_joined():
    texts = [A + R + R, R + B]
    assert resolved_texts(*texts) == sorted(map(either_strand, texts))


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("rotation", [0, 100, 310])
def test_an_overlap_within_a_circular_unitig_is_not_joined(is_reversed, rotation):
    """The units between the ends of R M R M R may form a circular unitig of R and M, which has no end."""
    unit = R + random_text(300, 35)
    unit = unit[rotation:] + unit[:rotation]
    around = unit + unit[:K]
    graph = graph_of(A + R, R + B, reverse_complement(around) if is_reversed else around)
    assert graph.is_circular.sum() == 1
    assert find_unlinked_overlaps(graph, np.ones(2 * graph.n, dtype=bool)) == []
    other = random_text(355, 36)
    apart = graph_of(A + R, R + B, other + other[:K])
    assert apart.is_circular.sum() == 1
    assert len(find_unlinked_overlaps(apart, np.ones(2 * apart.n, dtype=bool))) == 1


def test_ends_of_different_depth_are_not_joined():
    texts = [A + R, R + B + C]
    assert resolved_texts(*texts) == [either_strand(A + R + B + C)]
    assert resolved_texts(*texts, depth_ratio=2) == sorted(map(either_strand, texts))


def test_missing_expected_pairs_prevent_a_join():
    texts = [A + R, R + B]
    assert resolved_texts(*texts, mean=300) == sorted(map(either_strand, texts))


def test_a_short_overlap_is_not_joined():
    few = R[:30]
    texts = [A + few, few + B]
    assert resolved_texts(*texts) == sorted(map(either_strand, texts))


def slow_unlinked_overlaps(graph):
    """Return every join of two dead ends that share their bases with no other, by trying all numbers of bases."""
    dead = [o for o in range(2 * graph.n) if graph.arc_start[o] == graph.arc_start[o + 1]]
    own = {o: oriented_codes(graph, o) for o in range(2 * graph.n)}
    pairs = [
        (x, y ^ 1, n)
        for x in dead
        for y in dead
        for n in range(LEAST, min(own[x].size, own[y].size, graph.k - 2) + 1)
        if np.array_equal(own[x][-n:], own[y ^ 1][:n])
    ]
    alone = [(x, y, n) for x, y, n in pairs if [p[0] for p in pairs].count(x) == [p[1] for p in pairs].count(y) == 1]
    return {(x, y, n) for x, y, n in alone if (x, y) <= (y ^ 1, x ^ 1) and x >> 1 != y >> 1}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), min_size=1, max_size=6), st.data())
def test_overlaps_equal_those_of_trying_every_length(made, data):
    shared = [random_text(data.draw(st.integers(LEAST - 5, K - 2)), 40 + i) for i in range(5)]
    texts = [shared[a] + random_text(200, 50 + i) + shared[b] for i, (a, b, _) in enumerate(made)]
    graph = graph_of(
        *(
            reverse_complement(text) if is_reversed else text
            for text, (_, _, is_reversed) in zip(texts, made, strict=True)
        )
    )
    found = find_unlinked_overlaps(graph, np.ones(2 * graph.n, dtype=bool))
    assert len(set(found)) == len(found)
    assert set(found) == slow_unlinked_overlaps(graph)


@pytest.mark.parametrize(("depth", "is_joined"), [(4, False), (20, True)])
def test_low_coverage_prevents_a_join(depth, is_joined):
    graph, pairs = graph_of(A + R, R + B), pairs_of(A + R, R + B, mean=104, sd=1)
    low = replace(graph, count=graph.n_kmers * graph.unit * depth)
    found = texts_of(resolve(low, pairs).graph)
    assert (found == [either_strand(A + R + B)]) == is_joined


@pytest.mark.parametrize(
    ("depth", "bases", "is_sure"), [(4.0, 150, False), (10.0, 150, True), (7.0, 75, False), (25.0, 75, True)]
)
def test_high_coverage_leaves_few_junctions_without_reads(depth, bases, is_sure):
    """Shorter reads span fewer junctions at the same depth."""
    graph = replace(graph_of(A), unit=1)
    graph = replace(graph, count=np.round(graph.n_kmers * depth).astype(np.int64))
    assert are_densely_covered(graph, bases_per_read=bases).tolist() == [is_sure]
