"""Collect parsed blocks into one set of reads; check mates and interleave them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuasm.io import diagnosis, scan
from gpuasm.io.growing_array import GrowingArray
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.io.packing import interleave_segments
from gpuasm.io.parsing import ParsedBlock
from gpuasm.io.read_texts import TextCollector
from gpuasm.io.same_reads import share_of_same_reads
from gpuasm.sequence.encoding import BASES_PER_WORD
from gpuasm.sequence.reads import Reads

_MANY_SAME_READS = 0.5
Segments = tuple[np.ndarray, np.ndarray, np.ndarray]
"""start, length and read of some segments."""


class _Taken(NamedTuple):
    """Segments of a block, the position of its first base, and the number of its reads before these."""

    segments: Segments
    position: int
    taken: int


class Collector:
    """Reads that grow block by block, within the memory of the run.

    Parameters
    ----------
    texts
        Receives the names and qualities too.
    """

    def __init__(self, texts: TextCollector | None = None) -> None:
        self.texts = texts
        bound = MemoryBound()
        self._packed, self._start = GrowingArray(np.uint64, bound), GrowingArray(np.int64, bound)
        self._length, self._read = GrowingArray(np.int32, bound), GrowingArray(np.int64, bound)
        self.n_reads = 0

    def add_packed(self, packed: np.ndarray) -> int:
        """Append packed bases and return the position of the first one."""
        position = self._packed.size * BASES_PER_WORD
        self._packed.append(packed)
        return position

    def add_segments(self, segments: Segments, n_reads: int) -> None:
        """Append segments of the next ``n_reads`` reads; their read numbers count from the first of these."""
        start, length, read = segments
        self._start.append(start)
        self._length.append(length)
        self._read.append(read + self.n_reads)
        self.n_reads += n_reads

    def add_mates(self, first: _Taken, second: _Taken, n: int) -> None:
        """Append segments of the next n reads of two files of mates, which follow each other."""
        total = first.segments[2].size + second.segments[2].size
        added = [array.extend(total) for array in (self._start, self._length, self._read)]
        sides = ((*one.segments, np.array([one.position, self.n_reads // 2 - one.taken])) for one in (first, second))
        interleave_segments(*next(sides), *next(sides), *added)
        self.n_reads += 2 * n

    def add_block(self, block: ParsedBlock) -> None:
        """Append the reads of a block."""
        if self.texts:
            self.texts.add((block, slice(None)))
        packed = block.packed
        start = packed.start + self.add_packed(packed.packed)
        self.add_segments((start, packed.length, packed.read), packed.n_reads)

    def add_all(self, other: Collector) -> None:
        """Append the reads of another collector, which is used up."""
        if self.texts and other.texts:
            self.texts.add_all(other.texts)
        reads = other.finish(paired=False)
        position = self.add_packed(reads.packed[:-1])
        self.add_segments((reads.start + position, reads.length, reads.read), reads.n_reads)

    def finish(self, *, paired: bool) -> Reads:
        """Return the reads; nothing may be added afterwards."""
        self._packed.append(np.zeros(1, np.uint64))  # a window of 32 bases may read one entry beyond the last
        packed, start = self._packed.finish(), self._start.finish()
        length, read = self._length.finish(), self._read.finish()
        return Reads(packed, start, length, read, n_reads=self.n_reads, paired=paired)


class _Side:
    """The first or the second mates: the current block and how many of its reads are taken."""

    def __init__(self, blocks: Iterator[ParsedBlock], collector: Collector) -> None:
        self._blocks, self._collector = blocks, collector
        self._block: ParsedBlock | None = None
        self.taken = self.n_reads = self._position = 0

    @property
    def block(self) -> ParsedBlock:
        """The current block; there is one while records are waiting."""
        assert self._block is not None
        return self._block

    @property
    def waiting(self) -> int:
        """Records of the block not yet taken; loads the next block if need be; 0 at the end of the file."""
        if self._block is None or self.taken == self._block.packed.n_reads:
            self._block, self.taken = next(self._blocks, None), 0
            if self._block is not None:
                self.n_reads += self._block.packed.n_reads
                self._position = self._collector.add_packed(self._block.packed.packed)
        return 0 if self._block is None else self._block.packed.n_reads - self.taken

    def take(self, n: int) -> _Taken:
        """Return the segments of the next n reads."""
        packed = self.block.packed
        first, last = np.searchsorted(packed.read, (self.taken, self.taken + n))
        segments = packed.start[first:last], packed.length[first:last], packed.read[first:last]
        taken = _Taken(segments, self._position, self.taken)
        self.taken += n
        return taken

    def drained(self) -> int:
        """Read to the end and return the number of reads."""
        while self.waiting:
            self.taken = self.block.packed.n_reads
        return self.n_reads


def collect_mates(
    collector: Collector, first: Iterator[ParsedBlock], second: Iterator[ParsedBlock], *, paths: tuple[str, str]
) -> None:
    """Collect two files of mates, read 2i of the first and 2i + 1 of the second.

    Raises
    ------
    DataError
        If the names of mates differ, there are more of one than of the other, or both are the same reads.
    """
    sides = _Side(first, collector), _Side(second, collector)
    done, same = 0, 0.0
    while n := min(sides[0].waiting, sides[1].waiting):
        (block_1, at_1), (block_2, at_2) = ((side.block, side.taken) for side in sides)
        if done == 0:
            same = share_of_same_reads(block_1.packed, block_2.packed, n)
        wrong = scan.first_strangers(
            block_1.text, block_1.records[at_1 : at_1 + n], block_2.text, block_2.records[at_2 : at_2 + n], 0
        )
        if wrong >= 0:
            names = block_1.name(at_1 + wrong), block_2.name(at_2 + wrong)
            raise diagnosis.strangers_error(*names, path=" and ".join(paths), record=done + wrong + 1)
        if collector.texts:
            collector.texts.add((block_1, slice(at_1, at_1 + n)), (block_2, slice(at_2, at_2 + n)))
        collector.add_mates(sides[0].take(n), sides[1].take(n), n)
        done += n
    counts = sides[0].drained(), sides[1].drained()
    if counts[0] != counts[1]:
        raise diagnosis.unequal_mates_error(*counts, path=" and ".join(paths))
    if same > _MANY_SAME_READS:
        raise diagnosis.same_reads_error(paths)


def collect_interleaved(collector: Collector, blocks: Iterator[ParsedBlock], *, path: str) -> None:
    """Collect one file in which second mates follow first mates.

    Raises
    ------
    DataError
        If the names of mates differ, or the number of reads is odd.
    """
    n_before, waiting = 0, None  # the last record of a block may be a first mate
    for block in blocks:
        first = 0
        if waiting is not None:
            _check_two(waiting, block, path=path, record=n_before + 1)
            first = 1
        n = (block.packed.n_reads - first) // 2
        rows = block.records[first : first + 2 * n].reshape(n, 2 * scan.N_COLUMNS)
        wrong = scan.first_strangers(block.text, rows, block.text, rows, scan.N_COLUMNS)
        if wrong >= 0:
            mate = first + 2 * wrong
            record = n_before + mate + 2
            raise diagnosis.strangers_error(block.name(mate), block.name(mate + 1), path=path, record=record)
        collector.add_block(block)
        waiting = block if (block.packed.n_reads - first) % 2 else None
        n_before += block.packed.n_reads
    if waiting is not None:
        raise diagnosis.unequal_mates_error(n_before // 2 + 1, n_before // 2, path=path)


def _check_two(before: ParsedBlock, after: ParsedBlock, *, path: str, record: int) -> None:
    if scan.first_strangers(before.text, before.records[-1:], after.text, after.records[:1], 0) >= 0:
        raise diagnosis.strangers_error(before.name(-1), after.name(0), path=path, record=record)


def collect_single(collector: Collector, blocks: Iterator[ParsedBlock]) -> None:
    """Collect reads without mates."""
    for block in blocks:
        collector.add_block(block)
