"""The devices of one run, which share independent tasks: a worker thread for each device takes the next task.

Which device computes a task depends on time, so its result must depend neither on the device nor on other tasks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

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

    def map(self, begin: Callable[[], Callable[[Item], Result]], items: Iterable[Item]) -> list[Result]:
        """Return the results of tasks in the order of their items.

        Parameters
        ----------
        begin
            Called once by each worker, with its device current: makes what its tasks share, such as a copy of the reads
            on the device, and returns the function of one item. That returns arrays of the host, as other workers may
            have other devices.
        items
            What to compute. A worker takes the next item when it has finished one.

        Raises
        ------
        Exception
            What a worker raised. The others stop before their next loop, and no item is begun.
        """
        if self.n == 1:
            task = begin()
            return [task(item) for item in items]
        shared = _Shared(begin, items)
        with ThreadPoolExecutor(self.n, thread_name_prefix="gpuasm-device") as executor:
            futures = [executor.submit(shared.work, device) for device in self._devices]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                shared.is_stopped.set()
                raise
        return [shared.results[number] for number in range(len(shared.results))]


ONE_DEVICE = DeviceGroup()
"""The caller's device alone."""


class _Shared(Generic[Item, Result]):
    """What the workers of one `DeviceGroup.map` share."""

    def __init__(self, begin: Callable[[], Callable[[Item], Result]], items: Iterable[Item]) -> None:
        self._begin, self._left, self._taking = begin, enumerate(items), threading.Lock()
        self.results: dict[int, Result] = {}
        self.is_stopped = threading.Event()

    def work(self, device: int | None) -> None:
        """Compute items on a device until none is left."""
        try:
            with arrays.on_device(device), called_before_loops(self._check):
                try:
                    self._compute_items()
                finally:
                    arrays.release_device_memory()
        except _StoppedError:
            pass
        except BaseException:
            self.is_stopped.set()
            raise

    def _compute_items(self) -> None:
        task = self._begin()
        while (taken := self._take()) is not None:
            self.results[taken[0]] = task(taken[1])

    def _take(self) -> tuple[int, Item] | None:
        with self._taking:  # an iterator is not for several threads
            self._check()
            return next(self._left, None)

    def _check(self) -> None:
        if self.is_stopped.is_set():
            raise _StoppedError
