"""Workers of devices: order of results, errors, which device is current; devices are simulated on the CPU."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from gpuasm import arrays
from gpuasm.device_group import ONE_DEVICE, DeviceGroup
from gpuasm.errors import DeviceError
from gpuasm.parallel import for_each
from gpuasm.sequence.reads import Reads


@for_each
def _write_number(i, out):
    out[i] = i


@pytest.fixture
def current(monkeypatch):
    """Replace cupy by one whose current device is that of the thread, as in CUDA; the devices are of no use."""
    here = threading.local()

    class Device:
        def __init__(self, number):
            self.number = number

        def __enter__(self):
            self.before, here.number = getattr(here, "number", 0), self.number

        def __exit__(self, *_):
            here.number = self.before

    runtime = SimpleNamespace(getDevice=lambda: getattr(here, "number", 0))
    monkeypatch.setattr(arrays, "_cupy", lambda: SimpleNamespace(cuda=SimpleNamespace(Device=Device, runtime=runtime)))
    return arrays.current_device


@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_results_are_in_the_order_of_the_items(n):
    def begin():
        return lambda number: (time.sleep(0.001 * (number % 3)), number**2)[1]

    assert DeviceGroup((None,) * n).map(begin, range(20)) == [number**2 for number in range(20)]
    assert DeviceGroup((None,) * n).map(begin, []) == []


def test_each_worker_has_its_device_and_its_items_and_begins_once(current):
    begun, barrier = [], threading.Barrier(3)

    def begin():
        begun.append(current())
        barrier.wait(10)  # passes only if all workers run at the same time
        return lambda _: current()

    group = DeviceGroup.named(["cuda:0", "cuda:3", "cuda:5"])
    assert group.map(begin, range(8)) == [0, 3, 5, 0, 3, 5, 0, 3]
    assert sorted(begun) == [0, 3, 5]
    assert group.each(current) == [0, 3, 5]
    assert current() == 0


def test_one_device_is_that_of_the_caller_in_its_thread(current):
    for names in (["cuda:4"], ["cpu"], ["auto"]):
        group = DeviceGroup.named(names)
        with arrays.on_device(2):
            assert group.map(lambda: lambda _: (current(), threading.current_thread()), [0]) == [
                (2, threading.current_thread())
            ]
            assert group.each(current) == [2]
    assert ONE_DEVICE.n == 1


def test_a_failing_worker_raises_its_error_and_stops_the_others():
    taken, has_begun = [], threading.Event()

    def task(number):
        taken.append(number)
        if number == 3:
            assert has_begun.wait(10)
            raise ValueError("bucket 3")
        if number == 2:
            has_begun.set()
            while True:  # until the hook of loops ends it
                _write_number(4, np.empty(4, np.int64))
                time.sleep(0.001)

    with pytest.raises(ValueError, match="bucket 3"):
        DeviceGroup((None, None)).map(lambda: task, range(1000))
    assert max(taken) <= 4


def test_an_error_before_the_first_item_is_raised():
    def begin():
        raise MemoryError("a copy of the reads")

    with pytest.raises(MemoryError, match="a copy of the reads"):
        DeviceGroup((None,) * 4).map(begin, range(5))


def test_a_group_has_a_device():
    with pytest.raises(DeviceError):
        DeviceGroup(())


def test_reads_of_the_host_are_not_copied():
    reads = Reads.from_strings(["ACGT"])
    assert reads.copied_to_current_device() is reads


def test_arrays_of_other_devices_are_copied_when_they_are_complete(monkeypatch):
    done = []
    device = SimpleNamespace(id=1, synchronize=lambda: done.append("complete"))
    array = SimpleNamespace(device=device, copy=lambda: done.append("copied") or "copy")
    monkeypatch.setattr(arrays, "is_on_device", lambda _: True)
    monkeypatch.setattr(arrays, "current_device", lambda: 1)
    assert arrays.to_current_device(array) is array
    monkeypatch.setattr(arrays, "current_device", lambda: 0)
    assert arrays.to_current_device(array) == "copy"
    assert done == ["complete", "copied"]
