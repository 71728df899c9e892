"""Find where contigs differ from a reference, and count the reads that support either at each of these places.

Input are alignments of minimap2: contigs to the reference, and reads to both. A read that covers a place and the base
on each side of it supports the contig's text, the reference's, or neither.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pysam

FLANK = 10
"""Bases next to an insertion or a deletion that belong to its place: in a short repeat its alignment is ambiguous.
Differences within this distance are one place."""
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
        The text of the contig and of the reference, on the reference's strand.
    is_reverse
        Whether the reverse complement of the contig is aligned.
    at
        The first base of the reference that differs; for an insertion, the base after it.
    is_distinct
        Whether the texts distinguish the sides. Where one has fewer units of a tandem repeat, its text is extended
        until the other does not contain it; where that is impossible, no read is counted.
    """

    contig: Span
    reference: Span
    texts: tuple[str, str]
    is_reverse: bool
    at: int
    is_distinct: bool


@dataclass
class Compared:
    """Contigs aligned to a reference.

    Attributes
    ----------
    covered
        Bases of contigs aligned to each base of each sequence of the reference; 0 where it is N.
    on_unknown
        Bases of contigs aligned to N.
    places
        Where they differ.
    """

    covered: dict[str, np.ndarray]
    on_unknown: int = 0
    places: list[Place] = field(default_factory=list)


def compare(alignments: Iterable[pysam.AlignedSegment], reference: Mapping[str, str]) -> Compared:
    """Compare contigs with the reference, base by base, by alignments without hard clipping (``-Y``)."""
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
    is_distinct = "I" not in kinds[first:end]
    while True:
        (q, r), (q_end, r_end) = _positions(columns, first), _positions(columns, end)
        is_distinct = is_distinct or not (query[q:q_end] in target or target[r:r_end] in query)
        if is_distinct or "N" in kinds[max(0, first - 1) : end + 1] or first == 0 or end == len(columns):
            break
        first, end = first - 1, end + 1
    on_contig = (len(query) - q_end, len(query) - q) if own.is_reverse else (q, q_end)
    return Place(
        (str(own.query_name), *on_contig),
        (str(own.reference_name), r, r_end),
        (query[q:q_end], target[r:r_end]),
        own.is_reverse,
        _positions(columns, differs)[1],
        is_distinct,
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

    A read counts once over all of its alignments; one that supports both sides supports neither.
    """
    votes: list[dict[tuple[str, bool], set[str]]] = [defaultdict(set) for _ in places]
    for side, alignments in ((CONTIG, on_contigs), (REFERENCE, on_reference)):
        lying: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for number, place in enumerate(places):
            name, begin, end = place.contig if side == CONTIG else place.reference
            if place.is_distinct:
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
                    if side == CONTIG and places[number].is_reverse:
                        texts = _reverse_complement(texts[0]), _reverse_complement(texts[1])
                    side_of_read = CONTIG if text == texts[0] else REFERENCE if text == texts[1] else NEITHER
                    votes[number][str(read.query_name), read.is_read2].add(side_of_read)
    return [Counter(_settled(sides) for sides in own.values()) for own in votes]


def _texts(read: pysam.AlignedSegment, stretches: Sequence[tuple[int, int, int]]) -> list[str | None]:
    """Return the text of a read in stretches of its target; None where it does not cover both neighbouring bases."""
    if not stretches:
        return []
    query = dict(zip(read.get_reference_positions(full_length=True), range(read.query_length), strict=True))
    text, found = str(read.query_sequence), []
    for begin, end, _ in stretches:
        left, right = query.get(begin - 1), query.get(end)
        found.append(None if left is None or right is None else text[left + 1 : right])
    return found


def _reverse_complement(text: str) -> str:
    return text.translate(_COMPLEMENT)[::-1]


def _settled(sides: set[str]) -> str:
    decided = sides - {NEITHER}
    return decided.pop() if len(decided) == 1 else NEITHER


def count_outvoted(alignments: Iterable[pysam.AlignedSegment], sequences: Mapping[str, str]) -> int:
    """Count the bases of sequences at which more aligned reads have one other base than this one."""
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
