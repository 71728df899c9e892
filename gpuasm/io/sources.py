"""Bytes of input files: opened with errors a user understands, hashed and decoded in big blocks, never sought."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from gpuasm.errors import DataError, NoInputError, ReadWriteError, ResourceError, UsageError
from gpuasm.io.background import Background
from gpuasm.io.bounded_decoding import LEAST_WINDOW
from gpuasm.io.compression import BrokenStreamError, compression_of, decoded, decoded_gzip
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.resources import format_bytes, process_limit

BLOCK_BYTES = 2 << 20
"""Bytes of text handed on at once: large enough that Python's share is nothing, small enough for the caches."""

STDIN = "-"

_RAW_BYTES = {"bgzip": 256 << 10}  # compressed bytes at once: the decoder copies what follows each of its small streams
_MOST_RAW_BYTES = 1 << 20
_ODD_TIMES, _MOST_TIMES = 16, 200
"""A text that is so many times as long as its bytes waits until its end is known; a longer one is refused."""
_ALWAYS_TEXT = 64 << 20
_MAGIC_BYTES = 18


def ignore(_amount: int) -> None:
    """Ignore progress."""


@dataclass(eq=False, repr=False)
class Source:
    """One input file while it is read.

    Attributes
    ----------
    path : str
        As the user gave it; "-" is standard input.
    compression : str
        Known once the first block was read.
    size : int
        Raw bytes read so far.
    digest
        sha256 of the raw bytes read so far.
    memory : int or None
        Bytes that the process may take in all; see `gpuasm.io.memory_bound.MemoryBound`.
    raw_bytes : int
        Most compressed bytes that are read at once.
    always : int
        Bytes of text that are decoded from however few bytes; a longer one may be 200 times as long as these.
    """

    path: str
    block_bytes: int = BLOCK_BYTES
    advance: Callable[[int], Any] = ignore
    memory: int | None = None
    raw_bytes: int = _MOST_RAW_BYTES
    always: int = _ALWAYS_TEXT
    compression: str = "none"
    size: int = 0
    digest: Any = field(default_factory=hashlib.sha256)
    _ahead: Background[bytes] | None = None
    _progress: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, *, depth: int) -> None:
        """Read and decode in another thread from now on, up to ``depth`` blocks ahead of the reader."""
        self._ahead = Background(self.blocks(), depth=depth)

    def texts(self) -> Background[bytes]:
        """Return the blocks as another thread decodes them, which has begun or begins now."""
        return self._ahead or Background(self.blocks())

    def report_to(self, advance: Callable[[int], Any]) -> None:
        """Report the progress to ``advance`` from now on, beginning with all bytes read so far."""
        with self._progress:
            self.advance = advance
            advance(self.size)

    def blocks(self) -> Iterator[bytes]:
        """Yield the decoded text in blocks of about ``block_bytes``.

        Raises
        ------
        BrokenStreamError
            If the compressed data are damaged; what was decoded before is yielded first.
        NoInputError, ReadWriteError
            If the file cannot be opened, or a read fails.
        ResourceError
            If few bytes unpack to a long text.
        """
        chunks = self.raw_chunks()
        head = next(chunks, b"")  # reading it sets the compression
        waiting: list[bytes] = []
        n_waiting = n_text = n_since = size = n_last = 0
        try:
            for text in self._decoded(itertools.chain([head], chunks)):
                waiting.append(text)
                n_waiting += len(text)
                n_text += len(text)
                if self.size > size:
                    n_last, size, n_since = self.size - size, self.size, 0
                n_since += len(text)
                self._check_ratio(n_text, size)
                self._check_ratio(n_since, n_last)
                is_odd = _ODD_TIMES * n_last < n_since < 2 * self.always  # decoders are faster than what reads the text
                if n_waiting >= self.block_bytes and not is_odd:
                    yield from self._grouped(waiting)
                    waiting, n_waiting = [], 0
        except BrokenStreamError:
            yield from self._grouped(waiting)  # the consumer needs the text before the damage to name the last record
            raise
        yield from self._grouped(waiting)

    def _grouped(self, texts: list[bytes]) -> list[bytes]:
        """Return texts as one block, or as they are where that were large."""
        return texts if sum(map(len, texts)) > 2 * self.block_bytes else [_joined(texts)]

    def _check_ratio(self, n_text: int, size: int) -> None:
        """Refuse a text that is much longer than the compressed bytes it comes from: all of them, or the last ones."""
        if n_text > max(self.always, _MOST_TIMES * size) and self.compression != "none":
            raise ResourceError(
                f"a text of at most {_MOST_TIMES} times its compressed bytes",
                f"{format_bytes(size)} that unpack to {format_bytes(n_text)} or more",
                "unpack the file before, if this is right",
                path=self.path,
            )

    def _decoded(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        if self.compression not in ("gzip", "bgzip") or not os.path.isfile(self.path):  # noqa: PTH113 - "-" is no path
            window = LEAST_WINDOW if self.compression == "none" else process_limit(self.memory) // 2
            return decoded(chunks, self.compression, most_window=max(LEAST_WINDOW, window))
        return decoded_gzip(chunks, self.block_bytes, again=Source(self.path).raw_chunks)

    def raw_chunks(self) -> Iterator[bytes]:
        """Yield the file's bytes as they are; sets ``compression`` before the first and hashes all."""
        with open_input(self.path) as file:
            head = self._read(file, _MAGIC_BYTES, whole=True)
            self.compression = compression_of(head)
            most = _RAW_BYTES.get(self.compression, self.raw_bytes)
            chunk_bytes = self.block_bytes if self.compression == "none" else min(most, self.block_bytes)
            chunk = head + self._read(file, max(1, chunk_bytes - len(head)))
            while chunk:
                self.digest.update(chunk)
                with self._progress:
                    self.size += len(chunk)
                    self.advance(len(chunk))
                yield chunk
                chunk = self._read(file, chunk_bytes)

    def _read(self, file: BinaryIO, n: int, *, whole: bool = False) -> bytes:
        try:
            data = file.read(n)
            while whole and len(data) < n and (more := file.read(n - len(data))):  # pipes give what they have
                data += more
        except OSError as error:
            found = f"a failed read ({error.strerror})"
            raise ReadWriteError(
                "a readable file", found, "check the disk or the network drive", path=self.path
            ) from error
        return data or b""


def read_whole(path: str | Path, *, copies: int, memory: int | None = None) -> bytes:
    """Return the text of a file, plain or compressed, if it and what is made of it fit into memory.

    Parameters
    ----------
    path
        The file; "-" is standard input.
    copies
        How many times the size of the text its reader takes, the text included.
    memory
        As of `Source`.

    Raises
    ------
    DataError
        If compressed data are damaged.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    ResourceError
        If the text is too large for the budget.
    """
    bound, size, parts = MemoryBound(path, memory), 0, []
    try:
        for block in Source(str(path), memory=memory).blocks():
            parts.append(block)
            size += len(block)
            bound.require(copies * size - size)
        return _joined(parts)
    except BrokenStreamError as error:
        raise DataError("a complete file", str(error), "fetch the file again", path=path) from error
    except ResourceError as error:
        raise error.of_file(path) from error


def check_inputs(paths: Sequence[str]) -> None:
    """Refuse files that are not there, and files given twice, before any work starts.

    Raises
    ------
    NoInputError
        If a path is missing, a folder or not readable.
    UsageError
        If two paths are the same file.
    """
    seen: dict[tuple[int, int] | str, str] = {}
    for path in paths:
        identity: tuple[int, int] | str = path
        if path != STDIN:
            status = _stat(path)
            if not stat.S_ISREG(status.st_mode):
                continue
            identity = (status.st_dev, status.st_ino)
        if identity in seen:
            raise UsageError(
                "every input file once",
                f"'{seen[identity]}' and '{path}', which are the same file",
                "give the file of the other mates, or leave one of the two out",
            )
        seen[identity] = path


def total_size(paths: Sequence[str]) -> int | None:
    """Return the bytes of all files together; None where one is a pipe."""
    if STDIN in paths:
        return None
    found = [_stat(path) for path in paths]
    return sum(status.st_size for status in found) if all(stat.S_ISREG(status.st_mode) for status in found) else None


def is_regular(path: str | os.PathLike[str]) -> bool:
    """Return whether an input is a regular file, which can be read twice; False for any path that cannot be one."""
    return os.fspath(path) != STDIN and os.path.isfile(path)  # noqa: PTH113 - pathlib raises errors for long names


def open_input(path: str) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open a file or standard input ("-") for unbuffered reading of bytes.

    Raises
    ------
    NoInputError
        If that is not possible.
    """
    if path == STDIN:
        return contextlib.nullcontext(_standard_input())
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            raise _no_input(path, "a folder")
        return open(path, "rb", buffering=0)  # the caller closes it
    except OSError as error:
        raise _no_input(path, error) from error


def _standard_input() -> BinaryIO:
    if sys.stdin is None or sys.stdin.isatty():
        raise _no_input(STDIN, "a terminal as standard input")
    return sys.stdin.buffer


def _stat(path: str) -> os.stat_result:
    try:
        status = os.stat(path)
    except OSError as error:
        raise _no_input(path, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise _no_input(path, "a folder")
    if stat.S_ISREG(status.st_mode) and not os.access(path, os.R_OK):
        raise _no_input(path, "a file without permission to read it")
    return status


def _no_input(path: str, found: OSError | str) -> NoInputError:
    if isinstance(found, NoInputError):
        return found
    if isinstance(found, FileNotFoundError):
        found = "no such file"
    elif isinstance(found, PermissionError):
        found = "a file without permission to read it"
    elif isinstance(found, OSError):
        found = f"an error when opening it ({found.strerror})"
    return NoInputError("a readable file", found, "check the path and the permissions", path=path)


def _joined(parts: list[bytes]) -> bytes:
    return parts[0] if len(parts) == 1 else b"".join(parts)
