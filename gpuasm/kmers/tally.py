"""The k-mer table: multiplicity, following bases on both strands, and one position of each distinct k-mer.

Graphs of plain k ask of all k-mers whether a base follows often enough, and of few how often it does. Their tables have
*edges*, a bit for each base, in place of counts; `gpuasm.kmers.counting.count_followers` counts those of few k-mers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace

MAX_MULTIPLICITY = 65535
"""The last class of a histogram includes all higher multiplicities."""
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
    followers : (8n,) uint32, or (0,) if not counted
        At 8i + 4s + b: how often base b follows k-mer i on strand s.
    histogram : (65536,) int64
        Distinct k-mers of each multiplicity, including those below ``min_count``.
    edges : (n,) uint8, or None
        In place of counted followers: bit 4s + b is 1 where base b follows k-mer i on strand s often enough.
    """

    k: int
    keys: Array
    count: Array
    place: Array
    followers: Array
    histogram: np.ndarray
    edges: Array = None

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
            edges=xp.empty(0, np.uint8),
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
        edges = None if self.edges is None else _moved_down(self.edges, rows)
        return Tally(self.k, keys, count, place, followers.ravel(), self.histogram, edges)

    def without_followers(self) -> Tally:
        """Return the tally without the following bases, more than half of its memory."""
        return replace(self, followers=self.followers[:0].copy())

    def aside(self, *columns: str) -> Tally:
        """Return the tally with columns moved to host memory, where a device needs its memory for others."""
        moved: dict[str, Any] = {name: to_host(getattr(self, name)) for name in columns}
        return replace(self, **moved)

    def keyed_in(self, xp: Any) -> Tally:
        """Return the tally with keys and edges in the memory of namespace ``xp``, and counts in host memory."""
        keys, edges = to_namespace(xp, self.keys), to_namespace(xp, self.edges)
        return replace(self, keys=keys, edges=edges, count=to_host(self.count))

    def _taken(self, chosen: Array) -> Tally:
        followers = self.followers.reshape(-1, 8)[chosen].ravel() if self.followers.size else self.followers
        place = self.place[chosen] if self.place.size else self.place
        edges = None if self.edges is None else self.edges[chosen]
        return Tally(self.k, self.keys[chosen], self.count[chosen], place, followers, self.histogram, edges)


def handed_over(tallies: list[Tally]) -> list[list[Tally]]:
    """Empty a list, and return each tally in a list of its own, out of which its user takes it, so that it is freed."""
    held = [[tally] for tally in tallies]
    tallies.clear()
    return held


def observed_edges(followers: Array, min_follow: int) -> Array:
    """Return which of (8n,) followers occur at least so often: (n,) uint8, bit j of byte i for the follower 8i + j."""
    return array_namespace(followers).packbits(followers >= min_follow, bitorder="little")


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
