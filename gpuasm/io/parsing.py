"""Parse the text of reads, block after block, into packed reads, and collect the statistics of a file."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import numpy as np

from gpuasm.io import diagnosis, scan
from gpuasm.io.background import Background
from gpuasm.io.compression import BrokenStreamError
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.io.packing import PackedBlock, Room, count_qualities, pack_records
from gpuasm.io.sources import Source

_BYTES_A_RECORD = 32  # room in the table of records; of shorter ones, the rest of the block is scanned next
_FEWEST_RECORDS = 64
_Found = tuple[np.ndarray, np.ndarray]  # a text, and the table of records in it
FIRST_NAMES = 100
"""Names of a file that are kept."""
_LONG_TEXT, _COPIES_OF_LONG = 8 << 20, 2
_LONG = 1 << 20  # a histogram of chromosomes would be larger than they are


@dataclass(frozen=True, eq=False, repr=False)
class ParsedBlock:
    """Some records of a file: the text, where the records lie in it, and their packed bases."""

    text: np.ndarray
    records: np.ndarray
    packed: PackedBlock

    def name(self, record: int) -> str:
        """Return the name of a record: its header line up to the first white space."""
        row = self.records[record]
        return first_name(self.text[row[scan.NAME] : row[scan.NAME_END]])


@dataclass(eq=False, repr=False)
class Statistics:
    """What is counted while a file is parsed.

    Attributes
    ----------
    length_histogram : (max_letters + 1,) int64
        Reads of each number of letters; those of 2**20 letters or more count as 2**20.
    long_lengths : list of int
        Letters of each of these.
    n_acgt : int
        Letters that are bases.
    quality_counts : (256,) int64
        Quality bytes of the records that ``count_qualities`` samples.
    first_names : list of str
        Names of the first records.
    """

    length_histogram: np.ndarray
    quality_counts: np.ndarray
    long_lengths: list[int] = field(default_factory=list)
    n_acgt: int = 0
    first_names: list[str] = field(default_factory=list)

    @classmethod
    def empty(cls) -> Statistics:
        return cls(np.zeros(1, np.int64), np.zeros(256, np.int64))

    @property
    def n_reads(self) -> int:
        return int(self.length_histogram.sum())

    @property
    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Each length that occurs, rising, and the number of reads of it."""
        short = np.flatnonzero(self.length_histogram[:_LONG])
        long, counts = np.unique(np.array(self.long_lengths, np.int64), return_counts=True)
        return np.concatenate([short, long]), np.concatenate([self.length_histogram[short], counts])

    def add(self, block: ParsedBlock) -> None:
        """Count one block."""
        letters, n_more = block.packed.letters, FIRST_NAMES - len(self.first_names)
        self.first_names += [block.name(record) for record in range(min(n_more, block.packed.n_reads))]
        self.length_histogram = add_histograms(self.length_histogram, np.bincount(np.minimum(letters, _LONG)))
        self.long_lengths += letters[letters >= _LONG].tolist()
        self.n_acgt += int(block.packed.length.sum(dtype=np.int64))


class Parser:
    """The state of parsing one file.

    Parameters
    ----------
    path
        For messages.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.format = ""
        self.n_reads = 0
        self.statistics = Statistics.empty()
        self._n_found = 0  # records that have been found, which are packed later
        self._room = Room()
        self._bound = MemoryBound(path)

    def parse(self, source: Source) -> Iterator[ParsedBlock]:
        """Yield the parsed blocks of a source: one thread reads and decodes, a second finds records, this one packs.

        Raises
        ------
        DataError
            If the file is empty, cut off, damaged or malformed; with the number of the record.
        ResourceError
            If memory does not suffice for a record.
        """
        with Background(self._found_in(source)) as found:
            for text, records in found:
                yield self._packed(text, records)
        if self.n_reads == 0:
            diagnosis.format_of(b"", self.path)

    def feed(self, text: np.ndarray) -> Iterator[ParsedBlock]:
        """Yield the records of a whole text, parsed."""
        for part, records in self._find(text, is_last=True):
            yield self._packed(part, records)

    def _found_in(self, source: Source) -> Iterator[_Found]:
        pending: list[np.ndarray] = [np.empty(0, np.uint8)]
        size = needed = 0
        with source.texts() as texts:
            try:
                for data in texts:
                    pending.append(np.frombuffer(data, np.uint8))
                    size += len(data)
                    if size > _LONG_TEXT:  # a record of several blocks: it is copied, searched and packed as a whole
                        self._bound.require(_COPIES_OF_LONG * size)
                    if size >= needed:
                        rest = yield from self._find(np.concatenate(pending), is_last=False)
                        # A record longer than the block: wait for as much again, so that copying stays linear.
                        needed, size, pending = 2 * rest.size, rest.size, [rest]
            except BrokenStreamError as error:
                if size:
                    pending.append(np.frombuffer(b"\n", np.uint8))  # shows that a record ending here is whole
                yield from self._find(np.concatenate(pending), is_last=False)
                raise diagnosis.broken_stream_error(str(error), path=self.path, n_records=self._n_found) from error
        yield from self._find(np.concatenate(pending), is_last=True)

    def _find(self, text: np.ndarray, *, is_last: bool) -> Generator[_Found, None, np.ndarray]:
        """Yield where the whole records at the beginning of a text lie, and return the rest of it."""
        if not self.format and text.size:
            self.format = diagnosis.format_of(text[:512].tobytes(), self.path)
        find = scan.scan_fasta if self.format == "fasta" else scan.scan_fastq
        while text.size:
            records = self._room.table(text.size // _BYTES_A_RECORD + _FEWEST_RECORDS, scan.N_COLUMNS)
            n, n_bytes, wrong = find(text, is_last, records)
            if n:
                self._n_found += n
                yield text, records[:n].copy()
            if wrong != scan.OK:
                raise diagnosis.scan_error(
                    text, n_bytes, wrong, path=self.path, record=self._n_found + 1, fmt=self.format
                )
            text = text[n_bytes:]
            if n < len(records):
                break
        return text.copy()  # a view would keep the whole block

    def _packed(self, text: np.ndarray, records: np.ndarray) -> ParsedBlock:
        packed, wrong_record, wrong_byte = pack_records(text, records, self._room)
        if wrong_record >= 0:
            raise diagnosis.letter_error(text, wrong_byte, path=self.path, record=self.n_reads + wrong_record + 1)
        if self.format == "fastq":
            count_qualities(text, records, self.n_reads, self.statistics.quality_counts)
        block = ParsedBlock(text, records, packed)
        self.statistics.add(block)
        self.n_reads += packed.n_reads
        return block


def first_name(header: np.ndarray) -> str:
    """Return the name in a header line of bytes."""
    return (header.tobytes().split(maxsplit=1) or [b""])[0].decode("latin-1")


def add_histograms(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the sum of two histograms of any lengths; the longer argument may be changed."""
    longer, shorter = (first, second) if first.size >= second.size else (second, first)
    longer[: shorter.size] += shorter
    return longer
