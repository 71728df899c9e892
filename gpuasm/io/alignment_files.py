"""Bytes of BAM, CRAM and SAM files: poured into a pipe for their reader, hashed, and checked for their end marker."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from typing import Any

from gpuasm.io.compression import BrokenStreamError, decoded
from gpuasm.io.cram_containers import checked_containers
from gpuasm.io.diagnosis import is_sam
from gpuasm.io.sources import Source

BAM, CRAM, SAM = "bam", "cram", "sam"

_END_OF_BGZIP = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
"""The empty block at the end of every whole file of BGZF blocks (SAM/BAM format specification, 4.1.2)."""
_END_OF_CRAM_3 = bytes.fromhex("0f000000ffffffff0fe0454f4600000000010005bdd94f0001000606010001000100ee63014b")
_END_OF_CRAM_2 = bytes.fromhex("0b000000ffffffff0fe0454f460000000001000001000606010001000100")
"""The empty containers at the end of every whole file of CRAM 3 and 2.1 (CRAM format specification, 9)."""
_NUMBER_OF_NO_REFERENCE = 8  # its highest bits differ between writers
_LONGEST_END = len(_END_OF_CRAM_3)


class AlignmentFile:
    """One file of alignments, which a thread pours into a pipe, so that pipes work too and all bytes are hashed.

    Parameters
    ----------
    path
        The file; "-" is standard input.
    advance
        Receives the number of bytes read.

    Attributes
    ----------
    source : Source
    format : str
        bam, cram or sam by its first bytes; "" for others, and where they are damaged.
    is_other : bool
        Whether the first bytes are whole, and those of no such file.
    head : bytes
        The first bytes of the file: of CRAM all of its header.
    exit : int
        The descriptor to read from.

    Raises
    ------
    DataError
        If the header of CRAM is damaged.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    ResourceError
        If the header of CRAM does not fit into memory.
    """

    def __init__(self, path: str, advance: Callable[[int], Any]) -> None:
        self.source = Source(path, block_bytes=1 << 20, advance=advance)
        chunks = self.source.raw_chunks()
        self.head = next(chunks, b"")
        self.format, self.is_other = _format_of(self.head, self.source.compression)
        if self.format == CRAM:
            chunks = checked_containers(itertools.chain([self.head], chunks), path)
            self.head = next(chunks, b"")
        self.error: BaseException | None = None
        self._tail = b""
        self._chunks = itertools.chain([self.head], chunks)
        self.exit, entrance = os.pipe()
        self._thread = threading.Thread(target=self._pour, args=(entrance,), name="gpuasm-bam", daemon=True)
        self._thread.start()

    def _pour(self, entrance: int) -> None:
        try:
            with open(entrance, "wb", buffering=0) as pipe:
                for chunk in self._chunks:
                    self._tail = (self._tail + chunk[-_LONGEST_END:])[-_LONGEST_END:]
                    at = memoryview(chunk)
                    while at:
                        at = at[pipe.write(at) :]
        except BrokenPipeError:
            pass  # the message of the reader gives the reason
        except BaseException as error:  # raised by join
            self.error = error

    def join(self) -> None:
        """Wait until the file is read to its end, and raise what went wrong with that.

        Raises
        ------
        EOFError
            If the file lacks the marker of its end.
        """
        self._thread.join()
        if self.error is not None:
            raise self.error
        if not self._has_end():
            msg = "no block that marks the end"
            raise EOFError(msg)

    def _has_end(self) -> bool:
        if self.format == CRAM:
            return _is_end_of_cram(self._tail, (self.head[4], self.head[5]))
        is_marked = self.source.compression == "bgzip" or (self.format == BAM and self.source.compression == "none")
        return not is_marked or self._tail.endswith(_END_OF_BGZIP)


def is_alignment_file(path: str) -> bool:
    """Return whether a file is BAM, CRAM or SAM by its first bytes.

    Raises
    ------
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    """
    source = Source(path, block_bytes=1 << 16)
    chunks = source.raw_chunks()
    try:
        return bool(_format_of(next(chunks, b""), source.compression)[0])
    finally:
        chunks.close()  # type: ignore[attr-defined]


def _is_end_of_cram(tail: bytes, version: tuple[int, int]) -> bool:
    if version < (2, 1):
        return True  # these versions have no marker
    end = _END_OF_CRAM_2 if version < (3, 0) else _END_OF_CRAM_3
    found = bytearray(tail[-len(end) :])
    if len(found) == len(end):
        found[_NUMBER_OF_NO_REFERENCE] &= end[_NUMBER_OF_NO_REFERENCE]
    return found == end


def _format_of(head: bytes, compression: str) -> tuple[str, bool]:
    """Return the format by its first bytes, and whether it is certainly another than those known."""
    if head.startswith(b"CRAM"):
        return CRAM, False
    text = head
    if compression != "none":
        try:
            text = next(decoded(iter([head]), compression), b"")
        except BrokenStreamError:
            return "", False
    if text.startswith(b"BAM\x01"):
        return BAM, False
    return (SAM, False) if is_sam(text[:4096]) else ("", True)
