"""N50 and L50 of reads, contigs or scaffolds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def n50_and_l50(lengths: ArrayLike, counts: ArrayLike | None = None) -> tuple[int, int]:
    """Return the length at which sequences as long or longer contain half of all bases, and how many these are.

    Parameters
    ----------
    lengths : (n,) int
        In any order; rising and distinct if there are ``counts``.
    counts : (n,) int, optional
        The number of sequences of each length.

    Returns
    -------
    n50, l50 : int
        0 and 0 without bases.
    """
    if counts is None:
        lengths, counts = np.unique(np.asarray(lengths, np.int64), return_counts=True)
    size, number = np.asarray(lengths, np.int64)[::-1], np.asarray(counts, np.int64)[::-1]
    bases = np.cumsum(size * number)
    if not bases.size or bases[-1] == 0:
        return 0, 0
    half = (int(bases[-1]) + 1) // 2
    at = int(np.searchsorted(bases, half))
    n_longer, bases_of_longer = (int(number[:at].sum()), int(bases[at - 1])) if at else (0, 0)
    return int(size[at]), n_longer + -(-(half - bases_of_longer) // int(size[at]))
