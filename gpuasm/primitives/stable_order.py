"""Stable order of small integers: a counting sort on the CPU, a radix sort on CUDA."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import compiled, signatures


def stable_order(keys: Array, n_keys: int) -> Array:
    """Return the indices that sort ``keys``, equal keys in the order of their indices.

    Parameters
    ----------
    keys : (m,) int32 or int64, from 0 to n_keys - 1
    n_keys
        Number of possible keys.

    Returns
    -------
    (m,) int32 or int64: int64 on CUDA and where m needs it.
    """
    xp = array_namespace(keys)
    if xp is not np:
        return xp.argsort(keys, kind="stable")
    next_place = np.zeros(n_keys + 1, np.int64)
    order = np.empty(keys.size, np.int32 if keys.size < 1 << 31 else np.int64)
    _deal(keys, next_place, order)
    return order


@signatures("int64[::1], int64[::1], int32[::1]")
@compiled()
def _deal(keys, next_place, order):
    for i in range(keys.size):
        next_place[keys[i] + 1] += 1
    for key in range(1, next_place.size):
        next_place[key] += next_place[key - 1]
    for i in range(keys.size):
        order[next_place[keys[i]]] = i
        next_place[keys[i]] += 1
