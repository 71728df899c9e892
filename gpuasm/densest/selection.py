"""The k largest of many numbers, by a threshold and without sorting them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace

_SIGN = np.uint64(1 << 63)


def top_k(scores: Array, k: int) -> Array:
    """Return where the k largest scores of each row are; of equal ones the first are taken.

    Parameters
    ----------
    scores : (b, n) float64
    k
        From 1 to n.

    Returns
    -------
    (b, k) int64, rising in each row.
    """
    xp, (b, n) = array_namespace(scores), scores.shape
    if xp is np:
        return np.array([_top_of_row(row, k) for row in scores], np.int64).reshape(b, k)
    threshold = _kth_largest(scores, k, xp)[:, None]
    keys = _ordered(scores, xp)
    chosen, equal = keys > threshold, keys == threshold
    wanted = k - chosen.sum(axis=1, dtype=np.int64)
    ranks = xp.cumsum(equal[0], dtype=np.int32)[None] if b == 1 else xp.cumsum(equal, axis=1, dtype=np.int32)
    chosen |= equal & (ranks <= wanted[:, None])
    return (xp.flatnonzero(chosen) % n).reshape(b, k)


def _top_of_row(row: np.ndarray, k: int) -> np.ndarray:
    threshold = np.partition(row, row.size - k)[row.size - k]
    above = np.flatnonzero(row > threshold)
    equal = np.flatnonzero(row == threshold)[: k - above.size]
    return np.sort(np.concatenate([above, equal]))


def _ordered(scores: Array, xp: Any) -> Array:
    """Return unsigned integers in the order of the scores; the two zeros are one number."""
    bits = (scores + 0.0).view(np.uint64)
    return xp.where(bits >> np.uint64(63), ~bits, bits | _SIGN)


def _kth_largest(scores: Array, k: int, xp: Any) -> Array:
    """Return the k-th largest key of each row, (b,) uint64, a bit at a time from the highest."""
    keys = _ordered(scores, xp)
    found = xp.zeros(keys.shape[0], np.uint64)
    for bit in range(63, -1, -1):
        higher = found | np.uint64(1 << bit)
        if keys.shape[0] == 1:  # a sum over all of an array uses all of the device, one over an axis a block a row
            count = xp.count_nonzero(keys >= higher[0])
        else:
            count = (keys >= higher[:, None]).sum(axis=1, dtype=np.int32)
        found = xp.where(count >= k, higher, found)
    return found
