"""Divide contigs into windows of similar length, so that each window carries similar weight."""

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
        The bases of all contigs, concatenated; codes above 3 are not bases.
    start : (m + 1,) int64
        Start of each contig in ``codes``, and the end of the last.
    depth : (m, s) float64
        Read depth of each contig in each of s samples; s may be 0.
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
class Windows:
    """Windows of contigs, in the order of the contigs.

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

    def select(self, chosen: np.ndarray) -> Windows:
        """Return the chosen windows (a mask or indices)."""
        return Windows(self.contig[chosen], self.begin[chosen], self.end[chosen])


def cut_contigs(length: np.ndarray, *, window: int, least: int) -> Windows:
    """Cut contigs into windows, as in Dick et al. (doi:10.1186/gb-2009-10-8-r85).

    Parameters
    ----------
    length : (m,) int64
        Bases of each contig.
    window
        Bases of a window. The rest of a contig belongs to its last window, so a contig shorter than two windows is one
        window.
    least
        Shorter contigs have no window.
    """
    n_windows = np.where(length >= least, np.maximum(1, length // window), 0)
    contig = np.repeat(np.arange(length.size), n_windows)
    number = np.arange(contig.size) - np.repeat(np.cumsum(n_windows) - n_windows, n_windows)
    is_last = number == n_windows[contig] - 1
    begin = number * window
    return Windows(contig, begin, np.where(is_last, length[contig], begin + window))
