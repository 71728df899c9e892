"""Cycles of permutations against walking them in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.primitives.cycle_ranking import rank_cycles


def walked(successor: list[int]) -> tuple[list[int], list[int]]:
    label, rank = [-1] * len(successor), [0] * len(successor)
    for first in range(len(successor)):
        element, steps = first, 0
        while label[element] < 0:
            label[element], rank[element] = first, steps
            element, steps = successor[element], steps + 1
    return label, rank


def check(successor: np.ndarray, xp) -> None:
    found = rank_cycles(to_namespace(xp, successor.astype(np.int32)))
    label, rank = walked(successor.tolist())
    assert to_host(found.label).tolist() == label
    assert to_host(found.rank).tolist() == rank
    leader, size = np.unique(label, return_counts=True)
    assert to_host(found.leader).tolist() == leader.tolist()
    assert to_host(found.size).tolist() == size.tolist()
    order = to_host(found.order()).tolist()
    assert order == [e for _, _, e in sorted((label[e], rank[e], e) for e in range(len(label)))]


@given(permutation=st.integers(1, 60).flatmap(lambda n: st.permutations(range(n))))
def test_any_permutation(permutation):
    check(np.array(permutation), np)


@pytest.mark.parametrize("n", [1, 2, 3, 31, 32, 33, 1000, 40_000])
@pytest.mark.parametrize("kind", ["random", "one cycle", "fixed points", "pairs", "backwards", "stride"])
def test_larger_permutations(n, kind, xp, rng):
    element = np.arange(n)
    successor = {
        "random": rng.permutation(n),
        "one cycle": np.roll(element, -1),
        "fixed points": element,
        "pairs": np.where(element ^ 1 < n, element ^ 1, element),
        "backwards": np.roll(element, 1),
        "stride": (element + 32) % n,
    }[kind]
    check(successor, xp)


def test_many_cycles_of_every_length(xp, rng):
    parts, first = [], 0
    for size in range(1, 260):
        own = rng.permutation(size) + first
        part = np.empty(size, np.int64)
        part[own - first] = np.roll(own, -1)
        parts.append(part)
        first += size
    shuffle = rng.permutation(first)
    successor = np.empty(first, np.int64)
    successor[shuffle] = shuffle[np.concatenate(parts)]
    check(successor, xp)


def test_no_elements(xp):
    found = rank_cycles(to_namespace(xp, np.empty(0, np.int32)))
    assert found.n == 0
    assert found.order().size == 0
