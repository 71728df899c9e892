"""Keys of all 31-mers of a text of codes, by operations on whole arrays; for texts that are short or read once."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.parallel import compiled, signatures
from gpuasm.primitives.searching import first_not_below
from gpuasm.threads import run_chunks


def kmers_of(codes: Array) -> tuple[Array, Array]:
    """Return the keys of the 31-mers of a text and of their reverse complements.

    Parameters
    ----------
    codes : (n,) uint8
        A, C, G, T as 0 to 3, on the host or a device.

    Returns
    -------
    forward, backward : (max(0, n - 30),) uint64
        Two bits a base, the first in the highest; the lesser of both is the canonical k-mer.
    """
    return _joined(codes.astype(np.uint64)), _joined((3 - codes[::-1]).astype(np.uint64))[::-1]


def _joined(part: Array) -> Array:
    """Return the keys of 31-mers, joined from parts of 1, 2, 4, 8 and 16 bases."""
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
    """Return the positions of 31-mers in a text on either strand.

    Parameters
    ----------
    codes : (n,) uint8
        A, C, G, T as 0 to 3, on the host; 4 in gaps, which is read as 0.
    keys : (m,) uint64
        The canonical 31-mers.

    Returns
    -------
    position : (p,) int64, ascending
    key : (p,) uint64
    is_forward : (p,) bool
        Whether the text has the key itself there, not its reverse complement.
    """
    queries = np.unique(keys)
    is_slot = np.zeros(1 << _SLOT_BITS, bool)
    is_slot[(queries * _MIX) >> np.uint64(64 - _SLOT_BITS)] = True
    n_chunks = max(1, -(-codes.size // _CHUNK))
    n_found, nothing = np.zeros(n_chunks, np.int64), (np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, bool))
    run_chunks(_find, n_chunks, codes, queries, is_slot, n_found, *nothing)
    last = np.cumsum(n_found)
    found = np.empty(last[-1], np.int64), np.empty(last[-1], np.uint64), np.empty(last[-1], bool)
    run_chunks(_find, n_chunks, codes, queries, is_slot, last, *found)
    return found


_CHUNK = 1 << 13
"""Positions of a text that are searched together."""
_SLOT_BITS = 22
"""Bits of a table that fits the cache; few other 31-mers pass it."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(2 * MAX_PLAIN_K - 2)
_MASK = np.uint64((1 << (2 * MAX_PLAIN_K)) - 1)
_TWO, _THREE, _SHIFT = np.uint64(2), np.uint64(3), np.uint64(64 - _SLOT_BITS)


@signatures("int64, int64, uint8[::1], uint64[::1], boolean[::1], int64[::1], int64[::1], uint64[::1], boolean[::1]")
@compiled()
def _find(first, last, codes, queries, is_slot, n_found, position, keys, is_forward):
    """Count the queried 31-mers of chunks of a text; or, if the arrays have room, write them before ``n_found``."""
    for chunk in range(first, last):
        n, forward, backward = 0, np.uint64(0), np.uint64(0)
        at = n_found[chunk - 1] if chunk > 0 else 0
        for i in range(_CHUNK * chunk, min(_CHUNK * (chunk + 1) + MAX_PLAIN_K - 1, codes.size)):
            code = np.uint64(codes[i] & 3)
            forward = ((forward << _TWO) | code) & _MASK
            backward = (backward >> _TWO) | ((_THREE - code) << _FIRST)
            if i + 1 < _CHUNK * chunk + MAX_PLAIN_K:
                continue
            key = min(forward, backward)
            if not is_slot[(key * _MIX) >> _SHIFT]:
                continue
            row = first_not_below(key, queries, queries.size)
            if row < queries.size and queries[row] == key:
                if position.size > 0:
                    position[at + n], keys[at + n], is_forward[at + n] = i + 1 - MAX_PLAIN_K, key, forward < backward
                n += 1
        if position.size == 0:
            n_found[chunk] = n
