"""Reads as arrays: packed bases, and the start and length of each segment of a read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, is_on_other_device, to_current_device, to_host, to_namespace
from gpuasm.checks import array_of, items
from gpuasm.errors import DataError
from gpuasm.primitives.counting import count_values
from gpuasm.primitives.runs import begins_run, numbers_of_ranges
from gpuasm.sequence.encoding import NOT_A_BASE, encode, pack

_BATCH = 1 << 13
"""Stretches of segments that are read at once: each takes some kilobytes meanwhile."""


class ReadArrays(NamedTuple):
    """What kernels take of `Reads`."""

    start: Array
    length: Array
    packed: Array


@dataclass(frozen=True)
class Reads:
    """Segments of reads: a read is split at every letter that is not a base.

    An IUPAC code of two bases is replaced by one of them (`gpuasm.sequence.encoding.ONE_OF_TWO`).

    Attributes
    ----------
    packed : (n_packed,) uint64
        All bases, 32 in each element, the first in the highest bits; the last element holds no base of a segment.
    start : (n_segments,) int64
        Position of the first base of each segment in ``packed``.
    length : (n_segments,) int32
        Bases of each segment, at least 1.
    read : (n_segments,) int64
        Number of the read of each segment, in input order; mates are reads 2i and 2i + 1.
    n_reads : int
        Reads in the input, including those without a base.
    paired : bool
        Whether reads 2i and 2i + 1 are mates.
    """

    packed: Array
    start: Array
    length: Array
    read: Array
    n_reads: int
    paired: bool = False

    @property
    def n_segments(self) -> int:
        return int(self.start.size)

    @property
    def n_bases(self) -> int:
        return int(self.length.sum(dtype=np.int64)) if self.n_segments else 0

    @property
    def n_bytes(self) -> int:
        """Bytes of memory of the arrays."""
        return sum(int(array.nbytes) for array in (self.packed, self.start, self.length, self.read))

    @property
    def arrays(self) -> ReadArrays:
        """Start and length of the segments, and their bases, for kernels."""
        return ReadArrays(self.start, self.length, self.packed)

    def codes_of(self, segment: Array, first: Array, length: Array, *, is_reversed: Array) -> np.ndarray:
        """Return the concatenated codes of stretches of segments: (sum of lengths,) uint8, on the host.

        Parameters
        ----------
        segment : (n,) int64
        first, length : (n,) int64
            First base of each stretch in its segment, and its bases.
        is_reversed : (n,) bool
            Whether the reverse complement of the segment is read.
        """
        xp, found = array_namespace(self.packed), [np.empty(0, np.uint8)]
        for row in range(0, int(segment.size), _BATCH):
            own = slice(row, row + _BATCH)
            along, which = numbers_of_ranges(first[own], length[own])
            begin, flipped = self.start[segment[own]], is_reversed[own][which]
            last = begin + self.length[segment[own]] - 1
            place = xp.where(flipped, last[which] - along, begin[which] + along)
            codes = (self.packed[place // 32] >> (62 - 2 * (place % 32)).astype(np.uint64)).astype(np.uint8) & 3
            found.append(to_host(xp.where(flipped, 3 - codes, codes)))
        return np.concatenate(found)

    @property
    def words(self) -> Array:
        """The bases under their name of version 0.1; see ``packed``."""
        return self.packed

    @classmethod
    def from_strings(cls, texts: Iterable[str], *, paired: bool = False) -> Reads:
        """Make reads from texts, for tests and small inputs.

        Parameters
        ----------
        texts
            The bases of each read; lower case is taken as upper case, other letters split the read.
        paired
            Whether texts 2i and 2i + 1 are mates.
        """
        return cls.from_codes((_codes_of(text) for text in items(texts, "texts")), paired=paired)

    @classmethod
    def from_codes(cls, texts: Iterable[np.ndarray], *, paired: bool = False) -> Reads:
        """Make reads of codes, (n,) uint8 each; 4 and above split the read. See `from_strings`."""
        codes, start, length, read, position, n_reads = [], [], [], [], 0, 0
        for number, code in enumerate(items(texts, "arrays of codes")):
            array_of(code, "codes of a read", "u", (None,))
            n_reads += 1
            is_base = np.concatenate([[False], code < NOT_A_BASE, [False]])
            edges = np.flatnonzero(is_base[1:] != is_base[:-1])
            for first, last in edges.reshape(-1, 2):
                codes.append(code[first:last])
                start.append(position)
                length.append(last - first)
                read.append(number)
                position += last - first
        joined = np.concatenate(codes) if codes else np.empty(0, np.uint8)
        return cls(
            pack(joined),
            np.array(start, np.int64),
            np.array(length, np.int32),
            np.array(read, np.int64),
            n_reads,
            paired,
        )

    def select(self, chosen: Array) -> Reads:
        """Return the chosen segments (a mask or indices) of the same packed bases."""
        return replace(self, start=self.start[chosen], length=self.length[chosen], read=self.read[chosen])

    def followed_by(self, others: Reads) -> Reads:
        """Return these segments and then others, over their joined text."""
        xp = array_namespace(self.packed)
        moved = replace(others, start=others.start + 32 * self.packed.size)
        pairs = {name: (getattr(self, name), getattr(moved, name)) for name in ("packed", "start", "length", "read")}
        arrays = {name: xp.concatenate(pair) for name, pair in pairs.items()}
        return replace(self, **arrays, n_reads=self.n_reads + others.n_reads)

    def moved_to(self, xp: Any) -> Reads:
        """Return the reads with their arrays in the memory of namespace ``xp``."""
        if array_namespace(self.packed) is xp:
            return self
        return self._with_arrays(partial(to_namespace, xp))

    def copied_to_current_device(self) -> Reads:
        """Return a copy of reads of another device on the current one; any other reads are returned unchanged."""
        return self._with_arrays(to_current_device) if is_on_other_device(self.packed) else self

    def _with_arrays(self, moved: Callable[[Array], Array]) -> Reads:
        return replace(self, **{name: moved(getattr(self, name)) for name in ("packed", "start", "length", "read")})


def _codes_of(text: str | bytes) -> np.ndarray:
    if not isinstance(text, (str, bytes)):
        raise DataError("the bases of a read as text", f"a {type(text).__name__}", "give one text for each read")
    return encode(text.encode("ascii", errors="replace") if isinstance(text, str) else text)  # other letters split


def first_of_mates(read: Array) -> tuple[Array, Array]:
    """Return the first row of each mate, (n,) int64 each, of all pairs with rows of both.

    ``read`` are the numbers of the rows' reads, (m,) int64, ascending.
    """
    xp = array_namespace(read)
    rows = xp.flatnonzero(begins_run(read))
    read = read[rows]
    pair = xp.flatnonzero((read[:-1] % 2 == 0) & (read[1:] == read[:-1] + 1))
    return rows[pair], rows[pair + 1]


def lengths_of(reads: Reads) -> np.ndarray:
    """Return how many segments of reads there are of each length: (max + 1,) int64, on the host."""
    longest = int(reads.length.max()) if reads.n_segments else 0
    return to_host(count_values(reads.length, longest + 1))


def count_windows(lengths: np.ndarray, k: int) -> int:
    """Return how many windows of k bases sequences have, by the number of sequences of each length."""
    return int((np.maximum(np.arange(lengths.size) - k + 1, 0) * lengths).sum())
