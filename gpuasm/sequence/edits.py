"""Edits: how many single bases must change, come or go for one text to become the beginning of another."""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import compiled


@compiled()
def edits_to_beginning(own, beside):
    """Return the least edits between a text and any beginning of another, by the whole matrix (Sellers 1980).

    Parameters
    ----------
    own, beside : (n,) uint8
        Codes of bases.
    """
    row = np.arange(beside.size + 1)
    for j in range(own.size):
        diagonal, row[0] = row[0], j + 1
        for i in range(beside.size):
            edited = diagonal + (own[j] != beside[i])
            diagonal = row[i + 1]
            row[i + 1] = min(edited, min(row[i], row[i + 1]) + 1)
    return row.min()
