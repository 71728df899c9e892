"""Walks of skew-symmetric pairings by the CPU's method and by CUDA's, which also runs on numpy arrays."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.primitives.strand_walks import _rank, _walk, strand_walks


def random_pairing(seed: int, n: int, n_links: int) -> np.ndarray:
    """Join random ends, each with its twin, never an end with its own twin."""
    rng, successor = np.random.default_rng(seed), np.full(2 * n, -1, np.int32)
    for _ in range(n_links):
        v, w = rng.integers(0, 2 * n, 2)
        if successor[v] < 0 and successor[w ^ 1] < 0 and w != v ^ 1:
            successor[v], successor[w ^ 1] = w, v ^ 1
    return successor


def canonical_walks(walks) -> tuple[list, list]:
    """Return linear walks and circles as sets that do not depend on strand, order or where a circle starts."""
    path, start = to_host(walks.path).tolist(), to_host(walks.start).tolist()
    parts = [path[a:b] for a, b in itertools.pairwise(start)]
    linear, circles = parts[: walks.n_linear], parts[walks.n_linear :]

    def twin(part):
        return [v ^ 1 for v in reversed(part)]

    def least_rotation(part):
        return min(strand[i:] + strand[:i] for strand in (part, twin(part)) for i in range(len(part)))

    return sorted(min(part, twin(part)) for part in linear), sorted(map(least_rotation, circles))


def assert_walks(successor, walks):
    """Assert that walks follow the pairing, are maximal, and hold each vertex or its twin once."""
    path, start = to_host(walks.path), to_host(walks.start)
    assert np.array_equal(np.sort(path >> 1), np.arange(successor.size // 2))
    assert (start[0], start[-1]) == (0, path.size)
    assert (np.diff(start) > 0).all()
    for number, (a, b) in enumerate(itertools.pairwise(start)):
        assert np.array_equal(successor[path[a : b - 1]], path[a + 1 : b])
        if number < walks.n_linear:
            assert successor[path[b - 1]] < 0
            assert successor[path[a] ^ 1] < 0
        else:
            assert successor[path[b - 1]] == path[a]


@given(seed=st.integers(0, 10_000), n=st.integers(1, 40), density=st.sampled_from([0.3, 1, 3, 10]))
def test_both_methods_give_the_same_walks(seed, n, density):
    successor = random_pairing(seed, n, int(density * n))
    sequential, ranked = _walk(successor), _rank(successor)
    assert_walks(successor, sequential)
    assert_walks(successor, ranked)
    assert canonical_walks(sequential) == canonical_walks(ranked)


@pytest.mark.parametrize("seed", range(3))
def test_long_walks(seed, xp, threads):
    n = 20_000
    rng = np.random.default_rng(seed)
    order = 2 * rng.permutation(n) + rng.integers(0, 2, n)
    successor = np.full(2 * n, -1, np.int32)
    for first, last, closes in ((0, 12_000, False), (12_000, 19_000, True), (19_000, 19_001, True), (19_001, n, False)):
        part = order[first:last]
        following = np.roll(part, -1)
        kept = slice(None) if closes else slice(0, -1)
        successor[part[kept]] = following[kept]
        successor[following[kept] ^ 1] = part[kept] ^ 1
    walks = strand_walks(xp.asarray(successor))
    assert_walks(successor, walks)
    assert walks.n_linear == 2
    assert sorted(np.diff(to_host(walks.start)).tolist()) == [1, 999, 7000, 12_000]


@pytest.mark.parametrize("walk", [_walk, _rank])
def test_unpaired_and_empty_successors(walk):
    walks = walk(np.full(6, -1, np.int32))
    assert canonical_walks(walks) == ([[0], [2], [4]], [])
    empty = walk(np.empty(0, np.int32))
    assert (empty.path.size, empty.start.tolist(), empty.n_linear) == (0, [0], 0)


@pytest.mark.parametrize("walk", [_walk, _rank])
def test_a_self_successor_is_a_circular_walk(walk):
    walks = walk(np.array([0, 1, -1, -1], np.int32))
    assert canonical_walks(walks) == ([[2]], [[0]])


@pytest.mark.parametrize("walk", [_walk, _rank])
def test_a_circular_walk_through_both_strands(walk):
    walks = walk(np.array([3, 2, 1, 0], np.int32))
    assert canonical_walks(walks) == ([], [[0, 3]])
