"""``--device-memory``: the limit of what arrays take on a device, and forecasts of counts in buckets."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpuasm.assembly import AssemblyOptions
from gpuasm.cli import session as session_module
from gpuasm.cli.forecast import Survey, device_bytes, host_bytes
from gpuasm.cli.options import CommonOptions
from gpuasm.cli.session import run_session
from gpuasm.errors import UsageError
from tests.samples import simulated_reads


@pytest.mark.parametrize(("given", "limits"), [(None, []), ("2G", [2 << 30, 0])])
def test_arrays_of_a_device_have_the_limit_while_a_run_lasts(monkeypatch, given, limits):
    found = []
    pool = SimpleNamespace(set_limit=lambda *, size: found.append(size))
    device = SimpleNamespace(use=lambda: None)
    xp = SimpleNamespace(
        __name__="cupy", cuda=SimpleNamespace(Device=lambda _: device), zeros=np.zeros,
        get_default_memory_pool=lambda: pool,
    )  # fmt: skip
    monkeypatch.setattr(session_module.importlib.util, "find_spec", lambda _: True)
    monkeypatch.setattr(session_module, "has_driver", lambda: True)
    monkeypatch.setattr(session_module.arrays, "namespace_of", lambda _: xp)
    with run_session(CommonOptions(threads=1, device="cuda", device_memory=given, quiet=True)) as session:
        assert session.xp is xp
        assert found == limits[:1]
    assert found == limits


def test_an_amount_is_required():
    with (
        pytest.raises(UsageError, match="an amount of memory"),
        run_session(CommonOptions(device="cpu", device_memory="much", quiet=True)),
    ):
        pass


def test_buckets_take_less_memory_where_counting_takes_most():
    survey = Survey(AssemblyOptions())
    survey.add(simulated_reads(length=50_000, fold=20))
    names = ("distinct", "twice", "repeated", "solid", "genome", "windows", "n_bases", "own")
    sample = survey.sample()
    sample = replace(sample, **{name: 5000 * getattr(sample, name) for name in names})
    sample = replace(sample, n_segments=sample.n_bases // 10_000, crossing=0)  # long reads: later steps take little
    for forecast in (device_bytes, lambda s, **n: host_bytes(s, threads=2, on_device=False, **n)):
        whole, in_buckets = forecast(sample), forecast(sample, n_buckets=8)
        assert 0.5 * whole < in_buckets < 0.98 * whole
    on_device = {"threads": 2, "on_device": True}
    alone, two, one_each = (
        host_bytes(sample, **on_device, n_buckets=8, n_devices=n_devices) for n_devices in (1, 2, 8)
    )
    assert alone <= two
    assert one_each == host_bytes(sample, **on_device)  # tables that stay on devices take no memory of the host
