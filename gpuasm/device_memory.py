"""The memory of a device: small blocks from cupy's pool, large ones from the driver.

The pool keeps blocks for later arrays. Large arrays are of many sizes, so that kept blocks would rarely fit the next
array. The driver takes and frees a large block in far less time than work on it takes.
"""

from __future__ import annotations

import threading
from typing import Any

LARGE = 256 << 20
"""Bytes from which a block is not kept."""


class DeviceAllocator:
    """What cupy calls for each array on a device; idle blocks of the pool make room for large ones."""

    def __init__(self, cupy: Any) -> None:
        self._cupy, self._pool = cupy, cupy.get_default_memory_pool()
        self._large: Any = None
        self._sizes: dict[int, int] = {}
        self._peak, self._n_large, self._lock = 0, 0, threading.Lock()

    @property
    def total(self) -> int:
        """The bytes of the pool, idle blocks included, and of large blocks."""
        return int(self._pool.total_bytes()) + self._n_large

    @property
    def available(self) -> int:
        """The bytes that an array could get: of the device, of the limit of the pool, and of the pool's idle blocks."""
        free, limit = int(self._cupy.cuda.runtime.memGetInfo()[0]), int(self._pool.get_limit())
        if limit:
            free = min(free, max(0, limit - self.total))
        return free + int(self._pool.free_bytes())

    def peak(self) -> int:
        """Return the most bytes that the pool and large blocks had together."""
        self._peak = max(self._peak, self.total)
        return self._peak

    def release(self) -> None:
        """Return idle blocks to the device, and begin a new peak."""
        self._pool.free_all_blocks()
        self._peak = self.total

    def __call__(self, size: int) -> Any:
        """Return the memory of an array of ``size`` bytes.

        Raises
        ------
        cupy.cuda.memory.OutOfMemoryError
            If the device, or the limit of the pool, has less.
        """
        if size < LARGE:
            memory = self._pool.malloc(size)
        else:
            self._large = self._large or self._cupy.cuda.PythonFunctionAllocator(self._take, self._give)
            memory = self._large.malloc(size)
        self._peak = max(self._peak, self.total)
        return memory

    def _take(self, size: int, _device: int) -> int:
        runtime, limit = self._cupy.cuda.runtime, int(self._pool.get_limit())
        if self._pool.free_bytes() > LARGE or (limit and self.total + size > limit):
            self._pool.free_all_blocks()
        if limit and self.total + size > limit:
            raise self._cupy.cuda.memory.OutOfMemoryError(size, self.total, limit)
        try:
            at = int(runtime.malloc(size))
        except runtime.CUDARuntimeError:
            self._pool.free_all_blocks()
            try:
                at = int(runtime.malloc(size))
            except runtime.CUDARuntimeError:
                raise self._cupy.cuda.memory.OutOfMemoryError(size, self.total) from None
        with self._lock:
            self._sizes[at] = size
            self._n_large += size
        return at

    def _give(self, at: int, _device: int) -> None:
        self._cupy.cuda.runtime.free(at)
        with self._lock:
            self._n_large -= self._sizes.pop(at)
