"""Namespaces of arrays, also while another thread is still importing cupy."""

from __future__ import annotations

import contextlib
import sys
import types
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import numpy as np
import pytest

from gpuasm import arrays
from gpuasm.cli.manifest import machine
from gpuasm.errors import DeviceError


@pytest.fixture
def _half_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", types.ModuleType("cupy"))  # as it is before its first import has run


@pytest.mark.usefixtures("_half_imported")
def test_a_half_imported_cupy_is_none_yet():
    assert arrays.device_memory_used() == 0
    assert arrays.array_namespace(np.zeros(3), None, 4) is np
    assert not arrays.is_on_device(np.zeros(1))


def test_what_runs_side_by_side_begins_after_what_was_before_and_ends_before_what_follows(xp):
    parts = [xp.zeros(1 << 20) for _ in range(3)]
    for part in parts:
        part[:] = 1
    with arrays.concurrent_streams(xp, 3) as contexts:
        for context, part in zip(contexts, parts, strict=True):
            with context:
                xp.multiply(part, 3, out=part)
    assert float(sum(parts).sum()) == 9 << 20


@pytest.mark.gpu
def test_mixed_arrays_are_refused():
    with pytest.raises(TypeError, match="mixed"):
        arrays.array_namespace(np.zeros(1), arrays.to_device(np.zeros(1)))


class TwoDevices:
    """Replaces cupy on a host with two devices, and notes on which of them something makes a context."""

    def __init__(self):
        self.current, self.with_context = 0, set()
        self.cuda = types.SimpleNamespace(Device=self._device, runtime=self)

    def _device(self, number):
        owner = self

        class Device:
            def __enter__(self):
                self.before, owner.current = owner.current, number

            def __exit__(self, *_):
                owner.current = self.before

        return Device()

    def getDeviceCount(self):  # noqa: N802 - cupy's names
        return 2

    def memGetInfo(self):  # noqa: N802
        self.with_context.add(self.current)
        return 3, 4

    def getDeviceProperties(self, number):  # noqa: N802
        return {"name": f"card {number}".encode(), "major": 9, "minor": 0}


def test_the_machine_of_a_run_is_described_without_a_context_on_other_devices(monkeypatch):
    cupy = TwoDevices()
    monkeypatch.setattr(arrays, "_cupy", lambda: cupy)
    assert machine("cuda:1")["device"]["name"] == "card 1"
    assert cupy.with_context == {1}
    assert [found["device"] for found in arrays.device_properties()] == ["cuda:0", "cuda:1"]
    assert cupy.with_context == {0, 1}


@pytest.mark.parametrize(("limit", "free"), [(0, 100 + 7), (200, 100 + 7), (90, 60 + 7), (20, 7)])
def test_what_is_free_on_a_device_keeps_to_the_limit_of_the_pool(monkeypatch, limit, free):
    pool = SimpleNamespace(free_bytes=lambda: 7, total_bytes=lambda: 30, get_limit=lambda: limit)
    runtime = SimpleNamespace(memGetInfo=lambda: (100, 1000), getDevice=lambda: 0)
    cupy = SimpleNamespace(get_default_memory_pool=lambda: pool, cuda=SimpleNamespace(runtime=runtime))
    monkeypatch.setattr(arrays, "_cupy", lambda: cupy)
    assert arrays.free_device_memory() == free


@pytest.fixture
def _no_driver(monkeypatch):
    """Cupy without a driver, as on the CPU nodes of a cluster whose GPU nodes have the same environment."""

    def refuse(*_):
        raise RuntimeError("cudaErrorInsufficientDriver")

    cupy = types.ModuleType("cupy")
    cupy.__spec__ = ModuleSpec("cupy", None)
    cupy.ndarray = type("ndarray", (), {})
    cupy.get_default_memory_pool = lambda: SimpleNamespace(total_bytes=refuse, free_bytes=refuse, get_limit=refuse)
    cupy.cuda = SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=refuse, memGetInfo=refuse), Device=refuse)
    monkeypatch.setitem(sys.modules, "cupy", cupy)


@pytest.mark.usefixtures("_no_driver")
def test_without_a_driver_auto_is_the_cpu():
    assert arrays.namespace_of("auto") is np
    assert arrays.device_count() == 0
    assert arrays.device_memory_used() == 0


@pytest.mark.usefixtures("_no_driver")
@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_without_a_driver_a_device_is_refused_with_the_reason(device):
    with pytest.raises(DeviceError, match=r"found none \(cudaErrorInsufficientDriver\); .* --device cpu"):
        arrays.namespace_of(device)


@pytest.mark.usefixtures("_no_driver")
def test_without_a_driver_a_whole_run_uses_the_cpu(run_cli, tmp_path):
    reads = tmp_path / "reads.fasta"
    reads.write_text(">a\nACGTTGCATGACCGATTACGGATC\n")
    code, _, errors = run_cli("unitigs", reads, "-k", "7", "--min-count", "1", "-o", tmp_path / "unitigs.gfa")
    assert code == 0, errors


def test_each_device_has_a_peak_of_its_own_and_the_highest_is_reported(monkeypatch):
    current, totals = [0], {0: 30, 1: 70, 2: 1}

    @contextlib.contextmanager
    def device(number):
        current.append(number)
        yield
        current.pop()

    pool = SimpleNamespace(total_bytes=lambda: totals[current[-1]], free_bytes=int, get_limit=int)
    cupy = types.ModuleType("cupy")
    cupy.get_default_memory_pool = lambda: pool
    cupy.cuda = SimpleNamespace(Device=device, runtime=SimpleNamespace(getDevice=lambda: current[-1]))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert arrays.device_memory_used() == 30
    for number in (1, 2):
        with arrays.on_device(number):
            assert arrays.current_device() == number
            arrays.device_memory_used()
    totals[1] = 5
    assert arrays.device_memory_used() == 70
    with arrays.on_device(1):
        arrays.release_device_memory(begins_peak=True)
