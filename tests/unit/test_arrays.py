"""Namespaces of arrays, also while another thread is still importing cupy."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from gpuasm import arrays


@pytest.fixture
def _half_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", types.ModuleType("cupy"))  # as it is before its first import has run


@pytest.mark.usefixtures("_half_imported")
def test_a_half_imported_cupy_is_none_yet():
    assert arrays.device_memory_used() == 0
    assert arrays.array_namespace(np.zeros(3), None, 4) is np
    assert not arrays.is_on_device(np.zeros(1))


def test_what_runs_side_by_side_on_the_host_runs_in_turn():
    with arrays.side_by_side(np, 2) as contexts:
        for context in contexts:
            with context:
                pass
    assert len(contexts) == 2


def test_mixed_arrays_are_refused(xp):
    if xp is np:
        pytest.skip("there is one kind of arrays without a device")
    with pytest.raises(TypeError, match="mixed"):
        arrays.array_namespace(np.zeros(1), xp.zeros(1))
