"""Edits to a beginning: against every beginning of the other text, by recursion."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.sequence.edits import edits_to_prefix


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
