"""Edit distance of a sequence to the prefixes, or to the substrings, of another."""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import compiled, inlined

_ONE, _TOP, _ALL = np.uint64(1), np.uint64(63), np.uint64(2**64 - 1)


@compiled()
def edits_to_prefix(query, target):
    """Return the least edit distance of a sequence to any prefix of another, by the full matrix (Sellers 1980).

    Parameters
    ----------
    query, target : (n,) uint8
        Codes of bases.
    """
    row = np.arange(target.size + 1)
    for j in range(query.size):
        diagonal, row[0] = row[0], j + 1
        for i in range(target.size):
            edited = diagonal + (query[j] != target[i])
            diagonal = row[i + 1]
            row[i + 1] = min(edited, min(row[i], row[i + 1]) + 1)
    return row.min()


@compiled()
def edits_to_substring(query, target):
    """Return the least edit distance of a sequence to any substring of another.

    64 rows of the matrix of Sellers (1980) at a time, as bits where it increases and decreases: Myers (1999,
    doi:10.1145/316542.316550), in the blocks of Hyyrö (2003).

    Parameters
    ----------
    query, target : (n,) uint8
        Codes of bases.
    """
    length = query.size
    n_blocks = (length + 63) >> 6
    same, rises = np.zeros((4, n_blocks), np.uint64), np.full(n_blocks, _ALL, np.uint64)
    falls = np.zeros(n_blocks, np.uint64)
    for j in range(length):
        same[query[j], j >> 6] |= _ONE << np.uint64(j & 63)
    last = np.uint64((length - 1) & 63)
    edits = least = length
    for base in target:
        step = 0  # to the right in the row above these 64
        for b in range(n_blocks):
            top = last if b == n_blocks - 1 else _TOP
            rises[b], falls[b], step = _next_column(same[base, b], rises[b], falls[b], step, top)
        edits += step
        least = min(least, edits)
    return least


@inlined()
def _next_column(same, rises, falls, step, top):
    """Return where the next column of 64 rows rises and falls from row to row, and its step to the right at ``top``."""
    either = same | falls
    if step < 0:
        same |= _ONE
    flat = (((same & rises) + rises) ^ rises) | same
    up, down = falls | ~(flat | rises), rises & flat
    out = np.int64((up >> top) & _ONE) - np.int64((down >> top) & _ONE)
    up, down = up << _ONE, down << _ONE
    if step < 0:
        down |= _ONE
    elif step > 0:
        up |= _ONE
    return down | ~(either | up), up & either, out
