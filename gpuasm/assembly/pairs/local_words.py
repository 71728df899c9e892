"""Local words: all k-mers of a few reads, for any k, and every walk through them from one k-mer to another.

Only k-mers that a walk might go through are ever looked up, so none is counted for each k: the places of the reads are
chained by the hash of their first bases, once, and what a place holds is compared base by base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.parallel import compiled, inlined
from gpuasm.primitives.hashing import mix

MOST_WALKS, MOST_STEPS = 64, 20_000
"""Of more walks, or after so many steps, none is told."""
_UNKNOWN = -2


@dataclass(frozen=True)
class LocalWords:
    """The words of reads.

    Attributes
    ----------
    codes : (total,) uint8
        The reads, one after the other.
    behind : (total,) int32
        Where the read of each base ends.
    m : int
        Bases by which places are chained: the least k.
    head : (n_slots,) int32
        The first place of each hash, -1 where there is none; a power of two.
    follows : (total,) int32
        The next place of the same hash; ascending.
    """

    codes: np.ndarray
    behind: np.ndarray
    m: int
    head: np.ndarray
    follows: np.ndarray

    @classmethod
    def of(cls, reads: Sequence[bytes], m: int) -> LocalWords:
        """Chain the places of reads' codes, for words of m bases and more."""
        codes = np.frombuffer(b"".join(reads), np.uint8)
        size = np.array([len(read) for read in reads], np.int64)
        behind = np.repeat(np.cumsum(size), size).astype(np.int32)
        head = np.full(1 << max(4, codes.size.bit_length()), -1, np.int32)
        follows = np.empty(codes.size, np.int32)
        _chain(codes, behind, m, head, follows)
        return cls(codes, behind, m, head, follows)

    def walks(self, ends: tuple[bytes, bytes], size: tuple[int, int], *, least: int = 1) -> list[bytes] | None:
        """Return all walks from one word to another.

        Parameters
        ----------
        ends
            Codes of the first and the last word of a walk, m or more each, whether reads have them or not.
        size
            How many bases a walk may have behind the first word: from, to.
        least
            In how many places of reads every other word stands at least.

        Returns
        -------
        Codes of the walks, the first word included, in no special order; None if there are too many.
        """
        k, (shortest, longest) = len(ends[0]), size
        codes = np.concatenate([self.codes, np.frombuffer(b"".join(ends), np.uint8)])
        places = (self.behind, self.m, self.head, self.follows)
        texts = np.empty((MOST_WALKS + 1, k + max(0, longest)), np.uint8)
        beyond = np.empty(MOST_WALKS + 1, np.int64)
        n = _walk((codes, *places), k, least, shortest, longest, texts, beyond)
        return None if n < 0 else [texts[i, : k + beyond[i]].tobytes() for i in range(n)]


@compiled()
def _chain(codes, behind, m, head, follows):
    mask = np.uint64(head.size - 1)
    for p in range(codes.size - 1, -1, -1):
        if p + m <= behind[p]:
            key = np.uint64(0)
            for i in range(m):
                key = (key << np.uint64(2)) | np.uint64(codes[p + i])
            slot = np.int64(mix(key) & mask)
            follows[p] = head[slot]
            head[slot] = p


@inlined()
def _holds(codes, q, p, base, k, step):
    """Tell whether place q has the word that follows on the one at p with a base (step 1), or goes before it (0)."""
    if codes[q + (k - 1 if step == 1 else 0)] != base:
        return False
    theirs, own = (q, p + 1) if step == 1 else (q + 1, p)
    for i in range(k - 1):
        if codes[theirs + i] != codes[own + i]:
            return False
    return True


@compiled()
def _place_of(reads, k, least, p, base, step):
    """Return the first place of the word beside that of place p, -1 if it stands in too few; see `_holds`."""
    codes, behind, m, head, follows = reads
    for end in (behind.size, behind.size + k):
        if _holds(codes, end, p, base, k, step):
            return np.int64(end)
    key = np.uint64(base) if step == 0 else np.uint64(0)
    first = p + 1 if step == 1 else p
    n = m if step == 1 and m < k else m - 1
    for i in range(n):
        key = (key << np.uint64(2)) | np.uint64(codes[first + i])
    if step == 1 and m == k:
        key = (key << np.uint64(2)) | np.uint64(base)
    place, times = np.int64(-1), 0
    q = np.int64(head[np.int64(mix(key) & np.uint64(head.size - 1))])
    while q >= 0:
        if q + k <= behind[q] and _holds(codes, q, p, base, k, step):
            place = q if times == 0 else place
            times += 1
            if times >= least:
                return place
        q = np.int64(follows[q])
    return np.int64(-1)


@compiled()
def _find_nodes(reads, k, least, goal, longest):
    """Return the places of the words that are within so many steps before the goal, nearest first, and their steps."""
    number = np.full(reads[0].size, -1, np.int32)
    node, left = np.empty(number.size, np.int64), np.empty(number.size, np.int32)
    number[goal], node[0], left[0] = 0, goal, 0
    first, last = 0, 1
    while first < last and left[first] < longest:
        for base in range(4):
            q = _place_of(reads, k, least, node[first], base, 0)
            if q >= 0 and number[q] < 0:
                number[q], node[last], left[last] = last, q, left[first] + 1
                last += 1
        first += 1
    return node[:last], left[:last], number


@compiled()
def _walk(reads, k, least, shortest, longest, texts, beyond):
    """Write all walks and how many bases each has behind its first word; return their number, -1 for too many."""
    codes, start = reads[0], reads[1].size
    goal = start if (codes[start : start + k] == codes[start + k :]).all() else start + k
    node, left, number = _find_nodes(reads, k, least, goal, longest)
    if number[start] < 0:
        return 0
    ahead = np.full((node.size, 4), _UNKNOWN, np.int32)
    text = np.empty(texts.shape[1], np.uint8)
    text[:k] = codes[start : start + k]
    waiting, depth = np.empty(4 * text.size + 4, np.int64), np.empty(4 * text.size + 4, np.int64)
    added = np.empty(4 * text.size + 4, np.uint8)
    waiting[0], depth[0], added[0] = number[start], 0, 0
    n_waiting, found, steps = 1, 0, 0
    while n_waiting:
        n_waiting -= 1
        i, n = waiting[n_waiting], depth[n_waiting]
        if n:
            text[k + n - 1] = added[n_waiting]
        steps += 1
        if i == 0 and n >= shortest:
            texts[found, : k + n] = text[: k + n]
            beyond[found] = n
            found += 1
        if steps > MOST_STEPS or found > MOST_WALKS:
            return -1
        for base in range(4):
            if ahead[i, base] == _UNKNOWN:
                q = _place_of(reads, k, least, node[i], base, 1)
                ahead[i, base] = number[q] if q >= 0 else -1
            j = ahead[i, base]
            if j >= 0 and n + 1 + left[j] <= longest:
                waiting[n_waiting], depth[n_waiting], added[n_waiting] = j, n + 1, base
                n_waiting += 1
    return found
