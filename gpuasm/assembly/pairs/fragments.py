"""Fragments, whose mates face each other on one target, and discordant pairs, from the alignments of reads.

DiscordantPairs are the other pairs whose mates both have a place of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.contig_alignment import Alignments
from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.parameters import FRAGMENTS
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class Fragments:
    """Pairs on one target that face each other.

    Attributes
    ----------
    target : (n,) int32
    begin, end : (n,) int64
        From the first base to the last that agrees with the target, in text positions; on a circular target the end
        may lie beyond its text.
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
class DiscordantPairs:
    """Reads whose uniquely aligned mates do not lie in front of them within the length of a fragment.

    Attributes
    ----------
    begin, end : (n,) int64
        From the first base to the last that agrees with the target, in text positions.
    is_reversed : (n,) int8
        Whether the read is aligned as its reverse complement.
    segment : (n,) int64
        The segment of the read.
    pair : (n,) int64
        The number of the pair.
    """

    begin: Array
    end: Array
    is_reversed: Array
    segment: Array
    pair: Array

    def without_pairs(self, pair: Array) -> DiscordantPairs:
        """Return the discordant pairs that are not among the given ones."""
        xp = array_namespace(self.pair)
        kept = xp.flatnonzero(~xp.isin(self.pair, pair))
        return DiscordantPairs(**{name: value[kept] for name, value in vars(self).items()})


def find_fragments(reads: Reads, first: Alignments, targets: Targets) -> Fragments:
    """Find the pairs whose mates are uniquely aligned to one target and face each other there.

    A read cut at N is represented by its first aligned segment; ``first`` are the first alignments of segments.
    """
    xp = array_namespace(first.at)
    aligned, is_pair = _pairs(reads, first)
    rows = xp.flatnonzero(is_pair & _may_face(aligned))
    forward, backward = rows + (aligned.is_reversed[rows] == 1), rows + (aligned.is_reversed[rows] == 0)
    target = aligned.target[forward]
    outer = aligned.at[backward] + reads.length[aligned.segment[backward]]
    insert = outer - aligned.at[forward]
    size, closed = (to_namespace(xp, a)[target] for a in (targets.size, targets.is_circular))
    around = xp.where(closed, (insert - 1) % size + 1, insert)
    begin, end = aligned.begin[forward], aligned.end[backward]
    end = end + (around - insert)
    good = xp.flatnonzero((around > 0) & (around <= FRAGMENTS.longest_insert))
    return Fragments(target[good], begin[good], end[good], around[good])


def find_discordant_pairs(reads: Reads, first: Alignments, targets: Targets, *, longest: int) -> DiscordantPairs:
    """Find the reads of discordant pairs: both mates are unique, but do not face each other within ``longest`` bases.

    Pairs on one circular target are excluded: their fragment may span its end.
    """
    xp = array_namespace(first.at)
    aligned, is_pair = _pairs(reads, first)
    apart = _outer(reads, aligned, slice(1, None)) - _outer(reads, aligned, slice(-1))
    insert = xp.where(aligned.is_reversed[:-1] == 0, apart, -apart)
    is_one = (aligned.target[:-1] == aligned.target[1:]) & to_namespace(xp, targets.is_circular)[aligned.target[:-1]]
    rows = xp.flatnonzero(is_pair & ~is_one & ~(_may_face(aligned) & (insert > 0) & (insert <= longest)))
    own = xp.concatenate([rows, rows + 1])
    segment = aligned.segment[own]
    return DiscordantPairs(
        aligned.begin[own], aligned.end[own], aligned.is_reversed[own], segment, reads.read[segment] >> 1
    )


def _pairs(reads: Reads, first: Alignments) -> tuple[Alignments, Array]:
    """Return the first alignment of each read, and whether it and the next are two uniquely aligned mates."""
    xp = array_namespace(first.at)
    read = reads.read[first.segment]
    kept = xp.flatnonzero(xp.concatenate([xp.ones(min(1, read.size), bool), read[1:] != read[:-1]]))
    read, aligned = read[kept], first.where(kept)
    are_mates = (read[:-1] % 2 == 0) & (read[1:] == read[:-1] + 1)
    return aligned, are_mates & aligned.is_unique[:-1] & aligned.is_unique[1:]


def _may_face(aligned: Alignments) -> Array:
    """Return whether each read and the next are on opposite strands of one target."""
    return (aligned.target[:-1] == aligned.target[1:]) & (aligned.is_reversed[:-1] != aligned.is_reversed[1:])


def _outer(reads: Reads, aligned: Alignments, rows: slice) -> Array:
    """Return where reads begin, which is the outer end of their fragments."""
    is_reversed = aligned.is_reversed[rows] == 1
    return aligned.at[rows] + is_reversed * reads.length[aligned.segment[rows]].astype(aligned.at.dtype)


def longest_insert(fragments: Fragments) -> int:
    """Return the longest insert size that is no outlier; 0 where too few pairs were measured."""
    found = InsertSizes.of(np.bincount(to_host(fragments.insert), minlength=1), bases_per_pair=0)
    return found.histogram.size - 1 if found else 0
