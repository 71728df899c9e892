"""The index from keys to numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import array_namespace, to_host
from gpuasm.parallel import for_each
from gpuasm.primitives.hashing import build_index, find, mix

UINT64 = st.integers(0, 2**64 - 1)


@for_each
def _find_each(i, queries, keys, slots, n_slots, found):
    found[i] = find(queries[i], keys, slots, n_slots)


def find_all(queries, keys):
    xp = array_namespace(keys)
    found = xp.empty(queries.size, np.int64)
    _find_each(queries.size, queries, keys, *build_index(keys), found)
    return to_host(found)


def mix_of(key: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 1):
        key ^= key >> 33
        key = key * factor % 2**64
    return key


@given(key=UINT64)
def test_mix_is_the_finaliser_of_murmurhash3(key):
    assert int(_mixed(key)) == mix_of(key)


@for_each
def _mix_each(i, keys, mixed):
    mixed[i] = mix(keys[i])


def _mixed(key):
    mixed = np.empty(1, np.uint64)
    _mix_each(1, np.array([key], np.uint64), mixed)
    return mixed[0]


@given(keys=st.lists(UINT64, unique=True, max_size=50), others=st.lists(UINT64, max_size=20))
def test_keys_are_found_and_others_are_not(keys, others):
    number = {key: i for i, key in enumerate(keys)}
    queries = keys[::-1] + others
    found = find_all(np.array(queries, np.uint64), np.array(keys, np.uint64))
    assert found.tolist() == [number.get(key, -1) for key in queries]


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 1000, 20_000])
def test_sizes(n, xp):
    keys = xp.asarray(np.random.default_rng(n).permutation(10 * n + 1)[:n].astype(np.uint64))
    slots, n_slots = build_index(keys)
    assert slots.size == int(n_slots) == max(16, 3 * n if xp is np else 3 * n // 2)
    assert (to_host(slots) >= 0).sum() == n
    assert find_all(keys, keys).tolist() == list(range(n))
    assert (find_all(keys + np.uint64(10 * n + 1), keys) == -1).all()


def test_keys_that_share_a_slot(xp):
    keys = []
    for key in range(10_000):
        if (mix_of(key) >> 32) * 16 >> 32 == 15:  # the last slot: probing continues at the first
            keys.append(key)
        if len(keys) == 5:
            break
    array = xp.asarray(np.array(keys, np.uint64))
    assert build_index(array)[0].size == 16
    assert find_all(array, array).tolist() == list(range(5))
