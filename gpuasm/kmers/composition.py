"""Composition: tetranucleotide counts of windows of a sequence, both strands together.

Genomes differ more in their 4-mers than windows of one genome do, so windows of a few thousand bases indicate their
genome (doi:10.1186/gb-2009-10-8-r85). Counts are integers, hence the same on every device; callers derive shares or
logarithms from them.
"""

from __future__ import annotations

import functools

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.parallel import for_each
from gpuasm.sequence.encoding import NOT_A_BASE, decode

LENGTH = 4
"""Bases of a tetranucleotide."""

N_COLUMNS = 136
"""Tetranucleotides, with reverse complements counted as one: (256 + 16) / 2."""


@functools.cache
def tetramers() -> tuple[str, ...]:
    """Return the tetranucleotide of each column, ascending; the lesser of it and its reverse complement."""
    column = _column_of_tetramer()
    digits = (np.unique(column, return_index=True)[1][:, None] >> np.arange(2 * LENGTH - 2, -1, -2)) & 3
    return tuple(decode(tetramer.astype(np.uint8)) for tetramer in digits)


def count_tetramers(codes: Array, begin: Array, end: Array) -> Array:
    """Count the tetranucleotides of windows of one sequence of codes.

    Parameters
    ----------
    codes : (n,) uint8
        Bases, A 0, C 1, G 2, T 3; anything above is not a base, and no tetranucleotide contains it.
    begin, end : (m,) int64
        First base of each window and the base after its last; windows may overlap.

    Returns
    -------
    (m, 136) int32, in the memory of the arguments: column c counts ``tetramers()[c]`` and its reverse complement.

    Raises
    ------
    ValueError
        If a window lies outside of the codes, or ``begin`` and ``end`` differ in size.
    """
    xp = array_namespace(codes, begin, end)
    if begin.shape != end.shape:
        msg = f"{begin.size} begins and {end.size} ends"
        raise ValueError(msg)
    if begin.size and (int(begin.min()) < 0 or int(end.max()) > codes.size):
        msg = f"windows lie outside of the {codes.size} codes"
        raise ValueError(msg)
    counts = xp.zeros(begin.size * N_COLUMNS, np.int32)
    column = to_namespace(xp, _column_of_tetramer())
    _count(begin.size, codes, begin.astype(np.int64), end.astype(np.int64), column, counts)
    return counts.reshape(begin.size, N_COLUMNS)


@functools.cache
def _column_of_tetramer() -> np.ndarray:
    """Return the column of each tetranucleotide, (256,) int16, indexed by its four 2-bit codes."""
    tetramer = np.arange(4**LENGTH)
    reverse = np.zeros_like(tetramer)
    for place in range(LENGTH):
        reverse = reverse << 2 | (3 - (tetramer >> 2 * place & 3))
    return np.unique(np.minimum(tetramer, reverse), return_inverse=True)[1].astype(np.int16)


@for_each
def _count(i, codes, begin, end, column, counts):
    tetramer, run = 0, 0
    for at in range(begin[i], end[i]):
        code = int(codes[at])
        if code >= NOT_A_BASE:
            run = 0
            continue
        tetramer = (tetramer << 2 | code) & 255
        run += 1
        if run >= LENGTH:
            counts[i * N_COLUMNS + column[tetramer]] += 1
