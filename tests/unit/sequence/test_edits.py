"""Edit distances to prefixes, by recursion, and to substrings, by the full matrix."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuasm.sequence.edits import edits_to_prefix, edits_to_substring


def plainly(query: tuple[int, ...], target: tuple[int, ...]) -> int:
    @cache
    def edits(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        changed = edits(i - 1, j - 1) + (query[i - 1] != target[j - 1])
        return min(changed, edits(i - 1, j) + 1, edits(i, j - 1) + 1)

    return min(edits(len(query), j) for j in range(len(target) + 1))


def found(query, target) -> int:
    return int(edits_to_prefix(np.array(query, np.uint8), np.array(target, np.uint8)))


texts = st.lists(st.integers(0, 3), max_size=12).map(tuple)


@given(texts, texts)
def test_as_by_recursion(query, target):
    assert found(query, target) == plainly(query, target)


@pytest.mark.parametrize(
    ("query", "target", "edits"),
    [
        ((0, 1, 2), (0, 1, 2, 3, 3), 0),  # what follows costs nothing
        ((0, 1, 2), (3, 0, 1, 2), 1),  # what comes before does
        ((0, 1, 2), (), 3),
        ((), (0, 1), 0),
    ],
)
def test_only_prefixes_count(query, target, edits):
    assert found(query, target) == edits


def least_edits(query: list[int], target: list[int]) -> int:
    """Return the least edits between a query and any substring of a target, by the full matrix."""
    row = [0] * (len(target) + 1)
    for j, own in enumerate(query):
        before, row = row, [j + 1]
        for i, other in enumerate(target):
            row.append(min(before[i] + (own != other), before[i + 1] + 1, row[i] + 1))
    return min(row)


codes = st.lists(st.integers(0, 3), min_size=1, max_size=30)


@given(codes, codes, st.integers(1, 9), st.integers(1, 9), st.data())
@example([0, 1, 2], [3], 7, 1, None)
@settings(max_examples=150, deadline=None)
def test_edits_to_substring_equal_the_full_matrix(one, other, times, again, data):
    query = one * times
    target = list(query) + other * again
    if data is not None:  # some edits of the query, with bases before and after it
        for _ in range(data.draw(st.integers(0, 12))):
            at = data.draw(st.integers(0, len(target)))
            target[at : at + data.draw(st.integers(0, 2))] = data.draw(st.lists(st.integers(0, 3), max_size=2))
    found = edits_to_substring(np.array(query, np.uint8), np.array(target, np.uint8))
    assert found == least_edits(query, target)
