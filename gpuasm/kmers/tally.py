"""The k-mer table: multiplicity, following bases on both strands, and one position of each distinct k-mer.

Graphs of plain k ask whether a base follows often enough, of all k-mers, and how often it follows, of few. Their tables
count followers in bytes, and the followers of *frequent* k-mers, whose bytes could overflow, exactly beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace

MAX_MULTIPLICITY = 65535
"""The last class of a histogram includes all higher multiplicities."""
MAX_BYTE = 255
"""The most that a byte of followers counts."""
_ROWS_AT_A_TIME = 1 << 20


@dataclass(frozen=True)
class Tally:
    """Distinct k-mers, in no particular order.

    Attributes
    ----------
    k : int
    keys : (n,) uint64
        Key of each k-mer (see `gpuasm.kmers.keys`).
    count : (n,) uint32
        Occurrences in the reads, both strands together.
    place : (n,) int64, or (0,) if not kept
        One occurrence: text position << 1 | strand; strand 1: the text contains the reverse complement of the key.
    followers : (8n,) uint32 or uint8, or (0,) if not counted
        At 8i + 4s + b: how often base b follows k-mer i on strand s. A byte of 255 stands for 255 and more.
    histogram : (65536,) int64
        Distinct k-mers of each multiplicity, including those below ``min_count``.
    frequent : Tally or None
        Where followers are bytes: the k-mers that may have bytes of 255, by ascending keys, with exact followers.
    """

    k: int
    keys: Array
    count: Array
    place: Array
    followers: Array
    histogram: np.ndarray
    frequent: Tally | None = None

    @property
    def n(self) -> int:
        return int(self.keys.size)

    @classmethod
    def empty(cls, xp: Any, k: int) -> Tally:
        """Return the tally of an empty set of reads."""
        return cls(
            k=k,
            keys=xp.empty(0, np.uint64),
            count=xp.empty(0, np.uint32),
            place=xp.empty(0, np.int64),
            followers=xp.empty(0, np.uint32),
            histogram=np.zeros(MAX_MULTIPLICITY + 1, np.int64),
        )

    def at_least(self, min_count: int) -> Tally:
        """Return the tally of the k-mers that occur at least ``min_count`` times; the histogram stays complete."""
        return self.where(self.count >= min_count)

    def where(self, chosen: Array) -> Tally:
        """Return the tally of the k-mers that an (n,) bool array marks; the histogram stays complete."""
        return self._taken(array_namespace(self.keys).flatnonzero(chosen))

    def narrowed(self, chosen: Array) -> Tally:
        """Return the tally of the k-mers that an (n,) bool array marks, reusing the memory of this one."""
        rows = array_namespace(self.keys).flatnonzero(chosen)
        followers = self.followers.reshape(-1, 8)
        if followers.size:
            followers = _moved_down(followers, rows)
        keys, count, place = (_moved_down(column, rows) for column in (self.keys, self.count, self.place))
        return Tally(self.k, keys, count, place, followers.ravel(), self.histogram, self.frequent)

    def seen(self, edges: Array) -> Array:
        """Return how often edges occur, by their (m,) places in ``followers``: (m,) uint32."""
        xp = array_namespace(self.keys)
        seen = self.followers[edges].astype(np.uint32)
        if self.frequent is not None and self.frequent.n:
            rows = xp.flatnonzero(seen == MAX_BYTE)
            row = xp.searchsorted(self.frequent.keys, self.keys[edges[rows] >> 3])
            seen[rows] = self.frequent.followers[8 * row + (edges[rows] & 7)]
        return seen

    def without_followers(self) -> Tally:
        """Return the tally without the following bases, more than half of its memory."""
        return replace(self, followers=self.followers[:0].copy(), frequent=None)

    def with_bytes(self) -> Tally:
        """Return the tally with exact followers as bytes, and exactly for frequent k-mers."""
        xp, rows = array_namespace(self.keys), self.followers.reshape(-1, 8)
        frequent = self._taken(xp.flatnonzero((rows >= MAX_BYTE).any(axis=1)))
        followers = xp.minimum(self.followers, MAX_BYTE).astype(np.uint8)
        return replace(self, followers=followers, frequent=replace(frequent, place=frequent.place[:0].copy()).by_keys())

    def by_keys(self) -> Tally:
        """Return the tally in the order of its keys."""
        return self._taken(array_namespace(self.keys).argsort(self.keys))

    def _taken(self, chosen: Array) -> Tally:
        followers = self.followers.reshape(-1, 8)[chosen].ravel() if self.followers.size else self.followers
        place = self.place[chosen] if self.place.size else self.place
        return Tally(self.k, self.keys[chosen], self.count[chosen], place, followers, self.histogram, self.frequent)


def joined(parts: list[Array]) -> Array:
    """Concatenate arrays, and free each once it is copied, so that there are never two copies of all."""
    xp = array_namespace(parts[0])
    whole, at = xp.empty((sum(part.shape[0] for part in parts), *parts[0].shape[1:]), parts[0].dtype), 0
    parts.reverse()
    while parts:
        part = parts.pop()
        whole[at : at + part.shape[0]] = part
        at += part.shape[0]
    return whole


def _moved_down(column: Array, rows: Array) -> Array:
    """Move ascending rows of a column to its beginning, in batches, and return the filled part."""
    for first in range(0, rows.size, _ROWS_AT_A_TIME):
        part = rows[first : first + _ROWS_AT_A_TIME]
        column[first : first + part.size] = column[part]
    return column[: rows.size]
