"""Meeting ends: dead ends whose reads overlap by fewer than k bases.

Where coverage is thin, the reads that hang over one dead end and those that hang over the next may overlap, but by too
little for a k-mer that both have. What hangs over an end votes base by base, and two ends meet where the text of one
ends with what that of the other, read towards it, begins with (`end_texts`): with so many bases that any two of all
ends would share them by chance once in a thousand samples. Of paired reads one pair at least must have a mate on either
side, as far apart as fragments are long. Where two have, the question is asked of the ends that pairs link only, and
fewer bases answer it: once in a hundred samples a wrong one, between true neighbours. An end that could meet two others
meets none.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import array_namespace, to_host, to_namespace
from gpuasm.assembly.carrying.crossing import OnUnitigs
from gpuasm.assembly.carrying.mates import measure_inserts, pieces_of_mates
from gpuasm.assembly.consensus.end_texts import EndTexts, Overlaps
from gpuasm.assembly.graph.levels import Level
from gpuasm.sequence.encoding import pack
from gpuasm.sequence.reads import Reads

LEAST_OVERLAP, LEAST_OF_LINKED = 12, 10
"""Bases, however few ends there are: fewer stand in what repeats a few bases; of ends that pairs link, and of all."""
_CHANCE, _CHANCE_OF_LINKED = 1e-3, 1e-2
"""Overlaps of unrelated ends in a sample; and of ends that pairs link: these are neighbours, and only what lies between
them would be wrong."""
_LINKED = 2
"""Pairs that make a link."""


def meeting_pieces(reads: Reads, laid: OnUnitigs, level: Level) -> Reads:
    """Return the text between ends that meet, each piece from the last k-mer of one unitig to the first of the other.

    Parameters
    ----------
    reads
        All reads.
    laid
        Where they lie on the level's unitigs.
    level
        The cleaned graph of a plain k.
    """
    texts = EndTexts.of(reads, laid, level.graph)
    n = texts.end.size
    least, of_linked = least_bases(n * n, LEAST_OVERLAP, _CHANCE), least_bases(n, LEAST_OF_LINKED, _CHANCE_OF_LINKED)
    found = texts.overlaps(of_linked if reads.paired else least)
    if reads.paired and found.n:
        n_pairs = _pairs(reads, laid, level, found)
        found = found.where((n_pairs >= _LINKED) | ((n_pairs > 0) & (found.score >= least)))
    found = only_overlaps(found)
    codes = [texts.between(*own) for own in zip(found.end, found.other, found.size, strict=True) if own[0] < own[1]]
    length = np.array([own.size for own in codes], np.int64)
    start, number = np.cumsum(length) - length, np.full(length.size, -1, np.int64)
    xp, joined = array_namespace(reads.words), np.concatenate(codes) if codes else np.empty(0, np.uint8)
    words, start, length, number = (to_namespace(xp, own) for own in (pack(joined), start, length, number))
    return Reads(words, start, length.astype(np.int32), number, number.size)


def least_bases(n_questions: int, bound: int, chance: float) -> int:
    """Return how many bases, at least ``bound``, answer one of so many questions wrongly in that share of samples."""
    return max(bound, int(np.ceil(np.log(max(1, n_questions) / chance) / np.log(4))))


def only_overlaps(found: Overlaps) -> Overlaps:
    """Return the overlaps of ends that have no other."""
    rows, times = np.unique(np.concatenate([found.end, found.other]), return_counts=True)
    several = rows[times > 2]  # every overlap is there from both sides
    return found.where(~np.isin(found.end, several) & ~np.isin(found.other, several))


def _pairs(reads: Reads, laid: OnUnitigs, level: Level, found: Overlaps) -> np.ndarray:
    """Count for each overlap the pairs that have a mate on either side, as far apart as fragments are long."""
    inserts = measure_inserts(reads, laid, level)
    if inserts is None:
        return np.zeros(found.n, np.int64)
    xp = array_namespace(reads.words)
    first, second = pieces_of_mates(reads)
    # Mates read towards each other: where they end, they are next to what lies between them.
    here, there = laid.last_oriented[first].astype(np.int64), laid.last_oriented[second].astype(np.int64)
    n_ends, length = 2 * level.graph.n, to_namespace(xp, level.graph.length)
    wanted = np.unique(found.end * n_ends + found.other)
    link = here * n_ends + there
    rows = xp.flatnonzero((here >= 0) & (there >= 0) & xp.isin(link, to_namespace(xp, wanted)))
    here, there = here[rows], there[rows]
    apart = length[here >> 1] - laid.last_base[first[rows]] + length[there >> 1] - laid.last_base[second[rows]]
    # Which of the two mates is the first says nothing.
    link = np.concatenate([to_host(link[rows]), to_host(there * n_ends + here)])
    apart, order = np.tile(to_host(apart), 2), np.argsort(link, kind="stable")
    low, high = (
        np.searchsorted(link[order], found.end * n_ends + found.other, side=side) for side in ("left", "right")
    )
    inserts_of = [
        apart[order[a:b]] + gap for a, b, gap in zip(low.tolist(), high.tolist(), found.gap.tolist(), strict=True)
    ]
    fits = [(own >= inserts.shortest) & (own <= inserts.longest) for own in inserts_of]
    return np.array([int(own.sum()) for own in fits], np.int64)
