"""A hash index of 64-bit keys: open addressing with linear probing, with the same look-up on CPU and CUDA."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.parallel import compiled, inlined, signatures

_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(33)
_ZERO, _ONE, _HALF = np.uint64(0), np.uint64(1), np.uint64(32)
_LEAST_SLOTS = 16


def slots_for(n: int, *, on_device: bool) -> int:
    """Return how many slots an index of n keys has: 3n, and half of that on devices, where memory is scarcest.

    There are at least 16.
    """
    return max(_LEAST_SLOTS, 3 * n // 2 if on_device else 3 * n)


@inlined()
def mix(key):
    """Mix the bits of a uint64: the finaliser of MurmurHash3."""
    key ^= key >> _SHIFT
    key *= _M1
    key ^= key >> _SHIFT
    key *= _M2
    key ^= key >> _SHIFT
    return key


@inlined()
def slot_of(key, n_slots):
    """Return the first slot of a key: the upper half of its hash, scaled."""
    return ((mix(key) >> _HALF) * n_slots) >> _HALF


@inlined()
def find(key, keys, slots, n_slots):
    """Return the number of ``key`` in ``keys`` as int64, or -1, by the index (slots, n_slots)."""
    slot = slot_of(key, n_slots)
    number = np.int64(slots[np.int64(slot)])
    while number >= 0 and keys[number] != key:
        slot += _ONE
        if slot == n_slots:
            slot = _ZERO
        number = np.int64(slots[np.int64(slot)])
    return number


def build_index(keys: Array) -> tuple[Array, Any]:
    """Index distinct keys.

    Parameters
    ----------
    keys : (n,) uint64, all different.

    Returns
    -------
    slots : (n_slots,) int32
        The number of the key in each slot, -1 if the slot is free.
    n_slots : uint64
        As `slots_for` returns it, below 2^32. The slot of a key may differ between runs and devices; the result of
        `find` does not.
    """
    xp = array_namespace(keys)
    n_slots = slots_for(keys.size, on_device=xp is not np)
    slots = xp.full(n_slots, -1, dtype=np.int32)
    if keys.size == 0:
        return slots, np.uint64(n_slots)
    if xp is np:
        _insert_all(keys, slots, np.uint64(n_slots))
    else:
        (insert,) = cuda_functions(_CUDA, "insert_all")
        insert(((keys.size + 255) // 256,), (256,), (keys, slots, np.uint64(n_slots), np.int64(keys.size)))
    return slots, np.uint64(n_slots)


@signatures("uint64[::1], int32[::1], uint64")
@compiled()
def _insert_all(keys, slots, n_slots):
    for number in range(keys.size):
        slot = np.int64(slot_of(keys[number], n_slots))
        while slots[slot] >= 0:
            slot += 1
            if slot == slots.size:
                slot = 0
        slots[slot] = number


MIX_CUDA = """
typedef unsigned long long u64; typedef long long i64;
__device__ __forceinline__ u64 mix(u64 key) {
    key ^= key >> 33; key *= 0xFF51AFD7ED558CCDull; key ^= key >> 33; key *= 0xC4CEB9FE1A85EC53ull; key ^= key >> 33;
    return key;
}
__device__ __forceinline__ u64 slot_of(u64 key, u64 n_slots) { return ((mix(key) >> 32) * n_slots) >> 32; }
__device__ __forceinline__ i64 find(u64 key, const u64* keys, const int* slots, u64 n_slots) {
    u64 slot = slot_of(key, n_slots);
    i64 number = slots[slot];
    while (number >= 0 && keys[number] != key) { slot = slot + 1 == n_slots ? 0 : slot + 1; number = slots[slot]; }
    return number;
}
"""

_CUDA = (
    MIX_CUDA
    + """
extern "C" __global__ void insert_all(const u64* keys, int* slots, u64 n_slots, i64 n) {
    i64 number = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (number >= n) return;
    u64 slot = slot_of(keys[number], n_slots);
    while (atomicCAS(slots + slot, -1, (int)number) != -1) slot = slot + 1 == n_slots ? 0 : slot + 1;
}
"""
)
