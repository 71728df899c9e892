"""Stable split of an array by a predicate: one step of a radix sort."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace


def split(values: Array, holds: Array) -> Array:
    """Partition an array by a predicate, stably (Blelloch 1990, CMU-CS-90-190).

    Parameters
    ----------
    values : (n,) of any type
    holds : (n,) bool

    Returns
    -------
    (n,): the values whose predicate is false, then those whose predicate is true.
    """
    xp = array_namespace(values)
    ones_before = xp.cumsum(holds, dtype=np.int64)
    index = xp.arange(values.size, dtype=np.int64)
    n_zeros = values.size - (ones_before[-1] if values.size else 0)
    place = xp.where(holds, n_zeros + ones_before - 1, index - ones_before)
    out = xp.empty_like(values)
    out[place] = values
    return out
