"""Values of k that suit reads of given lengths. Commands that forecast import this module, and not the assembler."""

from __future__ import annotations

import itertools

import numpy as np

from gpuasm.assembly.parameters import ITERATION
from gpuasm.errors import UsageError
from gpuasm.kmers.keys import MAX_PLAIN_K, check_k


def first_k(least: int, n_kmers: int) -> int:
    """Return the first k from ``least`` on, 31 at most, at which few of so many distinct k-mers are equal by chance.

    Of n distinct canonical k-mers of random bases, n^2 / 4^k pairs are expected to be equal by chance.
    """
    k = least
    while k < MAX_PLAIN_K and n_kmers**2 > ITERATION.chance_repeats * 4**k:
        k += 2
    return k


def choose_k(lengths: np.ndarray, *, first: int = MAX_PLAIN_K) -> tuple[int, ...]:
    """Choose values of k for reads of the given lengths: from 31 (or ``first``) to 9 less than the typical read.

    Steps are at most 36, and at most four sevenths of the bases of a read beyond k: only reads have windows across a
    repeat, and a read with fewer windows must keep a larger share of them. There are ``lengths``, (max + 1,) int64,
    segments of reads of each length. The typical read has the length that half of all bases reach.

    Returns
    -------
    tuple of int: ascending and odd, 31, 61, 97, 127, 139 for reads of 150 bases; one k of at most 31 where reads are
    short.
    """
    bases = np.cumsum((lengths * np.arange(lengths.size))[::-1])[::-1]
    typical = int(np.flatnonzero(bases >= (bases[0] + 1) // 2)[-1]) if bases.size and bases[0] else 0
    last = typical - ITERATION.spare_windows
    if last <= MAX_PLAIN_K:
        part, whole = ITERATION.first_k_read_share
        shorter = min(first, max(ITERATION.first_k_least, typical * part // whole))
        return (shorter - 1 + shorter % 2,)
    chosen = [first]
    part, whole = ITERATION.k_step_read_share
    while last - chosen[-1] >= ITERATION.shortest_k_step:
        k = chosen[-1]
        step = min(ITERATION.longest_k_step, max(ITERATION.shortest_k_step, (typical - k) * part // whole))
        following = min(k + step, 2 * k - 1, last)
        chosen.append(following - 1 + following % 2)
    return tuple(k for k in chosen if k == first or k > MAX_PLAIN_K)


def check_k_values(k: tuple[int, ...]) -> None:
    """Raise UsageError unless each k can be named from the one before."""
    for one in k:
        check_k(one)
    if not k or k[0] > MAX_PLAIN_K:
        expected, found = f"a first k of at most {MAX_PLAIN_K}", f"{k[0] if k else 'none'}"
        raise UsageError(expected, found, f"begin the list with {MAX_PLAIN_K}")
    if len(k) > 1 and k[1] <= MAX_PLAIN_K:
        raise UsageError(f"a second k above {MAX_PLAIN_K}", f"{k[1]}", f"leave {k[1]} out")
    for before, after in itertools.pairwise(k):
        if not before < after <= 2 * before:
            raise UsageError(
                "ascending values of k, each at most twice the one before",
                f"{before},{after}",
                "add a value between them",
            )
