"""Blocks of device memory, by a driver and a pool that are replaced."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gpuasm.device_memory import LARGE, DeviceAllocator


class OutOfMemoryError(MemoryError):
    pass


class DriverError(Exception):
    pass


class Device:
    """Replaces cupy: a device of ``free`` bytes, and a pool that keeps all it ever had until it is told."""

    def __init__(self, free, limit=0):
        self.free_bytes_left, self.limit, self.pool_total, self.pool_used = free, limit, 0, 0
        pool = SimpleNamespace(
            malloc=self.take_small,
            total_bytes=lambda: self.pool_total,
            free_bytes=lambda: self.pool_total - self.pool_used,
            get_limit=lambda: self.limit,
            free_all_blocks=self.free_all_blocks,
        )
        self.get_default_memory_pool = lambda: pool
        runtime = SimpleNamespace(
            malloc=self.take, free=self.give, memGetInfo=lambda: (self.free_bytes_left, 0), CUDARuntimeError=DriverError
        )
        self.cuda = SimpleNamespace(
            runtime=runtime,
            memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            PythonFunctionAllocator=lambda take, give: SimpleNamespace(malloc=lambda n: Block(take(n, 0), give)),
        )
        self.blocks = {}

    def take_small(self, size):
        self.pool_total += max(0, size - (self.pool_total - self.pool_used))
        self.pool_used += size
        return SimpleNamespace(free=lambda: setattr(self, "pool_used", self.pool_used - size))

    def free_all_blocks(self):
        self.pool_total = self.pool_used

    def take(self, size):
        if size > self.free_bytes_left - self.pool_total:
            raise DriverError
        self.free_bytes_left -= size
        self.blocks[len(self.blocks) + 1] = size
        return len(self.blocks)

    def give(self, at):
        self.free_bytes_left += self.blocks[at]


class Block:
    def __init__(self, at, give):
        self.free = lambda: give(at, 0)


def test_large_blocks_are_given_back_and_small_ones_kept():
    device = Device(8 * LARGE)
    allocate = DeviceAllocator(device)
    large, small = allocate(2 * LARGE), allocate(LARGE // 2)
    assert allocate.total == 2 * LARGE + LARGE // 2
    large.free()
    small.free()
    assert allocate.total == LARGE // 2
    assert allocate.peak() == 2 * LARGE + LARGE // 2
    assert allocate.available == 6 * LARGE + 2 * LARGE + LARGE // 2


def test_idle_blocks_make_room_for_large_ones():
    device = Device(4 * LARGE)
    allocate = DeviceAllocator(device)
    for small in [allocate(LARGE - 1), allocate(LARGE - 1)]:
        small.free()
    allocate(3 * LARGE)
    assert device.pool_total == 0
    with pytest.raises(OutOfMemoryError):
        allocate(2 * LARGE)


def test_the_limit_of_the_pool_holds_for_large_blocks():
    device = Device(100 * LARGE, limit=3 * LARGE)
    allocate = DeviceAllocator(device)
    allocate(LARGE // 2).free()
    allocate(3 * LARGE).free()
    assert device.pool_total == 0
    kept = allocate(LARGE)
    with pytest.raises(OutOfMemoryError):
        allocate(2 * LARGE + 1)
    kept.free()
    assert allocate.peak() == 3 * LARGE


def test_released_memory_begins_a_new_peak():
    device = Device(8 * LARGE)
    allocate = DeviceAllocator(device)
    kept = allocate(LARGE // 4)
    for idle in [allocate(2 * LARGE), allocate(LARGE // 2)]:
        idle.free()
    allocate.release()
    assert allocate.peak() == allocate.total == device.pool_total == LARGE // 4
    kept.free()
