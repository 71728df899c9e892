"""Reads aligned to contigs out, as sorted and indexed BAM."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpuasm.io.output import atomic_output
from gpuasm.io.read_texts import ReadTexts, Written, names_and_qualities
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads

_BATCH = 1 << 14
"""Records whose bases are unpacked at a time."""
_PAIRED, _PROPER, _UNALIGNED, _MATE_UNALIGNED, _REVERSE, _MATE_REVERSE = 1, 2, 4, 8, 16, 32
_FIRST, _SECOND, _SUPPLEMENTARY = 64, 128, 2048
_PLACE_BITS = 32
"""Of a position in the key of a place."""
_TYPES: dict[str, type] = {
    "segment": np.int64, "reference": np.int32, "position": np.int32, "is_reversed": np.uint8, "skipped": np.int32,
    "size": np.int32, "mismatches": np.int32, "quality": np.uint8,
}  # fmt: skip
BYTES_PER_READ = 200
"""Memory for each read, in addition to the reads and their texts: placements, records, and the keys that sort them."""
_SIXTY_TWO, _THREE = np.int64(62), np.uint64(3)


class Reference(NamedTuple):
    """A sequence that reads are aligned to."""

    name: str
    length: int
    is_circular: bool


@dataclass(frozen=True)
class Placements:
    """Stretches of reads on references, without gaps; (n,) integers each.

    Attributes
    ----------
    segment : int64
        The segment of a read.
    reference
        The number of the reference.
    position
        First aligned base of the reference, from 0.
    is_reversed
        1 where the reference has the reverse complement of the segment, else 0.
    skipped
        Bases of the read before the stretch, on the strand of the reference.
    size
        Bases of the stretch.
    mismatches
        Mismatches in it.
    quality
        Mapping quality.
    """

    segment: np.ndarray
    reference: np.ndarray
    position: np.ndarray
    is_reversed: np.ndarray
    skipped: np.ndarray
    size: np.ndarray
    mismatches: np.ndarray
    quality: np.ndarray

    @property
    def n(self) -> int:
        return int(self.segment.size)

    def where(self, chosen: np.ndarray) -> Placements:
        """Return the chosen rows (a mask or indices)."""
        return Placements(**{name: value[chosen] for name, value in vars(self).items()})

    @classmethod
    def joined(cls, parts: Sequence[Placements]) -> Placements:
        """Return the rows of all parts, one after the other, in small types: there are as many as reads."""
        return cls(**{
            name: np.concatenate([np.empty(0, kind), *(getattr(part, name).astype(kind) for part in parts)])
            for name, kind in _TYPES.items()
        })  # fmt: skip


def write_aligned_bam(
    path: str | os.PathLike[str],
    reads: Reads,
    placements: Placements,
    *,
    references: Sequence[Reference],
    longest: int,
    program: Mapping[str, str],
    n_pairs: int = 0,
    texts: ReadTexts | None = None,
    threads: int = 1,
) -> None:
    """Write reads sorted by place, and the index PATH.bai.

    Each read has one primary record: its longest stretch, or an unaligned one. Other stretches of the same segment are
    supplementary. A read cut at N is written as one of its segments. Without texts, or where a name is none of SAM,
    names are the numbers of pairs or reads.

    Parameters
    ----------
    path
        The file.
    reads
        All reads, on the host.
    placements
        Where their segments are aligned.
    references
        The sequences that they are aligned to.
    longest
        Most bases of a proper pair, from its first base to its last.
    program
        The values of the header's @PG line.
    n_pairs
        The first reads are mates, if ``reads.paired`` is not set as there are others too.
    texts
        Names and qualities.
    threads
        That compress.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    import pysam  # noqa: PLC0415 - slow to load and rarely needed

    header = pysam.AlignmentHeader.from_text(_header(references, program))
    n_paired = 2 * n_pairs or reads.paired * reads.n_reads
    records = _records(reads, placements, n_paired)
    names = [reference.name for reference in references]
    lines = _lines(records, reads, placements, references=names, longest=longest, n_paired=n_paired, texts=texts)
    with atomic_output(path, "wb") as file:
        with pysam.AlignmentFile(file.name, "wb", header=header, threads=threads) as bam:
            for line in lines:
                bam.write(pysam.AlignedSegment.fromstring(line, header))
        with atomic_output(f"{os.fspath(path)}.bai", "wb") as index:
            pysam.index(file.name, "-o", index.name)


def _header(references: Sequence[Reference], program: Mapping[str, str]) -> str:
    lines = ["@HD\tVN:1.6\tSO:coordinate"]
    lines += [f"@SQ\tSN:{r.name}\tLN:{r.length}\tTP:{'circular' if r.is_circular else 'linear'}" for r in references]
    lines.append("\t".join(["@PG", *(f"{key}:{' '.join(value.split())}" for key, value in program.items())]))
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Records:
    """The records of a file in their order: the read of each, and its row of the placements, -1 for none.

    ``primary`` is the row of each read's primary placement, and ``segment`` the one that it is written as.
    """

    read: np.ndarray
    row: np.ndarray
    primary: np.ndarray
    segment: np.ndarray


def _records(reads: Reads, placements: Placements, n_paired: int) -> _Records:
    """Return a primary record for each read, and supplementary ones, sorted by place, unaligned pairs last.

    An unaligned read has the place of its mate, so that both come next to each other.
    """
    primary, segment = _choose(reads, placements)
    own_read = reads.read[placements.segment]
    is_extra = segment[own_read] == placements.segment
    is_extra[primary[primary >= 0]] = False
    extra = np.flatnonzero(is_extra)
    read = np.concatenate([np.arange(reads.n_reads), own_read[extra]])
    row = np.concatenate([primary, extra])
    place = np.where(row >= 0, row, _of_mates(primary, read, n_paired))
    key = np.full(read.size, np.iinfo(np.int64).max)
    has_place = place >= 0
    there = place[has_place]
    key[has_place] = placements.reference[there].astype(np.int64) << _PLACE_BITS | placements.position[there]
    order = np.argsort(key, kind="stable")
    return _Records(read[order], row[order], primary, segment)


class _Fields(NamedTuple):
    """The fields of some records, (n,) each; a reference of -1 is none."""

    flag: np.ndarray
    reference: np.ndarray
    position: np.ndarray
    quality: np.ndarray
    skipped: np.ndarray
    size: np.ndarray
    mismatches: np.ndarray
    mate_reference: np.ndarray
    mate_position: np.ndarray
    insert: np.ndarray


def _of_mates(primary: np.ndarray, read: np.ndarray, n_paired: int) -> np.ndarray:
    """Return the rows of the primary placements of mates, -1 without a mate."""
    return np.where(read < n_paired, primary[np.where(read < n_paired, read ^ 1, read)], -1)


def _fields(records: _Records, chosen: slice, placements: Placements, *, n_paired: int, longest: int) -> _Fields:
    """Return the fields of some records."""
    read, row = records.read[chosen], records.row[chosen]
    first_row = records.primary[read]
    mate_row, is_paired = _of_mates(records.primary, read, n_paired), read < n_paired
    # Rows of -1 are those of the last placement here, and their fields are not used.
    own, mate, first = (placements.where(rows) for rows in (row, mate_row, first_row))
    is_aligned, has_mate, is_read_aligned = row >= 0, mate_row >= 0, first_row >= 0
    insert, is_proper = _inserts(first, mate, is_first=read % 2 == 0, longest=longest)
    are_both = is_aligned & has_mate
    flag = np.where(is_aligned, _REVERSE * own.is_reversed.astype(np.int64), _UNALIGNED)
    flag |= _SUPPLEMENTARY * (row != first_row)
    of_pair = _PAIRED | np.where(read % 2, _SECOND, _FIRST) | _PROPER * (are_both & is_proper)
    of_pair |= np.where(has_mate, _MATE_REVERSE * mate.is_reversed.astype(np.int64), _MATE_UNALIGNED)
    flag |= np.where(is_paired, of_pair, 0)
    places = []
    for own_place, mate_place, first_place in (
        (own.reference, mate.reference, first.reference),
        (own.position, mate.position, first.position),
    ):
        places.append(np.where(is_aligned, own_place, np.where(has_mate, mate_place, -1)))
        of_mate = np.where(has_mate, mate_place, np.where(is_read_aligned, first_place, -1))
        places.append(np.where(is_paired, of_mate, -1))
    reference, mate_reference, position, mate_position = places
    return _Fields(
        flag, reference, position, np.where(is_aligned, own.quality, 0), own.skipped,
        np.where(is_aligned, own.size, 0), own.mismatches, mate_reference, mate_position,
        np.where(are_both & (first.reference == mate.reference), insert, 0),
    )  # fmt: skip


def _choose(reads: Reads, placements: Placements) -> tuple[np.ndarray, np.ndarray]:
    """Return the row of each read's primary placement, -1 without one, and the segment that it is written as."""
    primary, segment = (np.full(reads.n_reads, -1, np.int64) for _ in range(2))
    # Assigned backwards, so that the first of each read, which is the longest, stays.
    order = np.lexsort((-reads.length.astype(np.int64), reads.read))[::-1]
    segment[reads.read[order]] = order
    read = reads.read[placements.segment]
    order = np.lexsort((-placements.size, read))[::-1]
    primary[read[order]] = order
    is_aligned = primary >= 0
    segment[is_aligned] = placements.segment[primary[is_aligned]]
    return primary, segment


def _inserts(own: Placements, mate: Placements, *, is_first: np.ndarray, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the observed template lengths of primary placements, negative for right mates, and which are proper."""
    end, mate_end = own.position + own.size, mate.position + mate.size
    span = np.maximum(end, mate_end) - np.minimum(own.position, mate.position)
    is_left = (own.position < mate.position) | ((own.position == mate.position) & is_first)
    is_facing = np.where(own.is_reversed == 1, mate.position <= own.position, own.position <= mate.position)
    is_facing &= (own.is_reversed != mate.is_reversed) & (own.reference == mate.reference)
    return np.where(is_left, span, -span), is_facing & (span <= longest)


def _lines(
    records: _Records,
    reads: Reads,
    placements: Placements,
    *,
    references: Sequence[str],
    longest: int,
    n_paired: int,
    texts: ReadTexts | None,
) -> Iterator[str]:
    """Yield the records as lines of SAM."""
    titles = [*references, "*"]
    if placements.n == 0:
        placements = Placements(*(np.zeros(1, np.int64) for _ in vars(placements)))
    for first in range(0, records.read.size, _BATCH):
        chosen = slice(first, first + _BATCH)
        fields = _fields(records, chosen, placements, n_paired=n_paired, longest=longest)
        read = records.read[chosen]
        segment, is_reversed = records.segment[read], (fields.flag & _REVERSE) > 0
        bases = _texts(reads, segment, is_reversed)
        named = names_and_qualities(texts, Written(read, segment, bases, is_reversed), n_paired)
        for (name, letters), text, flag, ref, place, quality, skipped, size, nm, mate, mate_place, insert in zip(
            named, bases, *(column.tolist() for column in fields), strict=True
        ):
            tail = len(text) - skipped - size
            cigar = f"{skipped}S" * (skipped > 0) + f"{size}M" + f"{tail}S" * (tail > 0) if size else "*"
            other = "=" if mate == ref >= 0 else titles[mate]
            line = f"{name}\t{flag}\t{titles[ref]}\t{place + 1}\t{quality}\t{cigar}\t{other}\t{mate_place + 1}"
            yield f"{line}\t{insert}\t{text or '*'}\t{letters}" + (f"\tNM:i:{nm}" if size else "")


def _texts(reads: Reads, segment: np.ndarray, is_reversed: np.ndarray) -> list[str]:
    """Return the bases of segments as they are written; of no segment (-1) none."""
    length = np.where(segment < 0, 0, reads.length[segment]).astype(np.int64) if reads.n_segments else 0 * segment
    end = np.cumsum(length)
    within = np.arange(int(end[-1]), dtype=np.int64) - np.repeat(end - length, length)
    start = reads.start[segment] if reads.n_segments else segment
    flips = np.repeat(is_reversed, length)
    place = np.repeat(start, length) + np.where(flips, np.repeat(length, length) - 1 - within, within)
    shift = (_SIXTY_TWO - 2 * (place & 31)).astype(np.uint64)
    codes = ((reads.packed[place >> 5] >> shift) & _THREE).astype(np.uint8)
    text = decode(np.where(flips, 3 - codes, codes))
    return [text[a:b] for a, b in zip((end - length).tolist(), end.tolist(), strict=True)]
