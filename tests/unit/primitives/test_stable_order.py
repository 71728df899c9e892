"""Stable order of small integers against Python's stable sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.primitives.stable_order import stable_order


@given(keys=st.lists(st.integers(0, 12), max_size=60))
def test_any_keys(keys):
    found = stable_order(np.array(keys, np.int32), 13)
    assert found.tolist() == sorted(range(len(keys)), key=keys.__getitem__)


@pytest.mark.parametrize("n_keys", [1, 2, 1000, 100_000])
def test_many_keys(n_keys, xp, rng):
    keys = rng.integers(0, n_keys, 50_000).astype(np.int32)
    found = to_host(stable_order(to_namespace(xp, keys), n_keys))
    assert np.array_equal(found, np.argsort(keys, kind="stable"))
