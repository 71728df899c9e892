"""The ladder: the values of k of an assembly, from the lengths of the reads."""

from __future__ import annotations

import itertools

import numpy as np

from gpuasm.errors import UsageError
from gpuasm.kmers.keys import MAX_PLAIN_K, check_k

FIRST_K = 31
FIRST_K_WHERE_THIN = 25
"""Two reads that overlap by 25 to 30 bases are joined by it; where coverage is thin, such are needed to get on."""
FIRST_K_WHERE_SPARSE = 21
"""And by 21, where more than a window in a thousand is missing. Some of these overlaps are short repeats: reads
contradict them at the next k (`carrying.contradicted`), but the tangles cost a tenth of auNGA at 15x."""
SPARSE = 1e-3
_CHANCE_REPEATS = 16
"""Pairs of k-mers that may be the same by chance. A genome of 5 Mb has six such 21-mers, a community of 27 Mb 166, each
a tangle, in a community of two organisms mostly. Ten members of 27 Mb came out best with 23-mers (10 such), sixteen of
57 Mb with 25-mers (3): with 21-mers (738) the NGA50 of *H. influenzae* was 55,329 in place of 77,979."""
_SPARE_WINDOWS = 9
_SHORTEST_STEP, _LONGEST_STEP = 8, 36


def first_k(least: int, n_kmers: int) -> int:
    """Return the first k from ``least`` on, 31 at most, at which few k-mers are the same by chance.

    Of n distinct k-mers, either strand's, n^2 / 4^k pairs are expected to be the same by chance where bases are random.

    Parameters
    ----------
    least
        The first k of a small genome.
    n_kmers
        Distinct k-mers of the sample.
    """
    k = least
    while k < FIRST_K and n_kmers**2 > _CHANCE_REPEATS * 4**k:
        k += 2
    return k


def choose_k(lengths: np.ndarray, *, first: int = FIRST_K) -> tuple[int, ...]:
    """Choose values of k for reads of the given lengths: from 31 (or ``first``) to 9 less than the typical read.

    Steps are at most 36 and shrink to four sevenths of what is left of the read, since windows across a repeat come
    from reads only, and the fewer windows a read has, the less may be left to the next k.

    Parameters
    ----------
    lengths : (max + 1,) int64
        How many pieces of reads there are of each length.
    first
        The first k.

    Returns
    -------
    tuple of int: ascending and odd, 31, 61, 97, 127, 139 for reads of 150 bases; one k of at most 31 where reads are
    short. The typical read has the length that half of all bases reach.
    """
    bases = np.cumsum((lengths * np.arange(lengths.size))[::-1])[::-1]
    typical = int(np.flatnonzero(bases >= (bases[0] + 1) // 2)[-1]) if bases.size and bases[0] else 0
    last = typical - _SPARE_WINDOWS
    if last <= FIRST_K:
        shorter = min(first, max(11, typical * 2 // 3))
        return (shorter - 1 + shorter % 2,)
    chosen = [first]
    while last - chosen[-1] >= _SHORTEST_STEP:
        k = chosen[-1]
        step = min(_LONGEST_STEP, max(_SHORTEST_STEP, (typical - k) * 4 // 7))
        following = min(k + step, 2 * k - 1, last)
        chosen.append(following - 1 + following % 2)
    return tuple(k for k in chosen if k == first or k > MAX_PLAIN_K)


def check_ladder(k: tuple[int, ...]) -> None:
    """Raise UsageError unless each k can be named from the one before."""
    for one in k:
        check_k(one)
    if not k or k[0] > FIRST_K:
        raise UsageError(
            f"a first k of at most {FIRST_K}", f"{k[0] if k else 'none'}", f"begin the list with {FIRST_K}"
        )
    if len(k) > 1 and k[1] <= MAX_PLAIN_K:
        raise UsageError(f"a second k above {MAX_PLAIN_K}", f"{k[1]}", f"leave {k[1]} out")
    for before, after in itertools.pairwise(k):
        if not before < after <= 2 * before:
            raise UsageError(
                "ascending values of k, each at most twice the one before",
                f"{before},{after}",
                "add a value between them",
            )
