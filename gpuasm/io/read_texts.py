"""Names and qualities of reads, kept in a file while reads are assembled: an assembly needs neither in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import numpy as np

from gpuasm.io.growing_array import GrowingArray
from gpuasm.io.mates_by_name import name_of_pair
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.io.parsing import ParsedBlock
from gpuasm.io.read_through import first_segment_of_reads
from gpuasm.io.scan import BASES, BASES_END, CLASS_OF_BYTE, LINE_END, NAME, NAME_END, QUALITY, QUALITY_END
from gpuasm.parallel import compiled
from gpuasm.sequence.encoding import NOT_A_BASE
from gpuasm.sequence.reads import Reads

NO_QUALITY = "\x7f"
"""The letter that stands for a quality that BAM lacks: it is above all that are printed."""
_NAME = re.compile(r"(?!\*$)[!-?A-~]{1,254}")


class TextCollector:
    """Appends names and qualities to a file; several collectors may share it.

    Parameters
    ----------
    file
        Open for writing and reading.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file, bound = file, MemoryBound()
        self._begin, self._size = GrowingArray(np.int64, bound), GrowingArray(np.int32, bound)

    def add(self, *parts: tuple[ParsedBlock, slice]) -> None:
        """Append the chosen records of a block, or those of two blocks, of first and of second mates, in turn."""
        chosen = [(block.text, block.records[records]) for block, records in parts]
        room = sum(int((_length(records, NAME) + _length(records, QUALITY) + 1).sum()) for _, records in chosen)
        out, ends = np.empty(room, np.uint8), np.empty(sum(len(records) for _, records in chosen), np.int64)
        _write(*chosen[0], *chosen[-1], len(parts), out, ends)
        begin, size = self.file.tell(), np.diff(ends, prepend=0)
        self.file.write(out[: size.sum()].data)
        self._begin.append(begin + ends - size)
        self._size.append(size.astype(np.int32))

    def add_all(self, other: TextCollector) -> None:
        """Append what another collector of this file appended to it."""
        self._begin.append(other._begin.view())
        self._size.append(other._size.view())

    def finish(self, reads: Reads) -> ReadTexts:
        """Return the texts of all reads as they were packed; nothing may be added afterwards."""
        self.file.flush()
        origin = np.append(reads.start, 0)[first_segment_of_reads(reads)[:-1]]
        return ReadTexts(self.file, self._begin.finish(), self._size.finish(), origin)


@dataclass(eq=False, repr=False)
class ReadTexts:
    """Names and qualities of reads, by their numbers.

    Attributes
    ----------
    file
        That holds them.
    begin, size : (n_reads,) int64, int32
        Where the text of each read lies.
    origin : (n_reads,) int64
        Where the bases of each read begin in the packed ones of the input.
    offset : (n_segments,) int32
        Bases of its read before each segment, set by `locate`.
    """

    file: BinaryIO
    begin: np.ndarray
    size: np.ndarray
    origin: np.ndarray
    offset: np.ndarray | None = None

    def locate(self, reads: Reads) -> None:
        """Note where the segments of cleaned reads lie in the reads of the input, over the same packed bases."""
        self.offset = (reads.start - self.origin[reads.read]).astype(np.int32)

    def of(self, reads: np.ndarray) -> dict[int, tuple[str, str]]:
        """Return the names of some reads, and the quality letters of their bases, "" where there are none."""
        file, found = self.file.fileno(), {}
        reads = np.unique(reads)
        for read, size, begin in zip(
            reads.tolist(), self.size[reads].tolist(), self.begin[reads].tolist(), strict=True
        ):
            name, _, qualities = os.pread(file, size, begin).decode("latin-1").partition("\n")
            found[read] = name, qualities
        return found


class Written(NamedTuple):
    """What records have of reads: the read and the segment, its bases, and whether they are reverse-complemented."""

    read: np.ndarray
    segment: np.ndarray
    bases: list[str]
    is_reversed: np.ndarray


def names_and_qualities(texts: ReadTexts | None, written: Written, n_paired: int) -> Iterator[tuple[str, str]]:
    """Yield the name and the qualities of records for SAM.

    Mates are called by what their names have in common. Where SAM cannot hold a name, it is the number of the pair, or
    of a read without a mate behind them. Qualities are "*" where there are none.

    Parameters
    ----------
    texts
        None if there are none.
    written
        The records.
    n_paired
        The first so many reads are mates.
    """
    read = written.read
    mate = np.where(read < n_paired, read ^ 1, read)
    numbers = np.where(read < n_paired, read // 2, read - n_paired // 2) + 1
    offset = np.zeros(read.size, np.int64)
    found: dict[int, tuple[str, str]] = {}
    if texts:
        found = texts.of(np.concatenate([read, mate]))
        offset = offset if texts.offset is None or not texts.offset.size else texts.offset[written.segment]
    nothing = "", ""
    columns = (column.tolist() for column in (read, mate, numbers, offset, written.is_reversed))
    for own, other, number, first, is_reversed, bases in zip(*columns, written.bases, strict=True):
        name, letters = found.get(own, nothing)
        name = _name_of_mates(name, found.get(other, nothing)[0])
        letters = letters[first : first + len(bases)]
        is_known = letters and len(letters) == len(bases) and NO_QUALITY not in letters
        letters = letters[::-1] if is_reversed else letters
        yield name if _NAME.fullmatch(name) else str(number), letters if is_known else "*"


def _name_of_mates(name: str, other: str) -> str:
    """Return what two names have in common, "" if these are none of mates."""
    if name == other:
        return name
    shared = name_of_pair(name)
    return shared if shared == name_of_pair(other) else ""


def _length(records: np.ndarray, column: int) -> np.ndarray:
    return records[:, column + 1] - records[:, column]


@compiled()
def _write(text_1, records_1, text_2, records_2, n_mates, out, ends):
    """Write the texts of records, or of two mates in turn, and where each ends."""
    at = 0
    for i in range(records_1.shape[0]):
        at = _write_one(text_1, records_1[i], out, at)
        ends[n_mates * i] = at
        if n_mates == 2:
            at = _write_one(text_2, records_2[i], out, at)
            ends[n_mates * i + 1] = at


@compiled()
def _write_one(text, row, out, at):
    """Write a name up to its first white space, and the qualities of the letters that are bases."""
    for i in range(row[NAME], row[NAME_END]):
        if text[i] <= 32:
            break
        out[at] = text[i]
        at += 1
    out[at] = 10
    at += 1
    quality = row[QUALITY]
    for i in range(row[BASES], row[BASES_END] if row[QUALITY_END] > quality else row[BASES]):
        if CLASS_OF_BYTE[text[i]] != LINE_END:
            while CLASS_OF_BYTE[text[quality]] == LINE_END:
                quality += 1
            if CLASS_OF_BYTE[text[i]] < NOT_A_BASE:
                out[at] = text[quality]
                at += 1
            quality += 1
    return at
