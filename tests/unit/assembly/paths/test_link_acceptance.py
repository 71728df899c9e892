"""Which links are joins: tables made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.pairs.link_evidence import Evidence
from gpuasm.assembly.paths.link_acceptance import accept, single_copies
from tests.graphs import K, graph_of

A, B, C, D = 0, 2, 4, 6
LENGTH = 1000


def accepted(*links, length=LENGTH):
    """Return the joins among links: source, target, and keywords for their evidence."""
    rows = []
    for source, target, evidence_of in links:
        n = evidence_of.get("n", 20)
        expected = evidence_of.get("expected", n)
        gap, beyond = evidence_of.get("gap", 0), evidence_of.get("beyond", 0)
        rows.append((source, target, gap, n, evidence_of.get("possible", n), expected, beyond))
    source, target, gap, n_pairs, possible, expected, beyond = np.array(rows, np.int64).T
    evidence = Evidence(gap, n_pairs, possible, 16 * expected, 16 * beyond)
    is_false = np.zeros(len(rows), bool)
    joins = accept((source, target), evidence, is_false, np.full(4, length, np.int64), k=K, sd=20.0)
    return [(links[i][0], links[i][1]) for i in joins.tolist()]


@pytest.mark.parametrize(
    ("evidence_of", "is_join"),
    [
        ({"n": 10}, True),
        ({"n": 1}, False),
        ({"n": 30, "expected": 100}, True),
        ({"n": 5, "expected": 100}, False),
        ({"n": 18, "possible": 20}, True),
        ({"n": 8, "possible": 20}, False),
        ({"n": 20, "beyond": 2}, True),
        ({"n": 20, "beyond": 12}, False),
    ],
)
def test_a_join_needs_enough_consistent_pairs(evidence_of, is_join):
    assert accepted((A, B, evidence_of)) == ([(A, B)] if is_join else [])


@pytest.mark.parametrize(("n", "joins"), [(4, [(A, B)]), (12, [])])
@pytest.mark.parametrize("competitor", [(A, C), (C, B), (A, C + 1), (B + 1, D)])
def test_a_competing_link_with_many_pairs_prevents_a_join(n, joins, competitor):
    assert accepted((A, B, {"n": 20}), (*competitor, {"n": n, "expected": 200})) == joins


@pytest.mark.parametrize(("n", "joins"), [(1, [(A, B)]), (8, [])])
def test_a_self_link_needs_fewer_pairs_to_prevent_a_join(n, joins):
    assert accepted((A, B, {"n": 20}), (A, A, {"n": n, "expected": 200})) == joins


def test_equal_links_exclude_each_other():
    assert accepted((A, B, {}), (A, C, {})) == []


def test_a_link_beyond_the_nearer_target_does_not_compete():
    """A, B and C in a row, with more pairs from A to C than to B."""
    links = [(A, B, {"n": 10}), (A, C, {"n": 30, "gap": LENGTH}), (B, C, {"n": 10})]
    assert accepted(*links) == [(A, B), (B, C)]


def test_a_link_beyond_a_short_target_does_not_compete():
    links = [(A, B, {"n": 10}), (A, C, {"n": 30, "gap": 40}), (B, C, {"n": 10})]
    assert accepted(*links, length=40) == [(A, B), (B, C)]
    assert (A, B) not in accepted(*links[:2], length=40)


def test_both_strands_are_one_link():
    assert accepted((A, B, {})) == [(A, B)]
    assert accepted((B + 1, A + 1, {})) == [(B + 1, A + 1)]


def test_a_self_link_is_a_join_and_a_hairpin_is_not():
    assert accepted((A, A, {})) == [(A, A)]
    assert accepted((A, A + 1, {})) == []


def test_a_unitig_joins_at_each_end():
    assert accepted((A, B, {}), (B, C, {}), (C, A, {})) == [(A, B), (B, C), (C, A)]


@pytest.mark.parametrize(
    ("depth", "anchors", "is_single"),
    [(30, 100, True), (40, 100, True), (60, 100, False), (20, 100, True), (8, 100, False), (30, 10, False)],
)
def test_single_copies(depth, anchors, is_single):
    graph, number = graph_of([("long", 5000, 30.0), ("short", 200, float(depth))], "long>short")
    assert single_copies(graph, np.array([5000, anchors]))[number["short"]] == is_single
