"""Keys of all 31-mers of a text of codes, by a few operations on whole arrays: where a text is short or read once."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.parallel import compiled
from gpuasm.primitives.searching import first_not_below


def words_of(codes: Array) -> tuple[Array, Array]:
    """Return the keys of the 31-mers of a text, as it reads and as its other strand does.

    Parameters
    ----------
    codes : (n,) uint8
        A, C, G, T as 0 to 3, on the host or a device.

    Returns
    -------
    forward, backward : (max(0, n - 30),) uint64
        Two bits a base, the first in the highest; the lesser of both stands for the k-mer on either strand.
    """
    return _joined(codes.astype(np.uint64)), _joined((3 - codes[::-1]).astype(np.uint64))[::-1]


def _joined(part: Array) -> Array:
    """Return the keys of words, put together of ever longer parts: of 1, 2, 4, 8 and 16 bases."""
    key, n, done = part, 1, 1
    if part.size < MAX_PLAIN_K:
        return part[:0]
    while done < MAX_PLAIN_K:
        part = (part[:-n] << np.uint64(2 * n)) | part[n:]
        n *= 2
        key = (key[: part.size - done] << np.uint64(2 * n)) | part[done:]
        done += n
    return key


def places_of(codes: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where 31-mers stand in a text on either strand.

    Parameters
    ----------
    codes : (n,) uint8
        A, C, G, T as 0 to 3, on the host.
    keys : (m,) uint64
        The lesser of both strands' keys of each.

    Returns
    -------
    position : (p,) int64, ascending
    key : (p,) uint64
    is_forward : (p,) bool
        Whether the text reads the key itself there.
    """
    wanted = np.unique(keys)
    is_slot = np.zeros(1 << _SLOT_BITS, bool)
    is_slot[(wanted * _MIX) >> np.uint64(64 - _SLOT_BITS)] = True
    nothing = np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, bool)
    n = _find(codes, wanted, is_slot, *nothing)
    found = np.empty(n, np.int64), np.empty(n, np.uint64), np.empty(n, bool)
    _find(codes, wanted, is_slot, *found)
    return found


_SLOT_BITS = 22
"""Of a table that fits the cache: of words that are not looked for few pass it."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(2 * MAX_PLAIN_K - 2)
_MASK = np.uint64((1 << (2 * MAX_PLAIN_K)) - 1)
_TWO, _THREE, _SHIFT = np.uint64(2), np.uint64(3), np.uint64(64 - _SLOT_BITS)


@compiled()
def _find(codes, wanted, is_slot, position, keys, is_forward):
    """Count the words of a text that are looked for, and write them where there is room."""
    n, forward, backward = 0, np.uint64(0), np.uint64(0)
    for i in range(codes.size):
        code = np.uint64(codes[i])
        forward = ((forward << _TWO) | code) & _MASK
        backward = (backward >> _TWO) | ((_THREE - code) << _FIRST)
        if i + 1 < MAX_PLAIN_K:
            continue
        key = min(forward, backward)
        if not is_slot[(key * _MIX) >> _SHIFT]:
            continue
        row = first_not_below(key, wanted)
        if row < wanted.size and wanted[row] == key:
            if n < position.size:
                position[n], keys[n], is_forward[n] = i + 1 - MAX_PLAIN_K, key, forward < backward
            n += 1
    return n
