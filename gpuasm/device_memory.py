"""The memory of a device: small blocks from cupy's pool, large ones from the driver.

The pool keeps blocks for later arrays. Large arrays are of many sizes, so that kept blocks would rarely fit the next
array. Only the large block that was freed last is kept: a function that is called again takes the same size again.
Before idle blocks raise the peak by more than an eighth, they are returned to the device.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

LARGE = 256 << 20
"""Bytes from which a block comes from the driver."""
_FEW_IDLE, _PER_IDLE = 64 << 20, 8
"""Idle bytes that may raise the peak: so many, or one in so many of all."""


class _Block(NamedTuple):
    size: int
    device: int
    stream: int


class DeviceAllocator:
    """What cupy calls for each array on one device, while that is current; idle blocks make room for other ones.

    The kept block is reused by an array of its size on its device and stream, where work on the earlier array comes
    first. Any other large array, a lack of memory, a limit and `release` return it to the device.
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy, self._pool = cupy, cupy.get_default_memory_pool()
        self._large: Any = None
        self._blocks: dict[int, _Block] = {}
        self._kept = 0  # the address of the idle large block, 0 for none
        self._peak, self._n_large, self._lock = 0, 0, threading.Lock()

    @property
    def total(self) -> int:
        """The bytes of the pool and of large blocks, idle ones included."""
        return int(self._pool.total_bytes()) + self._n_large

    @property
    def available(self) -> int:
        """The bytes that an array could get: of the device, of the limit of the pool, and of idle blocks."""
        free, limit = int(self._cupy.cuda.runtime.memGetInfo()[0]), int(self._pool.get_limit())
        if limit:
            free = min(free, max(0, limit - self.total))
        kept = self._blocks.get(self._kept)
        return free + int(self._pool.free_bytes()) + (kept.size if kept else 0)

    def peak(self) -> int:
        """Return the most bytes that the pool and large blocks had together.

        The kept block does not raise it: it is returned to the device before the sum exceeds the peak so far.
        """
        self._peak = max(self._peak, self.total)
        return self._peak

    def release(self) -> None:
        """Return idle blocks to the device."""
        self._free_idle()

    def begin_peak(self) -> None:
        """Forget the peak so far."""
        self._peak = self.total

    def __call__(self, size: int) -> Any:
        """Return the memory of an array of ``size`` bytes.

        Raises
        ------
        cupy.cuda.memory.OutOfMemoryError
            If the device, or the limit of the pool, has less.
        """
        total = self.total
        if total + size > self._peak and self._pool.free_bytes() > max(_FEW_IDLE, total // _PER_IDLE):
            self._pool.free_all_blocks()
        if size < LARGE:
            memory = self._take_small(size)
        else:
            self._large = self._large or self._cupy.cuda.PythonFunctionAllocator(self._take, self._give)
            memory = self._large.malloc(size)
        self._peak = max(self._peak, self.total)
        return memory

    def _take_small(self, size: int) -> Any:
        try:
            memory = self._pool.malloc(size)
        except self._cupy.cuda.memory.OutOfMemoryError:
            if not self._kept:
                raise
            self._free_idle()
            memory = self._pool.malloc(size)
        if self._kept and self.total > min(self._peak, int(self._pool.get_limit()) or self._peak):
            self._free(self._keep(0))
        return memory

    def _take(self, size: int, device: int) -> int:
        block, kept = _Block(size, device, self._stream()), self._keep(0)
        if kept and self._blocks[kept] == block:
            return kept
        self._free(kept)
        runtime, limit = self._cupy.cuda.runtime, int(self._pool.get_limit())
        if self._pool.free_bytes() > LARGE or (limit and self.total + size > limit):
            self._free_idle()
        if limit and self.total + size > limit:
            raise self._cupy.cuda.memory.OutOfMemoryError(size, self.total, limit)
        try:
            at = int(runtime.malloc(size))
        except runtime.CUDARuntimeError:
            self._free_idle()
            try:
                at = int(runtime.malloc(size))
            except runtime.CUDARuntimeError:
                raise self._cupy.cuda.memory.OutOfMemoryError(size, self.total) from None
        self._blocks[at] = block
        with self._lock:
            self._n_large += size
        return at

    def _give(self, at: int, _device: int) -> None:
        self._free(self._keep(at) if self._blocks[at].stream == self._stream() else at)

    def _stream(self) -> int:
        return int(self._cupy.cuda.get_current_stream().ptr)

    def _keep(self, at: int) -> int:
        """Keep the block at an address, 0 for none, and return the address of the block that was kept before."""
        with self._lock:  # no call inside: a collection of garbage that frees an array would wait for the lock forever
            before, self._kept = self._kept, at
        return before

    def _free(self, at: int) -> None:
        if not at:
            return
        size = self._blocks.pop(at).size  # before another thread can get the address
        self._cupy.cuda.runtime.free(at)
        with self._lock:
            self._n_large -= size

    def _free_idle(self) -> None:
        self._free(self._keep(0))
        self._pool.free_all_blocks()
