"""Contigs as pieces of about one length, so that long contigs weigh by their bases and each piece tells as much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Contigs:
    """Contigs to be binned.

    Attributes
    ----------
    names : list of str
    codes : (n,) uint8
        The bases of all contigs, one after the other; above 3 is no base.
    start : (m + 1,) int64
        Where each contig starts in ``codes``, and the end of the last.
    depth : (m, s) float64
        How deep the reads of each of s samples lie on each contig; s may be 0.
    is_circular : (m,) bool
    """

    names: list[str]
    codes: np.ndarray
    start: np.ndarray
    depth: np.ndarray
    is_circular: np.ndarray

    @property
    def n(self) -> int:
        return len(self.names)

    @property
    def length(self) -> np.ndarray:
        """Bases of each contig, (m,) int64."""
        return np.diff(self.start)


@dataclass(frozen=True)
class Pieces:
    """Pieces of contigs, in the order of the contigs.

    Attributes
    ----------
    contig : (n,) int64
    begin, end : (n,) int64
        First base and the base after the last, within the contig.
    """

    contig: np.ndarray
    begin: np.ndarray
    end: np.ndarray

    @property
    def n(self) -> int:
        return int(self.contig.size)

    @property
    def length(self) -> np.ndarray:
        return self.end - self.begin

    def select(self, chosen: np.ndarray) -> Pieces:
        """Return the chosen pieces (a mask or indices)."""
        return Pieces(self.contig[chosen], self.begin[chosen], self.end[chosen])


def cut_contigs(length: np.ndarray, *, window: int, least: int) -> Pieces:
    """Cut contigs into windows, as Dick et al. did (doi:10.1186/gb-2009-10-8-r85).

    Parameters
    ----------
    length : (m,) int64
        Bases of each contig.
    window
        Bases of a piece. What is left at a contig's end belongs to its last piece, so that a contig below two windows
        is one piece.
    least
        Shorter contigs give no piece.
    """
    n_pieces = np.where(length >= least, np.maximum(1, length // window), 0)
    contig = np.repeat(np.arange(length.size), n_pieces)
    number = np.arange(contig.size) - np.repeat(np.cumsum(n_pieces) - n_pieces, n_pieces)
    is_last = number == n_pieces[contig] - 1
    begin = number * window
    return Pieces(contig, begin, np.where(is_last, length[contig], begin + window))
