"""An index of the k-mers of a text by their places: a k-mer of plain k is looked up, then compared with the text.

It takes 9 bytes for each base of the text: a dictionary of the k-mers would have their keys too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.errors import ResourceError
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.kmers.names import require_nameable
from gpuasm.kmers.rolling import all_but_last, rolled
from gpuasm.kmers.windows import tile_windows
from gpuasm.parallel import compiled, for_each, inlined, signatures
from gpuasm.primitives.hashing import MIX_CUDA, slot_of, slots_for
from gpuasm.sequence.encoding import base_at, block_at
from gpuasm.sequence.reads import Reads

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_MOST_BASES = 1 << 31


@dataclass(frozen=True)
class TextIndex:
    """The k-mers of a text.

    Attributes
    ----------
    k : int
        At most 31.
    packed : (n_packed,) uint64
        The text.
    slots : (n_slots,) int32
        The position of one window of each k-mer, -1 in free slots.
    n_slots : uint64
        As `gpuasm.primitives.hashing.slots_for` returns it for the windows.
    is_unique : (32 * n_packed,) bool
        Whether the window that begins at a position is the only one of its k-mer, both strands together.
    """

    k: int
    packed: Array
    slots: Array
    n_slots: Any
    is_unique: Array

    @classmethod
    def of(cls, text: Reads, k: int) -> TextIndex:
        """Index the windows of a text.

        Raises
        ------
        ResourceError
            If the text has 2^31 bases or more.
        """
        xp, n_bases = array_namespace(text.packed), 32 * text.packed.size
        if n_bases >= _MOST_BASES:
            expected = f"fewer than {_MOST_BASES:,} bases of unitigs"
            raise ResourceError(expected, f"{n_bases:,}", "raise --min-count or assemble fewer reads at a time")
        tiles = tile_windows(text, k)
        n_windows = int(tiles.count.sum(dtype=np.int64))
        n_slots = slots_for(n_windows, on_device=xp is not np)
        slots, is_unique = xp.full(n_slots, -1, np.int32), xp.zeros(n_bases, bool)
        windows = (tiles.position, tiles.count, text.packed, k, slots, np.uint64(n_slots), is_unique)
        if xp is np:
            _insert_windows(*windows)
        elif tiles.n:
            mark, insert = cuda_functions(_CUDA, "mark_windows", "insert_windows")
            grid, block, n = ((tiles.n + 127) // 128,), (128,), np.int64(tiles.n)
            mark(grid, block, (n, tiles.position, tiles.count, is_unique))
            insert(grid, block, (n, *windows[:3], np.int32(k), *windows[4:]))
        return cls(k, text.packed, slots, np.uint64(n_slots), is_unique)

    @property
    def where(self) -> tuple[Any, ...]:
        """What `find_window` takes: the text, k and the slots."""
        return self.packed, self.k, self.slots, self.n_slots

    def unique_positions(self, keys: Array) -> Array:
        """Return the positions of k-mers, given by their (n,) keys, that occur once: (n,) int64, -1 for the others."""
        position = array_namespace(keys).empty(keys.size, np.int64)
        _find_unique(keys.size, keys, *self.where, self.is_unique, position)
        return position

    def name_windows(self, reads: Reads) -> Array:
        """Name the k-mers of reads: 2 * position + strand of the key; see `gpuasm.kmers.names.name_windows`."""
        require_nameable(self.is_unique.size)
        xp, tiles = array_namespace(reads.packed), tile_windows(reads, self.k)
        names = xp.full(reads.packed.size * 32, -1, dtype=np.int32)
        _name_by_text(tiles.n, tiles.position, tiles.count, reads.packed, *self.where, names)
        return names


@inlined()
def window_at(packed, position, k):
    """Return the k-mer (uint64) that begins at a position."""
    return block_at(packed, position) >> np.uint64(64 - 2 * k)


@inlined()
def find_window(key, packed, k, slots, n_slots):
    """Return the position in the text of a window of the k-mer ``key`` as int64, or -1."""
    slot = slot_of(key, n_slots)
    position = np.int64(slots[np.int64(slot)])
    while position >= 0:
        own = window_at(packed, position, k)
        if own == key or reverse_complement_plain(own, k) == key:
            break
        slot += _ONE
        if slot == n_slots:
            slot = _ZERO
        position = np.int64(slots[np.int64(slot)])
    return position


@signatures("int64[::1], int32[::1], uint64[::1], int64, int32[::1], uint64, boolean[::1]")
@compiled()
def _insert_windows(position, count, packed, k, slots, n_slots, is_unique):
    for t in range(position.size):
        forward, backward = all_but_last(packed, position[t], k)
        for p in range(position[t], position[t] + count[t]):
            forward, backward = rolled(forward, backward, base_at(packed, p + k - 1), k)
            key = min(forward, backward)
            slot = np.int64(slot_of(key, n_slots))
            is_unique[p] = True
            while slots[slot] >= 0:
                own = window_at(packed, np.int64(slots[slot]), k)
                if own in (forward, backward):
                    is_unique[p] = is_unique[slots[slot]] = False
                    break
                slot += 1
                if slot == slots.size:
                    slot = 0
            if is_unique[p]:
                slots[slot] = p


@signatures("uint64[::1], uint64[::1], int64, int32[::1], uint64, boolean[::1], int64[::1]")
@for_each
def _find_unique(i, keys, packed, k, slots, n_slots, is_unique, position):
    found = find_window(keys[i], packed, k, slots, n_slots)
    position[i] = found if found >= 0 and is_unique[found] else -1


@signatures("int64[::1], int32[::1], uint64[::1], uint64[::1], int64, int32[::1], uint64, int32[::1]")
@for_each
def _name_by_text(t, position, count, packed, text, k, slots, n_slots, names):
    forward, backward = all_but_last(packed, position[t], k)
    for j in range(count[t]):
        p = position[t] + j
        forward, backward = rolled(forward, backward, base_at(packed, p + k - 1), k)
        found = find_window(min(forward, backward), text, k, slots, n_slots)
        if found >= 0:
            names[p] = 2 * found + (1 if backward < forward else 0)


_CUDA = (
    MIX_CUDA
    + """
__device__ __forceinline__ u64 reverse_complement(u64 kmer, int k) {
    u64 x = __brevll(kmer), odd = 0x5555555555555555ull;
    return ~((x & odd) << 1 | (x >> 1 & odd)) >> (64 - 2 * k);
}

extern "C" __global__ void mark_windows(i64 n, const i64* position, const int* count, bool* is_unique) {
    i64 t = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (t < n)
        for (int j = 0; j < count[t]; j++) is_unique[position[t] + j] = true;
}

__device__ __forceinline__ u64 window_at(const u64* packed, i64 p, int k) {
    i64 i = p >> 5;
    int shift = 2 * (int)(p & 31);
    u64 block = packed[i] << shift;
    if (shift) block |= packed[i + 1] >> (64 - shift);
    return block >> (64 - 2 * k);
}

extern "C" __global__ void insert_windows(i64 n, const i64* position, const int* count, const u64* packed, int k,
                                          int* slots, u64 n_slots, bool* is_unique) {
    i64 t = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (t >= n) return;
    for (int j = 0; j < count[t]; j++) {
        i64 p = position[t] + j;
        u64 forward = window_at(packed, p, k), backward = reverse_complement(forward, k);
        u64 slot = slot_of(backward < forward ? backward : forward, n_slots);
        while (true) {
            int other = atomicCAS(slots + slot, -1, (int)p);
            if (other == -1) break;
            u64 own = window_at(packed, other, k);
            if (own == forward || own == backward) {
                is_unique[p] = false;
                is_unique[other] = false;
                break;
            }
            slot = slot + 1 == n_slots ? 0 : slot + 1;
        }
    }
}
"""
)
