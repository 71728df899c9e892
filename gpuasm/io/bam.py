"""Reads of BAM, CRAM and SAM files. Only this module and `aligned_bam` name pysam."""

from __future__ import annotations

import operator
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.errors import DataError, GpuasmError
from gpuasm.io.alignment_files import BAM, CRAM, SAM, AlignmentFile
from gpuasm.io.background import Background
from gpuasm.io.collecting import Collector
from gpuasm.io.cram_references import are_all_local, write_missing_references
from gpuasm.io.diagnosis import EmptyFileError
from gpuasm.io.mates_by_name import MatesByName, Neighbours, name_of_pair
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.io.parsing import ParsedBlock, Parser
from gpuasm.io.read_texts import NO_QUALITY
from gpuasm.io.summary import FileSummary, summarize

_BLOCK_BYTES = 2 << 20
_RECORDS_BETWEEN_CHECKS = 1 << 14
_PRINTED = bytes(min(quality + 33, 255) for quality in range(256))
_MANY_WITHOUT_MATE = 0.02
_UNCLEAR = 3
_COMPRESSIONS = ("none", "gzip", "bgzip")
"""Those that pysam reads; xz ends the process there."""
PAIRED, SINGLE = "paired", "single"

_Record = tuple[str, int, str]
"""Name (with its read group where there are several), mate (1, 2, unclear, or 0 for single reads), text of FASTQ."""


def collect_bam(path: str, paired: Collector, single: Collector, *, advance: Callable[[int], Any]) -> FileSummary:
    """Collect the reads of a file that pysam reads, in the direction in which they were sequenced.

    Secondary and supplementary alignments are passed over. A first and a second mate by their flags find each other by
    name, wherever in the file they are; reads whose mate is not there count as single reads.

    Raises
    ------
    DataError
        If the file is no such file, cut off or damaged, or holds no reads.
    ResourceError
        If memory does not suffice.
    """
    pairing = _Pairing(AlignmentFile(path, advance))
    parser = Parser(path)
    collectors = {PAIRED: paired, SINGLE: single}
    with Background(_blocks(pairing, parser)) as blocks:
        for kind, block in blocks:
            collectors[kind].add_block(block)
    if parser.n_reads == 0:
        raise EmptyFileError("reads", "a file without reads", "check how the file was made or copied", path=path)
    parser.statistics.quality_counts[ord(NO_QUALITY)] = 0
    if pairing.n_pairs:
        parser.statistics.first_names.clear()  # they come in twos, and are known as mates
    source = pairing.file.source
    raw = source.size, source.digest.hexdigest()
    return summarize(path, (pairing.file.format, "none"), raw, parser.statistics, warnings=pairing.warnings())


def _blocks(pairing: _Pairing, parser: Parser) -> Iterator[tuple[str, ParsedBlock]]:
    for kind, text in pairing.texts():
        for block in parser.feed(np.frombuffer(text, np.uint8).copy()):
            yield kind, block


class _Pairing:
    """The texts of whole pairs and of single reads."""

    def __init__(self, file: AlignmentFile) -> None:
        self.file = file
        self._mates, self._neighbours = MatesByName(), Neighbours()
        self._n_without_mate = 0
        self._names: list[str] = []
        self._unflagged: list[str] = []
        self._size_unflagged = 0
        self._texts: dict[str, list[str]] = {PAIRED: [], SINGLE: []}
        self._sizes = {PAIRED: 0, SINGLE: 0}
        self._bound = MemoryBound(file.source.path)

    def texts(self) -> Iterator[tuple[str, bytes]]:
        """Yield FASTQ text of whole pairs and of single reads."""
        for number, (name, mate, record) in enumerate(_records(self.file)):
            if number % _RECORDS_BETWEEN_CHECKS == 0:
                self._bound.require(0)
            if mate == 0:
                self._names.append(name)
                self._unflagged.append(record)
                self._size_unflagged += len(record)
                if self._size_unflagged >= _BLOCK_BYTES:
                    yield from self._decide()
            elif mate == _UNCLEAR:
                self._n_without_mate += 1
                yield from self._add(SINGLE, record)
            elif pair := self._mates.pair(name, mate, record):
                yield from self._add(PAIRED, pair)
        yield from self._decide()
        for kind, text in self._left():
            yield from self._add(kind, text)
        for kind in self._texts:
            yield from self._finish(kind)

    @property
    def n_pairs(self) -> int:
        """Pairs so far."""
        return self._mates.n_pairs + self._neighbours.n_pairs

    def warnings(self) -> list[str]:
        """Return what the user should know about mates."""
        found = []
        n_mates = 2 * self._mates.n_pairs + self._n_without_mate
        if self._n_without_mate > _MANY_WITHOUT_MATE * n_mates:
            count = f"{self._n_without_mate:,} of {n_mates:,} reads with flags of pairs"
            found.append(f"{count} have no mate of the same name: they count as single reads")
        if n := self._neighbours.n_pairs:
            count = f"{n:,} {'pair' if n == 1 else 'pairs'} of records in a row have one name, and no flags of pairs"
            found.append(f"{count}: they count as mates")
        return found

    def _decide(self) -> Iterator[tuple[str, bytes]]:
        """Decide which of the records without flags of pairs are mates: in most files no two in a row share a name."""
        names, records = self._names, self._unflagged
        self._names, self._unflagged, self._size_unflagged = [], [], 0
        if names[:1] == [self._neighbours.key] or any(map(operator.eq, names, islice(names, 1, None))):
            for name, record in zip(names, records, strict=True):
                yield from self._add_decided(self._neighbours.add(name, record))
        else:
            yield from self._add_decided(self._neighbours.take_left())
            yield from self._add(SINGLE, "".join(records[:-1]))
            for name, record in zip(names[-1:], records[-1:], strict=True):
                self._neighbours.add(name, record)

    def _add_decided(self, decided: Iterable[tuple[bool, str]]) -> Iterator[tuple[str, bytes]]:
        for is_pair, text in decided:
            yield from self._add(PAIRED if is_pair else SINGLE, text)

    def _left(self) -> Iterator[tuple[str, str]]:
        """Yield the records whose mates did not come: pairs where the names have marks of mates, then single reads."""
        for is_pair, text in self._neighbours.take_left():
            yield PAIRED if is_pair else SINGLE, text
        left = self._mates.take_left()
        for name, mate, record in left:
            own, group = name.partition("\t")[::2]
            if pair := self._mates.pair(f"{name_of_pair(own)}\t{group}", mate, record):
                yield PAIRED, pair
        for _, _, record in self._mates.take_left():
            self._n_without_mate += 1
            yield SINGLE, record

    def _add(self, kind: str, text: str) -> Iterator[tuple[str, bytes]]:
        self._texts[kind].append(text)
        self._sizes[kind] += len(text)
        if self._sizes[kind] >= _BLOCK_BYTES:
            yield from self._finish(kind)

    def _finish(self, kind: str) -> Iterator[tuple[str, bytes]]:
        if self._texts[kind]:
            text = "".join(self._texts[kind])
            self._texts[kind], self._sizes[kind] = [], 0
            yield kind, text.encode("latin-1", "replace")  # of names only the beginning is shown


def _records(source: AlignmentFile) -> Iterator[_Record]:
    """Yield the primary records."""
    n = 0
    try:
        with ExitStack() as stack:
            pipe = stack.enter_context(open(source.exit, "rb", buffering=0))
            _check_format(source)
            file = _opened(stack, pipe, source)
            source.format = BAM if file.is_bam else CRAM if file.is_cram else SAM if file.is_sam else ""
            if not source.format:
                raise _bam_error(source, 0)
            has_groups = str(file.header).count("@RG\t") > 1
            for record in file.fetch(until_eof=True):
                if record.is_secondary or record.is_supplementary:
                    continue
                n += 1
                yield _described(record, has_groups=has_groups)
            while pipe.read(1 << 20):  # the reader may stop before the end of the file
                pass
            source.join()
    except GpuasmError:
        raise
    except (OSError, ValueError, EOFError) as error:
        raise _bam_error(source, n) from error


def _check_format(source: AlignmentFile) -> None:
    compression = source.source.compression
    if compression not in _COMPRESSIONS:
        found, remedy = f"data compressed by {compression}", "decompress it first"
        raise DataError("a BAM, CRAM or SAM file", found, remedy, path=source.source.path)
    if source.is_other:  # pysam would leave its end of the pipe open
        raise _bam_error(source, 0)


def _opened(stack: ExitStack, pipe: Any, source: AlignmentFile) -> Any:
    import pysam  # noqa: PLC0415 - slow to load and rarely needed

    stack.enter_context(_silent(pysam))
    reference = None
    if source.format == CRAM:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="gpuasm-"))
        head = Path(folder) / "head.cram"
        head.write_bytes(source.head)
        with pysam.AlignmentFile(str(head), "rc", check_sq=False) as file:
            sequences = file.header.to_dict().get("SQ", [])
        head.unlink()
        if sequences and not are_all_local(sequences):
            reference = write_missing_references(folder, sequences)
    # check_sq: unaligned files have no reference sequences
    return stack.enter_context(pysam.AlignmentFile(pipe, "r", check_sq=False, reference_filename=reference))


@contextmanager
def _silent(pysam: Any) -> Iterator[None]:
    """Keep pysam, and the library under it, from writing to standard error on their own."""
    verbosity, hooks = pysam.set_verbosity(0), (sys.excepthook, sys.unraisablehook)
    sys.excepthook = lambda *_: None  # pysam closes pipes with an error that nobody can catch
    sys.unraisablehook = lambda _: None
    try:
        yield
    finally:
        sys.excepthook, sys.unraisablehook = hooks
        pysam.set_verbosity(verbosity)


def _described(record: Any, *, has_groups: bool) -> _Record:
    name = record.query_name or ""
    bases = record.get_forward_sequence() if record.query_length else ""
    qualities = record.query_qualities
    if qualities is None:
        text = NO_QUALITY * len(bases)
    else:
        text = (qualities[::-1] if record.is_reverse else qualities).tobytes().translate(_PRINTED).decode("latin-1")
    mate = 0
    if record.is_paired:
        mate = _UNCLEAR if record.is_read1 == record.is_read2 else 1 + record.is_read2
    key = name[:-2] if name.endswith(("/1", "/2")) else name
    if has_groups and record.has_tag("RG"):
        key = f"{key}\t{record.get_tag('RG')}"
    return key, mate, f"@{name}\n{bases}\n+\n{text}\n"


def _bam_error(source: AlignmentFile, n: int) -> GpuasmError:
    if isinstance(source.error, GpuasmError):
        return source.error
    path = source.source.path
    if not source.format:
        return DataError(
            "a BAM, CRAM or SAM file",
            "another format, or an empty file",
            "give FASTQ and FASTA files with -1 and -2, --interleaved or --single",
            path=path,
        )
    found, remedy = "damaged data, or data cut off before their end", ""
    if source.format == CRAM:
        remedy = ", or let REF_PATH name the folder of its reference sequences"
    elif source.format == SAM and n == 0 and not source.head.startswith(b"@"):
        found, remedy = "alignments without a header", ", or write it with its header (samtools view -h)"
    return DataError(
        f"a whole {source.format.upper()} file",
        found,
        f"the last good record is {n}: copy or download the file again, and compare its checksum{remedy}",
        path=path,
        place=f"after record {n}",
    )
