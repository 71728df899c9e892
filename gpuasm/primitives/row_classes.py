"""Group the rows of a sparse matrix by length, so that a thread, a warp or a block processes a row of each class."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.errors import UsageError


def row_classes(lengths: Array, bounds: Sequence[int], *, rows: Array | None = None) -> list[Array]:
    """Return the rows of each length class.

    Class i holds the rows whose length is at least ``bounds[i - 1]``, if there is such a bound, and below
    ``bounds[i]``, if there is such a bound: one class more than bounds, together all rows.

    Parameters
    ----------
    lengths : (n,) integers
        The entries of each row, on the host or a device.
    bounds
        Ascending lengths.
    rows : (r,) integers
        Only these rows; all, if None.

    Returns
    -------
    list of (r_i,) int32, int64 where n is above 2^31 - 1
        Row numbers, in the order of ``rows`` within a class: ascending where that is None.

    Raises
    ------
    UsageError
        If the bounds do not ascend.
    """
    if any(low >= high for low, high in itertools.pairwise(bounds)):
        raise UsageError("bounds of lengths that rise", str(list(bounds)), "sort them, each once")
    xp = array_namespace(lengths)
    kind = np.int32 if lengths.size <= np.iinfo(np.int32).max else np.int64
    own = lengths if rows is None else lengths[rows]
    chosen = []
    for i in range(len(bounds) + 1):
        inside = xp.ones(own.size, bool) if i == 0 else own >= bounds[i - 1]
        if i < len(bounds):
            inside &= own < bounds[i]
        found = xp.flatnonzero(inside)
        chosen.append((found if rows is None else rows[found]).astype(kind, copy=False))
    return chosen
