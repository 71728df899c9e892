"""Reads as arrays: packed bases, and where each piece of a read starts and how long it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.sequence.encoding import NOT_A_BASE, encode, pack


@dataclass(frozen=True)
class Reads:
    """Pieces of reads: a read is cut into pieces at every letter that is no base.

    Of an IUPAC code of two bases one is taken (`gpuasm.sequence.encoding.ONE_OF_TWO`).

    Attributes
    ----------
    words : (n_words,) uint64
        All bases, 32 a word, the first in the highest bits; the last word holds no base of a piece.
    start : (n_pieces,) int64
        Position of the first base of each piece in ``words``.
    length : (n_pieces,) int32
        Bases of each piece, at least 1.
    read : (n_pieces,) int64
        Number of the read that the piece was cut from, in input order; mates are reads 2i and 2i + 1.
    n_reads : int
        Reads in the input, those without a single base included.
    paired : bool
        Whether reads 2i and 2i + 1 are mates.
    """

    words: Array
    start: Array
    length: Array
    read: Array
    n_reads: int
    paired: bool = False

    @property
    def n_pieces(self) -> int:
        return int(self.start.size)

    @property
    def n_bases(self) -> int:
        return int(self.length.sum(dtype=np.int64)) if self.n_pieces else 0

    @classmethod
    def from_strings(cls, texts: Iterable[str], *, paired: bool = False) -> Reads:
        """Make reads from texts: for tests and small uses.

        Parameters
        ----------
        texts
            The bases of each read; lower case is taken as upper case, other letters cut the read.
        paired
            Whether texts 2i and 2i + 1 are mates.
        """
        return cls.from_codes((encode(text) for text in texts), paired=paired)

    @classmethod
    def from_codes(cls, texts: Iterable[np.ndarray], *, paired: bool = False) -> Reads:
        """Make reads of codes, (n,) uint8 each: 4 and above cuts the read. See `from_strings`."""
        codes, start, length, read, position, n_reads = [], [], [], [], 0, 0
        for number, code in enumerate(texts):
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
        """Return the chosen pieces (a mask or indices) over the same words."""
        return replace(self, start=self.start[chosen], length=self.length[chosen], read=self.read[chosen])

    def moved_to(self, xp: Any) -> Reads:
        """Return the same reads with their arrays where namespace ``xp`` keeps its own."""
        if array_namespace(self.words) is xp:
            return self
        arrays = {name: to_namespace(xp, getattr(self, name)) for name in ("words", "start", "length", "read")}
        return replace(self, **arrays)
