"""The k largest of many numbers, by a threshold and without sorting them."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.densest.selection_cuda import top_k_cuda


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
    if array_namespace(scores) is np:
        return np.array([_top_of_row(row, k) for row in scores], np.int64).reshape(len(scores), k)
    return top_k_cuda(scores, k)


def _top_of_row(row: np.ndarray, k: int) -> np.ndarray:
    threshold = np.partition(row, row.size - k)[row.size - k]
    above = np.flatnonzero(row > threshold)
    equal = np.flatnonzero(row == threshold)[: k - above.size]
    return np.sort(np.concatenate([above, equal]))
