"""A hash index of 64-bit keys: open addressing with linear probing, with the same look-up on CPU and CUDA."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.parallel import compiled, inlined, signatures

_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(33)
_ONE = np.uint64(1)


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
def find(key, keys, slots, mask):
    """Return the number of ``key`` in ``keys`` as int64, or -1, by the index (slots, mask)."""
    slot = mix(key) & mask
    number = np.int64(slots[np.int64(slot)])
    while number >= 0 and keys[number] != key:
        slot = (slot + _ONE) & mask
        number = np.int64(slots[np.int64(slot)])
    return number


def build_index(keys: Array) -> tuple[Array, Any]:
    """Index distinct keys.

    Parameters
    ----------
    keys : (n,) uint64, all different.

    Returns
    -------
    slots : (m,) int32
        The number of the key in each slot, -1 if the slot is free; m is the least power of two above 2n.
    mask : uint64
        m - 1. The slot of a key may differ between runs and devices; the result of `find` does not.
    """
    xp = array_namespace(keys)
    size = 1 << max(4, (2 * keys.size).bit_length())
    slots = xp.full(size, -1, dtype=np.int32)
    mask = np.uint64(size - 1)
    if keys.size == 0:
        return slots, mask
    if xp is np:
        _insert_all(keys, slots, mask)
    else:
        (insert,) = cuda_functions(_CUDA, "insert_all")
        insert(((keys.size + 255) // 256,), (256,), (keys, slots, mask, np.int64(keys.size)))
    return slots, mask


@signatures("uint64[::1], int32[::1], uint64")
@compiled()
def _insert_all(keys, slots, mask):
    for number in range(keys.size):
        slot = mix(keys[number]) & mask
        while slots[np.int64(slot)] >= 0:
            slot = (slot + _ONE) & mask
        slots[np.int64(slot)] = number


MIX_CUDA = """
typedef unsigned long long u64; typedef long long i64;
__device__ __forceinline__ u64 mix(u64 key) {
    key ^= key >> 33; key *= 0xFF51AFD7ED558CCDull; key ^= key >> 33; key *= 0xC4CEB9FE1A85EC53ull; key ^= key >> 33;
    return key;
}
__device__ __forceinline__ i64 find(u64 key, const u64* keys, const int* slots, u64 mask) {
    u64 slot = mix(key) & mask;
    i64 number = slots[slot];
    while (number >= 0 && keys[number] != key) { slot = (slot + 1) & mask; number = slots[slot]; }
    return number;
}
"""

_CUDA = (
    MIX_CUDA
    + """
extern "C" __global__ void insert_all(const u64* keys, int* slots, u64 mask, i64 n) {
    i64 number = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (number >= n) return;
    u64 slot = mix(keys[number]) & mask;
    while (atomicCAS(slots + slot, -1, (int)number) != -1) slot = (slot + 1) & mask;
}
"""
)
