"""Fragments: pairs whose mates face each other on one target, and the stretch between their outer ends.

Strays are the other pairs whose mates both have a place of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.carrying.insert_sizes import LONGEST, InsertSizes
from gpuasm.assembly.consensus.laying import Laid
from gpuasm.assembly.consensus.targets import Targets
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class Fragments:
    """Pairs on one target that face each other.

    Attributes
    ----------
    target : (n,) int32
    begin, end : (n,) int64
        From the first base to the last that agrees with the target, in text positions; round a circle the end may
        lie beyond its text.
    insert : (n,) int64
        Bases from outer end to outer end, mates whole.
    """

    target: Array
    begin: Array
    end: Array
    insert: Array

    def no_longer_than(self, longest: int) -> Fragments:
        """Return the fragments of at most so many bases."""
        xp = array_namespace(self.insert)
        chosen = xp.flatnonzero(self.insert <= longest)
        return Fragments(*(values[chosen] for values in (self.target, self.begin, self.end, self.insert)))


@dataclass(frozen=True)
class Strays:
    """Reads whose mates have a place of their own that is not in front of them, a fragment's length away.

    Attributes
    ----------
    begin, end : (n,) int64
        From the first base to the last that agrees with the target, in text positions.
    turned : (n,) int8
        Whether it is read to the left there.
    piece : (n,) int64
        The piece of the read.
    pair : (n,) int64
        The number of the pair.
    """

    begin: Array
    end: Array
    turned: Array
    piece: Array
    pair: Array

    def without_pairs(self, pair: Array) -> Strays:
        """Return those that are of other pairs."""
        xp = array_namespace(self.pair)
        kept = xp.flatnonzero(~xp.isin(self.pair, pair))
        return Strays(**{name: value[kept] for name, value in vars(self).items()})


def find_fragments(reads: Reads, first: Laid, targets: Targets) -> Fragments:
    """Find the pairs whose mates both have a place of their own on one target and face each other there.

    Parameters
    ----------
    reads
        Pieces of paired reads; of a read cut at N, the first piece that lies anywhere stands for it.
    first
        The first places of their pieces.
    targets
        What they lie on.
    """
    xp = array_namespace(first.at)
    laid, is_pair = _pairs(reads, first)
    rows = xp.flatnonzero(is_pair & _may_face(laid))
    forward, backward = rows + (laid.turned[rows] == 1), rows + (laid.turned[rows] == 0)
    target = laid.target[forward]
    outer = laid.at[backward] + reads.length[laid.piece[backward]]
    insert = outer - laid.at[forward]
    size, closed = (to_namespace(xp, a)[target] for a in (targets.size, targets.is_circular))
    around = xp.where(closed, (insert - 1) % size + 1, insert)
    begin, end = laid.begin[forward], laid.end[backward]
    end = end + (around - insert)
    good = xp.flatnonzero((around > 0) & (around <= LONGEST))
    return Fragments(target[good], begin[good], end[good], around[good])


def find_strays(reads: Reads, first: Laid, targets: Targets, *, longest: int) -> Strays:
    """Find the reads whose mates have a place of their own, but do not face them in a fragment of at most ``longest``.

    Pairs of one circle are left out: it may have them round its end.
    """
    xp = array_namespace(first.at)
    laid, is_pair = _pairs(reads, first)
    apart = _outer(reads, laid, slice(1, None)) - _outer(reads, laid, slice(-1))
    insert = xp.where(laid.turned[:-1] == 0, apart, -apart)
    is_one = (laid.target[:-1] == laid.target[1:]) & to_namespace(xp, targets.is_circular)[laid.target[:-1]]
    rows = xp.flatnonzero(is_pair & ~is_one & ~(_may_face(laid) & (insert > 0) & (insert <= longest)))
    own = xp.concatenate([rows, rows + 1])
    piece = laid.piece[own]
    return Strays(laid.begin[own], laid.end[own], laid.turned[own], piece, reads.read[piece] >> 1)


def _pairs(reads: Reads, first: Laid) -> tuple[Laid, Array]:
    """Return the first laid piece of each read, and which of them and the next are mates with places of their own."""
    xp = array_namespace(first.at)
    read = reads.read[first.piece]
    kept = xp.flatnonzero(xp.concatenate([xp.ones(min(1, read.size), bool), read[1:] != read[:-1]]))
    read, laid = read[kept], first.where(kept)
    are_mates = (read[:-1] % 2 == 0) & (read[1:] == read[:-1] + 1)
    return laid, are_mates & laid.is_unique[:-1] & laid.is_unique[1:]


def _may_face(laid: Laid) -> Array:
    return (laid.target[:-1] == laid.target[1:]) & (laid.turned[:-1] != laid.turned[1:])


def _outer(reads: Reads, laid: Laid, rows: slice) -> Array:
    """Return where reads begin: the outer end of their fragments."""
    turned = laid.turned[rows] == 1
    return laid.at[rows] + turned * reads.length[laid.piece[rows]].astype(laid.at.dtype)


def longest_insert(fragments: Fragments) -> int:
    """Return the longest insert size that is no outlier; 0 where hardly any pair was seen."""
    found = InsertSizes.of(np.bincount(to_host(fragments.insert), minlength=1), bases_per_pair=0)
    return found.histogram.size - 1 if found else 0
