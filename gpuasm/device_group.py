"""The devices of one run, which share independent tasks: a worker thread for each device.

Task i belongs to worker i modulo the number of workers. So what a task leaves on a device is there for the next task of
the same number, and no result depends on time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from gpuasm import arrays
from gpuasm.errors import DeviceError
from gpuasm.parallel import called_before_loops

Item = TypeVar("Item")
Result = TypeVar("Result")


class _StoppedError(Exception):
    """Another worker has failed."""


class DeviceGroup:
    """Devices of one host that share the tasks of a run.

    Parameters
    ----------
    devices
        The number of the CUDA device of each worker, or None where the caller's device, or the CPU, is to be used.
        Several workers of one device, or on the CPU, simulate several devices.

    Raises
    ------
    DeviceError
        If there is no worker.
    """

    def __init__(self, devices: Sequence[int | None] = (None,)) -> None:
        if not devices:
            raise DeviceError("at least one device", "none", "list the devices with 'gpuasm devices'")
        self._devices = tuple(devices)

    @classmethod
    def named(cls, names: Sequence[str]) -> DeviceGroup:
        """Return the group of devices by their names, "cuda:0"; a single one is the caller's device."""
        return cls([int(name.partition(":")[2]) for name in names] if len(names) > 1 else (None,))

    @property
    def n(self) -> int:
        """The number of workers."""
        return len(self._devices)

    def each(self, function: Callable[[], Result]) -> list[Result]:
        """Return the results of a function for each device, one after the other, with that device current."""
        results = []
        for device in self._devices:
            with arrays.on_device(device):
                results.append(function())
        return results

    def map(self, begin: Callable[[], Callable[[Item], Result]], items: Sequence[Item]) -> list[Result]:
        """Return the results of tasks in the order of their items.

        Parameters
        ----------
        begin
            Called once by each worker, with its device current: makes what its tasks share, such as a copy of the reads
            on the device, and returns the function of one item. Arrays that this leaves on a device are for tasks of
            the same number in a later call.
        items
            What to compute.

        Raises
        ------
        Exception
            What a worker raised. The others stop before their next loop, and no item is begun.
        """
        if self.n == 1:
            task = begin()
            return [task(item) for item in items]
        is_stopped = threading.Event()

        def check() -> None:
            if is_stopped.is_set():
                raise _StoppedError

        def work(worker: int) -> list[Result]:
            results: list[Result] = []
            try:
                with arrays.on_device(self._devices[worker]), called_before_loops(check):
                    task = begin()
                    for item in items[worker :: self.n]:
                        check()
                        results.append(task(item))
                    del task
                    arrays.release_device_memory()
            except _StoppedError:
                pass
            except BaseException:
                is_stopped.set()
                raise
            return results

        with ThreadPoolExecutor(self.n, thread_name_prefix="gpuasm-device") as executor:
            futures = [executor.submit(work, worker) for worker in range(self.n)]
            try:
                found = [future.result() for future in futures]
            except BaseException:
                is_stopped.set()
                raise
        return [found[i % self.n][i // self.n] for i in range(len(items))]


ONE_DEVICE = DeviceGroup()
"""The caller's device alone."""
