"""Orders of integers against Python's stable sort and numpy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.primitives import stable_order as module
from gpuasm.primitives.stable_order import order_of_distinct, stable_order, taken
from gpuasm.threads import set_threads


@given(keys=st.lists(st.integers(0, 12), max_size=60))
def test_any_keys(keys):
    found = stable_order(np.array(keys, np.int32), 13)
    assert found.tolist() == sorted(range(len(keys)), key=keys.__getitem__)


@pytest.mark.parametrize("n_keys", [1, 2, 1000, 100_000])
def test_many_keys(n_keys, xp, rng):
    keys = rng.integers(0, n_keys, 50_000).astype(np.int32)
    found = to_host(stable_order(to_namespace(xp, keys), n_keys))
    assert np.array_equal(found, np.argsort(keys, kind="stable"))


@pytest.fixture(params=[1, 2, 5])
def all_threads(request, monkeypatch):
    monkeypatch.setattr(module, "_FEW", 1)
    set_threads(request.param)
    yield
    set_threads(None)


@given(keys=st.lists(st.integers(0, 2**40), min_size=1, max_size=60, unique=True))
@pytest.mark.usefixtures("all_threads")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_distinct_keys(keys):
    order = order_of_distinct(np.array(keys, np.int64))
    assert order.tolist() == sorted(range(len(keys)), key=keys.__getitem__)


@pytest.mark.parametrize("is_even", [True, False])
@pytest.mark.usefixtures("all_threads")
def test_many_distinct_keys_and_their_rows(is_even, xp, rng):
    keys = rng.permutation(np.unique(rng.integers(0, 1 << 30, 100_000) if is_even else rng.geometric(1e-6, 100_000)))
    order = order_of_distinct(to_namespace(xp, keys))
    assert np.array_equal(to_host(order), np.argsort(keys))
    for column in (keys.astype(np.uint8), np.stack([keys, -keys], axis=1)):
        assert np.array_equal(to_host(taken(to_namespace(xp, column), order)), column[np.argsort(keys)])
