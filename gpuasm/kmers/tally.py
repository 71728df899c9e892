"""Tally k-mers: how often each occurs, which bases follow it on either strand, and one place where it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.kmers.keys import MAX_PLAIN_K, check_k
from gpuasm.sequence.reads import Reads

MAX_MULTIPLICITY = 65535
"""The last class of a histogram holds all higher multiplicities too."""
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
    place : (n,) int64
        One occurrence: text position << 1 | strand, strand 1 where the text reads the reverse complement of the key.
    followers : (8n,) uint32, or (0,) when not asked for
        At 8i + 4s + b: how often k-mer i, read on strand s, is followed by base b.
    histogram : (65536,) int64
        Distinct k-mers of each multiplicity, those below ``min_count`` included.
    """

    k: int
    keys: Array
    count: Array
    place: Array
    followers: Array
    histogram: np.ndarray

    @property
    def n(self) -> int:
        return int(self.keys.size)

    @classmethod
    def empty(cls, xp: Any, k: int) -> Tally:
        """Return the tally of no reads at all."""
        return cls(
            k=k,
            keys=xp.empty(0, np.uint64),
            count=xp.empty(0, np.uint32),
            place=xp.empty(0, np.int64),
            followers=xp.empty(0, np.uint32),
            histogram=np.zeros(MAX_MULTIPLICITY + 1, np.int64),
        )

    def at_least(self, min_count: int) -> Tally:
        """Return the tally of the k-mers that occur at least ``min_count`` times; the histogram stays whole."""
        return self.where(self.count >= min_count)

    def where(self, chosen: Array) -> Tally:
        """Return the tally of the k-mers that an (n,) bool array marks; the histogram stays whole."""
        return self._taken(array_namespace(self.keys).flatnonzero(chosen))

    def narrowed(self, chosen: Array) -> Tally:
        """Return the tally of the k-mers that an (n,) bool array marks, in the memory of this one, which is used up."""
        rows = array_namespace(self.keys).flatnonzero(chosen)
        followers = self.followers.reshape(-1, 8)
        if followers.size:
            followers = _moved_down(followers, rows)
        keys, count, place = (_moved_down(column, rows) for column in (self.keys, self.count, self.place))
        return Tally(self.k, keys, count, place, followers.ravel(), self.histogram)

    def without_followers(self) -> Tally:
        """Return the tally without the bases that follow, half of its memory and more."""
        return replace(self, followers=self.followers[:0].copy())

    def _taken(self, chosen: Array) -> Tally:
        followers = self.followers.reshape(-1, 8)[chosen].ravel() if self.followers.size else self.followers
        return Tally(self.k, self.keys[chosen], self.count[chosen], self.place[chosen], followers, self.histogram)


def _moved_down(column: Array, rows: Array) -> Array:
    """Move rising rows of a column to its beginning, a part at a time, and return what they fill."""
    for first in range(0, rows.size, _ROWS_AT_A_TIME):
        part = rows[first : first + _ROWS_AT_A_TIME]
        column[first : first + part.size] = column[part]
    return column[: rows.size]


def _in_text_order(columns: list[Array]) -> None:
    """Sort keys, counts, places and followers by place; each column is freed before the next one is sorted."""
    order = array_namespace(columns[0]).argsort(columns[2])
    for i, column in enumerate(columns):
        if column.size:
            columns[i] = column.reshape(order.size, -1)[order].ravel()
        del column


def tally_kmers(
    reads: Reads,
    k: int,
    names: Array | None = None,
    *,
    k0: int = 0,
    min_count: int = 1,
    with_followers: bool = True,
    in_text_order: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Tally:
    """Count the k-mers of reads exactly, in linear time on the CPU and by one sort on CUDA.

    Parameters
    ----------
    reads
        Packed reads, on the host or on a device.
    k
        Odd; up to 31 by itself, larger ones need the names of their k0-mers.
    names : (32 * n_words,) int32
        For k > 31: the oriented name of the k0-mer that starts at each position of the text, -1 where there is none.
        Windows whose first or last k0-mer has no name are passed over.
    k0
        Length of the named k-mers, k0 < k <= 2 k0.
    min_count
        Rarer k-mers are left out (the histogram holds them).
    with_followers
        Whether to count the bases that follow.
    in_text_order
        Whether to sort by place in the text: k-mers that follow one another then lie side by side in memory.
    progress
        Called with numbers of windows; each window is reported twice, for each of the two passes.

    Returns
    -------
    Tally, its arrays where the reads' arrays are.
    """
    check_k(k)
    if k > MAX_PLAIN_K and (names is None or not k0 < k <= 2 * k0):
        msg = f"k = {k} needs the names of k0-mers with k0 < k <= 2 k0, got k0 = {k0}"
        raise ValueError(msg)
    xp = array_namespace(reads.words)
    if names is None:
        names = xp.empty(0, np.int32)
    if xp is np:
        from gpuasm.kmers.tally_cpu import tally_cpu as tally  # noqa: PLC0415 - either twin, never both
    else:
        from gpuasm.kmers.tally_cuda import tally_cuda as tally  # noqa: PLC0415
    found = tally(
        reads,
        k,
        names,
        k0=k0,
        min_count=min_count,
        with_followers=with_followers,
        progress=progress or (lambda _windows: None),
    )
    if not in_text_order:
        return found
    columns, histogram = [found.keys, found.count, found.place, found.followers], found.histogram
    del found
    _in_text_order(columns)
    keys, count, place, followers = columns
    return Tally(k, keys, count, place, followers, histogram)
