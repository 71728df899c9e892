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
        self.stream, self.number, self.n_malloc = 0, 0, 0
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
            PythonFunctionAllocator=lambda take, give: SimpleNamespace(
                malloc=lambda n: Block(take(n, self.number), give)
            ),
            get_current_stream=lambda: SimpleNamespace(ptr=self.stream),
        )
        self.blocks = {}

    def take_small(self, size):
        total = self.pool_total + max(0, size - (self.pool_total - self.pool_used))
        if total > self.free_bytes_left or (self.limit and total > self.limit):
            raise OutOfMemoryError
        self.pool_total = total
        self.pool_used += size
        return SimpleNamespace(free=lambda: setattr(self, "pool_used", self.pool_used - size))

    def free_all_blocks(self):
        self.pool_total = self.pool_used

    def take(self, size):
        if size > self.free_bytes_left - self.pool_total:
            raise DriverError
        self.free_bytes_left -= size
        self.n_malloc += 1
        self.blocks[self.n_malloc] = size
        return self.n_malloc

    def give(self, at):
        self.free_bytes_left += self.blocks.pop(at)


class Block:
    def __init__(self, at, give):
        self.at, self.free = at, lambda: give(at, 0)


def test_one_large_block_is_kept_and_all_small_ones():
    device = Device(8 * LARGE)
    allocate = DeviceAllocator(device)
    first, large, small = allocate(LARGE), allocate(2 * LARGE), allocate(LARGE // 2)
    assert allocate.total == 3 * LARGE + LARGE // 2
    for block in (first, large, small):
        block.free()
    assert allocate.total == 2 * LARGE + LARGE // 2
    assert allocate.peak() == 3 * LARGE + LARGE // 2
    assert list(device.blocks.values()) == [2 * LARGE]
    assert allocate.available == device.free_bytes_left + 2 * LARGE + LARGE // 2


def test_the_large_block_freed_last_is_reused_by_one_of_its_size():
    device = Device(8 * LARGE)
    allocate = DeviceAllocator(device)
    for _ in range(3):
        allocate(2 * LARGE).free()
    assert device.n_malloc == 1
    both = [allocate(2 * LARGE), allocate(2 * LARGE)]
    assert both[0].at != both[1].at
    assert allocate.total == allocate.peak() == 4 * LARGE
    for block in both:
        block.free()
    allocate(3 * LARGE)
    assert list(device.blocks.values()) == [3 * LARGE]
    assert allocate.total == 3 * LARGE


@pytest.mark.parametrize(
    ("at_free", "at_take"), [((1, 0), (1, 0)), ((1, 0), (0, 0)), ((0, 0), (1, 0)), ((0, 0), (0, 1))]
)
def test_a_block_of_another_stream_or_device_is_not_reused(at_free, at_take):
    device = Device(8 * LARGE)
    allocate = DeviceAllocator(device)
    block = allocate(LARGE)
    device.stream, device.number = at_free
    block.free()
    device.stream, device.number = at_take
    allocate(LARGE)
    assert device.n_malloc == 2
    assert len(device.blocks) == 1


def test_the_kept_block_does_not_raise_the_peak():
    device = Device(8 * LARGE)
    allocate = DeviceAllocator(device)
    allocate(2 * LARGE).free()
    for _ in range(2):
        allocate(LARGE // 2)
    assert allocate.peak() == 2 * LARGE
    assert allocate.total == LARGE


@pytest.mark.parametrize(("idle", "peak"), [(96 << 20, 3 * LARGE // 2), (32 << 20, 3 * LARGE // 2 + (32 << 20))])
def test_many_idle_blocks_do_not_raise_the_peak(idle, peak):
    device = Device(8 * LARGE)
    allocate = DeviceAllocator(device)
    allocate(LARGE // 2)
    allocate(idle).free()
    allocate(LARGE)
    assert allocate.peak() == peak


def test_the_kept_block_makes_room_for_small_ones():
    device = Device(2 * LARGE)
    allocate = DeviceAllocator(device)
    allocate(3 * LARGE // 2).free()
    for _ in range(2):
        allocate(LARGE - 1)
    with pytest.raises(OutOfMemoryError):
        allocate(LARGE - 1)
    assert allocate.total == 2 * (LARGE - 1)


def test_the_kept_block_is_given_back_before_a_limit_refuses():
    device = Device(100 * LARGE)
    allocate = DeviceAllocator(device)
    allocate(3 * LARGE).free()
    device.limit = 3 * LARGE
    assert allocate.available == 3 * LARGE
    small = allocate(LARGE // 2)
    assert allocate.total == LARGE // 2
    small.free()
    allocate(2 * LARGE).free()
    for size in (LARGE, 2 * LARGE):
        allocate(size)
    assert device.pool_total == 0
    assert allocate.total == 3 * LARGE


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


def test_released_memory_counts_for_the_peak_until_a_new_one_begins():
    device = Device(8 * LARGE)
    allocate = DeviceAllocator(device)
    kept = allocate(LARGE // 4)
    for idle in [allocate(2 * LARGE), allocate(LARGE // 2)]:
        idle.free()
    assert device.blocks
    allocate.release()
    assert not device.blocks
    assert allocate.total == device.pool_total == LARGE // 4
    assert allocate.peak() > 2 * LARGE
    allocate.begin_peak()
    assert allocate.peak() == allocate.total
    kept.free()
