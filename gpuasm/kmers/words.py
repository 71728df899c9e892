"""Keys of all 31-mers of a text of codes, by a few operations on whole arrays: where a text is short or read once."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array
from gpuasm.kmers.keys import MAX_PLAIN_K


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


_BASES_AT_A_TIME = 1 << 21


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
    wanted, found = np.unique(keys), []
    for first in range(0, max(0, codes.size - MAX_PLAIN_K + 1), _BASES_AT_A_TIME):
        forward, backward = words_of(codes[first : first + _BASES_AT_A_TIME + MAX_PLAIN_K - 1])
        key = np.minimum(forward, backward)
        at = np.flatnonzero(wanted[np.minimum(np.searchsorted(wanted, key), wanted.size - 1)] == key)
        found.append((at + first, key[at], forward[at] < backward[at]))
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, bool)
    position, key, is_forward = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return position.astype(np.int64), key, is_forward
