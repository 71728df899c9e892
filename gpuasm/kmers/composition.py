"""Composition: how often each tetranucleotide stands in a piece of sequence, both strands together.

Genomes differ in their 4-mers far more than parts of one genome do, so that pieces of a few thousand bases tell which
genome they are of (doi:10.1186/gb-2009-10-8-r85). Counts are integers, hence the same from every device; what is made
of them (shares, logarithms) is left to whoever compares them.
"""

from __future__ import annotations

import functools

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.parallel import for_each
from gpuasm.sequence.encoding import NOT_A_BASE, decode

LENGTH = 4
"""Bases of a word."""

N_COLUMNS = 136
"""Words of 4 bases, a word and its reverse complement counted as one: (256 + 16) / 2."""


@functools.cache
def tetramers() -> tuple[str, ...]:
    """Return the words that the columns stand for, ascending; of a word and its reverse complement the lesser."""
    column = _column_of_word()
    digits = (np.unique(column, return_index=True)[1][:, None] >> np.arange(2 * LENGTH - 2, -1, -2)) & 3
    return tuple(decode(word.astype(np.uint8)) for word in digits)


def count_tetramers(codes: Array, begin: Array, end: Array) -> Array:
    """Count the tetranucleotides of pieces of one sequence of codes.

    Parameters
    ----------
    codes : (n,) uint8
        Bases, A 0, C 1, G 2, T 3; anything above is no base, and no word reaches over it.
    begin, end : (m,) int64
        Each piece's first base and the base after its last; pieces may overlap.

    Returns
    -------
    (m, 136) int32, where the arguments live: column c counts ``tetramers()[c]`` and its reverse complement.

    Raises
    ------
    ValueError
        If a piece lies outside of the codes, or ``begin`` and ``end`` differ in size.
    """
    xp = array_namespace(codes, begin, end)
    if begin.shape != end.shape:
        msg = f"{begin.size} begins and {end.size} ends"
        raise ValueError(msg)
    if begin.size and (int(begin.min()) < 0 or int(end.max()) > codes.size):
        msg = f"pieces lie outside of the {codes.size} codes"
        raise ValueError(msg)
    counts = xp.zeros(begin.size * N_COLUMNS, np.int32)
    column = to_namespace(xp, _column_of_word())
    _count(begin.size, codes, begin.astype(np.int64), end.astype(np.int64), column, counts)
    return counts.reshape(begin.size, N_COLUMNS)


@functools.cache
def _column_of_word() -> np.ndarray:
    """(256,) int16: the column of each word of four 2-bit codes."""
    word = np.arange(4**LENGTH)
    twin = np.zeros_like(word)
    for place in range(LENGTH):
        twin = twin << 2 | (3 - (word >> 2 * place & 3))
    return np.unique(np.minimum(word, twin), return_inverse=True)[1].astype(np.int16)


@for_each
def _count(i, codes, begin, end, column, counts):
    word, run = 0, 0
    for at in range(begin[i], end[i]):
        code = int(codes[at])
        if code >= NOT_A_BASE:
            run = 0
            continue
        word = (word << 2 | code) & 255
        run += 1
        if run >= LENGTH:
            counts[i * N_COLUMNS + column[word]] += 1
