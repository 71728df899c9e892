"""The driver made ready ahead."""

from __future__ import annotations

import ctypes
import importlib.util
import threading

import pytest

from gpuasm import driver


class Library:
    """A substitute for the driver that records the contexts it makes."""

    def __init__(self, n_devices):
        self.n_devices, self.retained = n_devices, []

    def cuInit(self, _flags):  # noqa: N802 - the driver's names
        return 0

    def cuDeviceGet(self, device, number):  # noqa: N802
        device._obj.value = number
        return 0 if number < self.n_devices else 101

    def cuDeviceGetAttribute(self, value, attribute, _device):  # noqa: N802
        value._obj.value = {75: 9, 76: 0}[attribute]
        return 0

    def cuDevicePrimaryCtxRetain(self, _context, device):  # noqa: N802
        self.retained.append(device.value)
        return 0


@pytest.fixture
def library(monkeypatch):
    found = Library(2)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: found)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: True)
    return found


@pytest.mark.parametrize(("device", "expected"), [("auto", [0]), ("cuda", [0]), ("cuda:1", [1]), ("cuda:2", [])])
def test_context_is_made_for_the_named_device_only(library, device, expected):
    driver.open_driver_ahead(device).join()
    assert library.retained == expected


@pytest.mark.parametrize("device", ["cpu", "cuda:x", "gpu", "rocm:0"])
def test_driver_is_not_called_for_other_names(library, device):
    assert driver.open_driver_ahead(device) is None
    assert library.retained == []


def test_without_cupy_no_device_is_opened(library, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert driver.open_driver_ahead("auto") is None
    assert library.retained == []


def test_missing_driver_is_no_error(monkeypatch):
    def absent(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", absent)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: True)
    thread = driver.open_driver_ahead("auto")
    thread.join()
    assert not thread.is_alive()


def test_block_ends_after_the_driver_is_ready(library):
    begun, may_end = threading.Event(), threading.Event()

    def slowly(_flags):
        begun.set()
        assert may_end.wait(10)
        return 0

    library.cuInit = slowly

    def fail():
        with driver.driver_opening("cuda:1"):
            assert begun.wait(10)
            threading.Timer(0.05, may_end.set).start()
            raise KeyError("an input is missing")

    with pytest.raises(KeyError, match="an input is missing"):
        fail()
    assert library.retained == [1]


def test_driver_is_found_by_its_library(monkeypatch):
    names = []
    monkeypatch.setattr(driver.ctypes, "CDLL", names.append)
    assert driver.has_driver()

    def refuse(name):
        raise OSError(name)

    monkeypatch.setattr(driver.ctypes, "CDLL", refuse)
    assert not driver.has_driver()
    assert names == ["libcuda.so.1"]


@pytest.mark.parametrize(
    ("device", "expected"), [("cuda:1", (9, 0)), ("auto", (9, 0)), ("cuda:2", None), ("cpu", None)]
)
def test_compute_capability_is_that_of_the_named_device(library, device, expected):
    assert driver.compute_capability(device) == expected


def test_without_a_driver_there_is_no_compute_capability(monkeypatch):
    def absent(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", absent)
    assert driver.compute_capability("cuda") is None


def test_several_devices_are_opened_at_the_same_time(library):
    with driver.driver_opening("cuda:0", "cuda:1", "cpu"):
        pass
    assert sorted(library.retained) == [0, 1]
