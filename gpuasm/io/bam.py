"""Reads of BAM, CRAM and SAM files: the only module that names pysam."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpuasm.errors import DataError, GpuasmError
from gpuasm.io.background import Background
from gpuasm.io.collecting import Collector
from gpuasm.io.parsing import ParsedBlock, Parser
from gpuasm.io.sources import Source
from gpuasm.io.summary import FileSummary, summarize

_BLOCK_BYTES = 2 << 20
_NO_QUALITY = "\x7f"  # above all that are printed
_PRINTED = bytes(min(quality + 33, 255) for quality in range(256))
_END_OF_BAM = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
"""The empty block at the end of every whole BAM file (SAM/BAM format specification, 4.1.2)."""
PAIRED, SINGLE = "paired", "single"


def collect_bam(path: str, paired: Collector, single: Collector, *, advance: Callable[[int], Any]) -> FileSummary:
    """Collect the reads of a file that pysam reads, in the direction in which they were sequenced.

    Secondary and supplementary alignments are passed over. Mates find each other by name, wherever in the file they
    are; reads whose mate is not there count as single reads.

    Raises
    ------
    DataError
        If the file is no such file, cut off or damaged, or holds no reads.
    """
    feed = _Feed(path, advance)
    parser = Parser(path)
    collectors = {PAIRED: paired, SINGLE: single}
    with Background(_blocks(feed, parser)) as blocks:
        for kind, block in blocks:
            collectors[kind].add_block(block)
    if parser.n_reads == 0:
        raise DataError("reads", "a file without reads", "check how the file was made or copied", path=path)
    parser.statistics.quality_counts[ord(_NO_QUALITY)] = 0
    raw = feed.source.size, feed.source.digest.hexdigest()
    return summarize(path, (feed.format, "none"), raw, parser.statistics)


class _Feed:
    """A thread that pours the file into a pipe for pysam, so that pipes work too and all bytes are hashed."""

    def __init__(self, path: str, advance: Callable[[int], Any]) -> None:
        self.source = Source(path, block_bytes=1 << 20, advance=advance)
        self.format = ""
        self.error: BaseException | None = None
        self._tail = b""
        self.exit, entrance = os.pipe()
        self._thread = threading.Thread(target=self._pour, args=(entrance,), name="gpuasm-bam", daemon=True)
        self._thread.start()

    def _pour(self, entrance: int) -> None:
        try:
            with open(entrance, "wb", buffering=0) as pipe:
                for chunk in self.source.raw_chunks():
                    self._tail = (self._tail + chunk[-len(_END_OF_BAM) :])[-len(_END_OF_BAM) :]
                    at = memoryview(chunk)
                    while at:
                        at = at[pipe.write(at) :]
        except BrokenPipeError:
            pass  # the message of pysam gives the reason
        except BaseException as error:  # raised by join
            self.error = error

    def join(self) -> None:
        """Wait until the file is read to its end, and raise what went wrong with that."""
        self._thread.join()
        if self.error is not None:
            raise self.error
        if self.format == "bam" and self._tail != _END_OF_BAM:
            msg = "no block that marks the end"
            raise EOFError(msg)


def _blocks(feed: _Feed, parser: Parser) -> Iterator[tuple[str, ParsedBlock]]:
    for kind, text in _texts(feed):
        for block in parser.feed(np.frombuffer(text, np.uint8).copy()):
            yield kind, block


def _texts(feed: _Feed) -> Iterator[tuple[str, bytes]]:
    """Yield FASTQ text of whole pairs and of single reads."""
    waiting: dict[str, tuple[bool, str]] = {}
    texts: dict[str, list[str]] = {PAIRED: [], SINGLE: []}
    sizes = {PAIRED: 0, SINGLE: 0}
    for name, mate, record in _records(feed):
        kind, text = SINGLE, record
        if mate:
            other = waiting.pop(name, None)
            if other is None:
                waiting[name] = mate == 1, record
                continue
            kind, text = PAIRED, other[1] + record if other[0] else record + other[1]
        texts[kind].append(text)
        sizes[kind] += len(text)
        if sizes[kind] >= _BLOCK_BYTES:
            yield kind, "".join(texts[kind]).encode("latin-1")
            texts[kind], sizes[kind] = [], 0
    texts[SINGLE].extend(record for _, record in waiting.values())
    for kind, parts in texts.items():
        if parts:
            yield kind, "".join(parts).encode("latin-1")


def _records(feed: _Feed) -> Iterator[tuple[str, int, str]]:
    """Yield name, mate (1, 2, or 0 for single reads) and FASTQ text of each primary record."""
    import pysam  # noqa: PLC0415 - slow to load and rarely needed

    n = 0
    verbosity = pysam.set_verbosity(0)  # the library under pysam writes to standard error on its own
    try:
        # check_sq: unaligned files have no reference sequences
        with open(feed.exit, "rb", buffering=0) as pipe, pysam.AlignmentFile(pipe, "r", check_sq=False) as file:
            feed.format = "bam" if file.is_bam else "cram" if file.is_cram else "sam" if file.is_sam else ""
            for record in file.fetch(until_eof=True) if feed.format else ():
                if record.is_secondary or record.is_supplementary:
                    continue
                n += 1
                mate = (1 + record.is_read2) if record.is_paired else 0
                yield record.query_name or "", mate, _fastq(record)
            if not feed.format:
                raise _bam_error(feed, 0)
            feed.join()
    except GpuasmError:
        raise
    except (OSError, ValueError, EOFError) as error:
        raise _bam_error(feed, n) from error
    finally:
        pysam.set_verbosity(verbosity)


def _fastq(record: Any) -> str:
    bases = record.get_forward_sequence() or ""
    qualities = record.get_forward_qualities()
    text = _NO_QUALITY * len(bases) if qualities is None else qualities.tobytes().translate(_PRINTED).decode("latin-1")
    return f"@{record.query_name}\n{bases}\n+\n{text}\n"


def _bam_error(feed: _Feed, n: int) -> GpuasmError:
    if isinstance(feed.error, GpuasmError):
        return feed.error
    path = feed.source.path
    if n == 0 and not feed.format:
        return DataError(
            "a BAM, CRAM or SAM file",
            "another format, or an empty file",
            "give FASTQ and FASTA files with -1 and -2, --interleaved or --single",
            path=path,
        )
    reference = ", or set REF_PATH to where the reference of the alignments is" if feed.format == "cram" else ""
    return DataError(
        f"a whole {feed.format.upper()} file",
        "damaged data, or data cut off before their end",
        f"the last good record is {n}: copy or download the file again, and compare its checksum{reference}",
        path=path,
        place=f"after record {n}",
    )
