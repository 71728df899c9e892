"""Which links are joins: tables made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.pairs.accepting import Table, accept, single_copies
from gpuasm.assembly.pairs.link_evidence import Evidence
from tests.graphs import K, graph_of

A, B, C, D = 0, 2, 4, 6
LENGTH = 1000


def accepted(*links, length=LENGTH):
    """Return the joins among links: source, target, and keywords of what their pairs say."""
    rows = []
    for source, target, said in links:
        n = said.get("n", 20)
        expected = said.get("expected", n)
        rows.append((source, target, said.get("gap", 0), n, said.get("possible", n), expected, said.get("beyond", 0)))
    source, target, gap, n_pairs, possible, expected, beyond = np.array(rows, np.int64).T
    evidence = Evidence(gap, n_pairs, possible, 16 * expected, 16 * beyond)
    table = Table.of(source, target, evidence, 4)
    joins = accept(table, np.full(4, length, np.int64), k=K, sd=20.0)
    return [(links[i][0], links[i][1]) for i in joins.tolist()]


@pytest.mark.parametrize(
    ("said", "is_join"),
    [
        ({"n": 3}, True),
        ({"n": 2}, False),
        ({"n": 15, "expected": 100}, True),
        ({"n": 14, "expected": 100}, False),
        ({"n": 14, "possible": 20}, True),
        ({"n": 13, "possible": 20}, False),
        ({"n": 20, "beyond": 5}, True),
        ({"n": 20, "beyond": 6}, False),
    ],
)
def test_how_many_pairs(said, is_join):
    assert accepted((A, B, said)) == ([(A, B)] if is_join else [])


@pytest.mark.parametrize(("n", "joins"), [(7, [(A, B)]), (8, [])])
@pytest.mark.parametrize("rival", [(A, C), (C, B), (A, C + 1), (B + 1, D)])
def test_a_rival_with_more_than_a_third(n, joins, rival):
    assert accepted((A, B, {"n": 20}), (*rival, {"n": n, "expected": 200})) == joins


@pytest.mark.parametrize(("n", "joins"), [(3, [(A, B)]), (4, [])])
def test_a_link_to_itself_counts_more(n, joins):
    assert accepted((A, B, {"n": 20}), (A, A, {"n": n, "expected": 200})) == joins


def test_equal_rivals_exclude_each_other():
    assert accepted((A, B, {}), (A, C, {})) == []


def test_what_lies_beyond_is_no_rival():
    """A, B and C in a row, with more pairs from A to C than to B."""
    links = [(A, B, {"n": 10}), (A, C, {"n": 30, "gap": LENGTH}), (B, C, {"n": 10})]
    assert accepted(*links) == [(A, B), (B, C)]


def test_what_lies_beyond_by_links_where_the_middle_is_short():
    links = [(A, B, {"n": 10}), (A, C, {"n": 30, "gap": 40}), (B, C, {"n": 10})]
    assert accepted(*links, length=40) == [(A, B), (B, C)]
    assert (A, B) not in accepted(*links[:2], length=40)


def test_both_strands_are_one_link():
    assert accepted((A, B, {})) == [(A, B)]
    assert accepted((B + 1, A + 1, {})) == [(B + 1, A + 1)]


def test_a_circle_of_one_is_a_join_and_a_hairpin_is_not():
    assert accepted((A, A, {})) == [(A, A)]
    assert accepted((A, A + 1, {})) == []


def test_a_unitig_joins_at_each_end():
    assert accepted((A, B, {}), (B, C, {}), (C, A, {})) == [(A, B), (B, C), (C, A)]


@pytest.mark.parametrize(
    ("depth", "anchors", "is_single"),
    [(30, 30, True), (45, 100, True), (46, 100, False), (15, 100, True), (14, 100, False), (30, 29, False)],
)
def test_single_copies(depth, anchors, is_single):
    graph, number = graph_of([("long", 5000, 30.0), ("short", 200, float(depth))], "long>short")
    assert single_copies(graph, np.array([5000, anchors]))[number["short"]] == is_single
