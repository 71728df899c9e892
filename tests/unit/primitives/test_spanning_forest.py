"""Minimum spanning forests against Kruskal's algorithm in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.primitives.spanning_forest import spanning_forest


def kruskal(a: list[int], b: list[int], n: int) -> list[bool]:
    tree = list(range(n))
    chosen = []
    for x, y in zip(a, b, strict=True):
        chosen.append(tree[x] != tree[y])
        old, new = tree[y], tree[x]
        tree = [new if t == old else t for t in tree]
    return chosen


def check(a: np.ndarray, b: np.ndarray, n: int, xp) -> None:
    found = spanning_forest(to_namespace(xp, a.astype(np.int32)), to_namespace(xp, b.astype(np.int32)), n)
    assert to_host(found).tolist() == kruskal(a.tolist(), b.tolist(), n)


@given(links=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40))
def test_any_links(links):
    check(np.array([x for x, _ in links]), np.array([y for _, y in links]), 10, np)


@pytest.mark.parametrize("n", [2, 10, 300])
@pytest.mark.parametrize("kind", ["random", "path", "star", "reversed path", "parallel", "loops"])
def test_shapes(n, kind, xp, rng):
    i = np.arange(n - 1)
    a, b = {
        "random": (rng.integers(0, n, 3 * n), rng.integers(0, n, 3 * n)),
        "path": (i, i + 1),
        "star": (np.zeros_like(i), i + 1),
        "reversed path": (i[::-1] + 1, i[::-1]),
        "parallel": (np.zeros(50, int), np.ones(50, int)),
        "loops": (i, i),
    }[kind]
    check(a, b, n, xp)


def test_no_links(xp):
    check(np.empty(0, int), np.empty(0, int), 3, xp)
