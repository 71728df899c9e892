"""Where contigs differ from a reference, and what reads say at each of these places.

Contigs are laid on the reference, and reads on both, by minimap2. Of a place a read tells what it has between the bases
on both sides: the contig's text, the reference's, or another one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pysam

FLANK = 10
"""Bases beside an insertion or a deletion that belong to its place: in a short repeat it may be laid to the left or to
the right. What differs so close to it is one place with it."""
CONTIG, REFERENCE, NEITHER = "contig", "reference", "neither"
_UNKNOWN = 4
_CODE = np.full(256, _UNKNOWN, np.uint8)
_CODE[list(b"ACGT")] = range(_UNKNOWN)
_COMPLEMENT = str.maketrans("ACGTN", "TGCAN")
Column = tuple[int | None, int | None]
"""A position of the query and one of the target, None opposite to a gap."""
Span = tuple[str, int, int]
"""Name of a sequence, begin, end."""


@dataclass(frozen=True)
class Place:
    """A place where a contig differs from the reference.

    Attributes
    ----------
    contig, reference
        Where it lies on either.
    texts
        What the contig and what the reference has there, on the reference's strand.
    turned
        Whether it is the contig's reverse complement that lies on the reference.
    at
        The first base of the reference that differs; for an insertion, the base after it.
    told
        Whether the texts tell the sides apart. Where one has fewer units of a tandem repeat, its text is made so wide
        that the other does not hold it; where that cannot be, nothing is counted.
    """

    contig: Span
    reference: Span
    texts: tuple[str, str]
    turned: bool
    at: int
    told: bool


@dataclass
class Compared:
    """Contigs laid on a reference.

    Attributes
    ----------
    covered
        Of each base of each sequence of the reference, how many bases of contigs lie on it; 0 where it is unknown.
    on_unknown
        Bases of contigs that lie on unknown bases.
    places
        Where they differ.
    """

    covered: dict[str, np.ndarray]
    on_unknown: int = 0
    places: list[Place] = field(default_factory=list)


def compare(alignments: Iterable[pysam.AlignedSegment], reference: Mapping[str, str]) -> Compared:
    """Compare contigs with the reference, base by base, by alignments that clip nothing off for good (``-Y``)."""
    found = Compared({name: np.zeros(len(text), np.int32) for name, text in reference.items()})
    for own in alignments:
        if own.is_unmapped or own.is_secondary:
            continue
        name, query = str(own.reference_name), str(own.query_sequence).upper()
        inside = range(own.query_alignment_start, own.query_alignment_end)
        columns = [(q, r) for q, r in own.get_aligned_pairs() if r is not None or q in inside]
        kinds = "".join(_kind(column, query, reference[name]) for column in columns)
        on_it = np.array([r for q, r in columns if q is not None and r is not None], np.int64)
        known = np.array([reference[name][r] != "N" for r in on_it], bool)
        found.covered[name][on_it[known]] += 1
        found.on_unknown += int(np.count_nonzero(~known))
        found.places += [_place(own, columns, kinds, reference[name], stretch) for stretch in _stretches(kinds)]
    return found


def _kind(column: Column, query: str, target: str) -> str:
    """Return = for the same base, X for another one, I for a gap, N where the target is unknown."""
    q, r = column
    if r is not None and target[r] == "N":
        return "N"
    if q is None or r is None:
        return "I"
    return "=" if query[q] == target[r] else "X"


def _stretches(kinds: str) -> list[tuple[int, int]]:
    """Return the columns of each place: first, and end."""
    found: list[tuple[int, int]] = []
    for i in (i for i, kind in enumerate(kinds) if kind in "XI"):
        if found:
            first, end = found[-1]
            has_gap = "I" in kinds[first:end] + kinds[i]
            if i == end or (has_gap and i - end <= FLANK and "N" not in kinds[end:i]):
                found[-1] = first, i + 1
                continue
        found.append((i, i + 1))
    return [_widened(kinds, *stretch) if "I" in kinds[slice(*stretch)] else stretch for stretch in found]


def _widened(kinds: str, first: int, end: int) -> tuple[int, int]:
    before, after = kinds[max(0, first - FLANK) : first], kinds[end : end + FLANK]
    return first - len(before) + len(before.rstrip("=")), end + len(after) - len(after.lstrip("="))


def _place(own: pysam.AlignedSegment, columns: Sequence[Column], kinds: str, target: str, at: tuple[int, int]) -> Place:
    first, end = at
    query = str(own.query_sequence).upper()
    differs = next(i for i in range(first, end) if kinds[i] in "XI")
    told = "I" not in kinds[first:end]
    while True:
        (q, r), (q_end, r_end) = _positions(columns, first), _positions(columns, end)
        told = told or not (query[q:q_end] in target or target[r:r_end] in query)
        if told or "N" in kinds[max(0, first - 1) : end + 1] or first == 0 or end == len(columns):
            break
        first, end = first - 1, end + 1
    on_contig = (len(query) - q_end, len(query) - q) if own.is_reverse else (q, q_end)
    return Place(
        (str(own.query_name), *on_contig),
        (str(own.reference_name), r, r_end),
        (query[q:q_end], target[r:r_end]),
        own.is_reverse,
        _positions(columns, differs)[1],
        told,
    )


def _positions(columns: Sequence[Column], i: int) -> tuple[int, int]:
    """Return the first position of query and target from a column on; an alignment's last column has both."""
    if i == len(columns):
        last = columns[-1]
        return int(last[0] or 0) + 1, int(last[1] or 0) + 1
    q, r = (next(int(c[side] or 0) for c in columns[i:] if c[side] is not None) for side in (0, 1))
    return q, r


def count_votes(
    places: Sequence[Place], on_contigs: Iterable[pysam.AlignedSegment], on_reference: Iterable[pysam.AlignedSegment]
) -> list[Counter[str]]:
    """Count the reads that have the contig's text, the reference's, or neither, at each place.

    A read counts once, wherever it was laid; one that says this here and that there says neither.
    """
    heard: list[dict[tuple[str, bool], set[str]]] = [defaultdict(set) for _ in places]
    for side, alignments in ((CONTIG, on_contigs), (REFERENCE, on_reference)):
        lying: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for number, place in enumerate(places):
            name, begin, end = place.contig if side == CONTIG else place.reference
            if place.told:
                lying[name].append((begin, end, number))
        for rows in lying.values():
            rows.sort()
        for read in alignments:
            if read.is_unmapped or read.is_secondary or read.is_supplementary:
                continue
            rows = lying[str(read.reference_name)]
            near = rows[bisect_left(rows, (read.reference_start,)) : bisect_left(rows, (read.reference_end or 0,))]
            for (_, _, number), text in zip(near, _texts(read, near), strict=True):
                if text is not None:
                    texts = places[number].texts
                    if side == CONTIG and places[number].turned:
                        texts = _turned(texts[0]), _turned(texts[1])
                    said = CONTIG if text == texts[0] else REFERENCE if text == texts[1] else NEITHER
                    heard[number][str(read.query_name), read.is_read2].add(said)
    return [Counter(_settled(said) for said in own.values()) for own in heard]


def _texts(read: pysam.AlignedSegment, stretches: Sequence[tuple[int, int, int]]) -> list[str | None]:
    """Return what a read has in stretches of its target; None where it lacks a base beside one."""
    if not stretches:
        return []
    query = dict(zip(read.get_reference_positions(full_length=True), range(read.query_length), strict=True))
    text, found = str(read.query_sequence), []
    for begin, end, _ in stretches:
        left, right = query.get(begin - 1), query.get(end)
        found.append(None if left is None or right is None else text[left + 1 : right])
    return found


def _turned(text: str) -> str:
    return text.translate(_COMPLEMENT)[::-1]


def _settled(said: set[str]) -> str:
    decided = said - {NEITHER}
    return decided.pop() if len(decided) == 1 else NEITHER


def count_outvoted(alignments: Iterable[pysam.AlignedSegment], sequences: Mapping[str, str]) -> int:
    """Count the bases of sequences at which more of the reads that lie there have one other base than this one."""
    counts = {name: np.zeros((len(text), 5), np.int32) for name, text in sequences.items()}
    for read in alignments:
        if read.is_unmapped or read.is_secondary or read.is_supplementary:
            continue
        on_it = np.array(read.get_aligned_pairs(matches_only=True), np.int64)
        counts[str(read.reference_name)][on_it[:, 1], _codes(str(read.query_sequence))[on_it[:, 0]]] += 1
    total = 0
    for name, text in sequences.items():
        codes = _codes(text)
        known = np.flatnonzero(codes < _UNKNOWN)
        most = counts[name][known, :_UNKNOWN].max(axis=1)
        total += int(np.count_nonzero(most > counts[name][known, codes[known]]))
    return total


def _codes(text: str) -> np.ndarray:
    return _CODE[np.frombuffer(text.encode(), np.uint8)]
