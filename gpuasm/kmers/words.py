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
