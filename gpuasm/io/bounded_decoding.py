"""Decoders of compressed streams that give a bounded text at a time, however much a few bytes unpack to."""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable
from typing import Any, Protocol, cast

import zstandard
from isal import igzip_lib, isal_zlib

from gpuasm.errors import ResourceError
from gpuasm.resources import format_bytes

MOST_TEXT = 2 << 20
"""Most bytes of text that a step gives."""
LEAST_WINDOW = 128 << 20
"""Window that is decoded under any budget: the largest one that zstd and xz use without being told to."""

DECODE_ERRORS: tuple[type[Exception], ...] = (
    cast("type[Exception]", igzip_lib.IsalError),  # the stub calls it an instance
    zstandard.ZstdError,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
)
"""What decoders raise at bytes that are no such stream."""

_GZIP_WINDOW_AND_HEADER = 31
_MOST_ZSTD_WINDOW = 1 << 31
_BLOCK_BYTES = 128 << 10  # of text: the most in a block of zstd
_LONGEST_HEADER = 18
_SKIPPABLE = b"\x2a\x4d\x18"  # behind the first byte of the frame
_RLE = 1
_CHECKSUM_FLAG = 4


class Decoder(Protocol):
    """Decodes one stream, step after step."""

    is_complete: bool
    unused: bytes
    """What followed the stream in the data, once it is complete."""

    def step(self, data: bytes) -> bytes:
        """Return at most about ``MOST_TEXT`` bytes of text, of new data or, where these are empty, of those before."""

    @property
    def needs_data(self) -> bool:
        """Whether only new data give more text."""


class _Gzip:
    def __init__(self) -> None:
        self._stream: Any = isal_zlib.decompressobj(wbits=_GZIP_WINDOW_AND_HEADER)
        self.is_complete, self.unused, self.needs_data = False, b"", True

    def step(self, data: bytes) -> bytes:
        text: bytes = self._stream.decompress(self._stream.unconsumed_tail + data, MOST_TEXT)
        self.is_complete, self.unused = self._stream.eof, self._stream.unused_data
        self.needs_data = len(text) < MOST_TEXT and not self._stream.unconsumed_tail
        return text


class _WithMaxLength:
    """Of bzip2 and xz, whose objects keep what they have not decoded yet."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.is_complete, self.unused, self.needs_data = False, b"", True

    def step(self, data: bytes) -> bytes:
        text: bytes = self._stream.decompress(data, MOST_TEXT)
        self.is_complete, self.needs_data = self._stream.eof, self._stream.needs_input
        self.unused = self._stream.unused_data if self.is_complete else b""
        return text


class _Zstd:
    """One frame, a few blocks at a time: four bytes may be a block of 128 KiB, and the library decodes all it gets."""

    def __init__(self, most_window: int) -> None:
        most_window = min(most_window, _MOST_ZSTD_WINDOW)
        self._most_window = most_window
        self._stream: Any = zstandard.ZstdDecompressor(max_window_size=most_window).decompressobj()
        self._data = b""  # not decoded yet
        self._head = b""  # the beginning of the frame or of a block, as far as it is known
        self._behind = 0  # bytes before the next header
        self._has_header = self._has_last = self._has_checksum = False
        self.is_complete, self.unused = False, b""

    @property
    def needs_data(self) -> bool:
        return not self._data

    def step(self, data: bytes) -> bytes:
        self._data += data
        end = self._end_of_blocks(self._data)
        text: bytes = self._stream.decompress(self._data[:end])
        self.is_complete = self._stream.eof
        if self.is_complete:
            self.unused, self._data = self._stream.unused_data + self._data[end:], b""
        else:
            self._data = self._data[end:]
        return text

    def _end_of_blocks(self, data: bytes) -> int:
        """Return how many of the bytes are decoded next."""
        if self._has_last and self._behind == 0:
            msg = "bytes after the last block"
            raise ValueError(msg)
        at = n_blocks = 0
        while at < len(data) and n_blocks <= MOST_TEXT // _BLOCK_BYTES:
            passed = min(self._behind, len(data) - at)
            at, self._behind = at + passed, self._behind - passed
            if self._has_last:
                return at if self._behind == 0 else len(data)
            if self._behind or at == len(data):
                break
            n = (3 if self._has_header else _LONGEST_HEADER) - len(self._head)
            self._head, taken = self._head + data[at : at + n], min(n, len(data) - at)
            if self._has_header:
                at += taken
                n_blocks += self._pass_block_header()
            else:
                at += self._pass_frame_header(taken)
        return at

    def _pass_frame_header(self, taken: int) -> int:
        """Return how many of the bytes taken for a header are of it."""
        head, before = self._head, len(self._head) - taken
        is_skippable = head[1:4] == _SKIPPABLE
        size = 8 if is_skippable else zstandard.frame_header_size(head) if len(head) >= 5 else _LONGEST_HEADER
        if len(head) < size:
            return taken
        self._head, self._has_header = b"", True
        if is_skippable:
            self._behind, self._has_last = int.from_bytes(head[4:8], "little"), True
        else:
            parameters = zstandard.get_frame_parameters(head[:size])
            _check_window(parameters.window_size, self._most_window)
            self._has_checksum = bool(head[4] & _CHECKSUM_FLAG)
        return size - before

    def _pass_block_header(self) -> bool:
        """Return whether a whole header of a block is known."""
        if len(self._head) < 3:
            return False
        header, self._head = int.from_bytes(self._head, "little"), b""
        self._behind = 1 if header >> 1 & 3 == _RLE else header >> 3
        self._has_last = bool(header & 1)
        self._behind += 4 * (self._has_last and self._has_checksum)
        return True


def decoder_of(compression: str, most_window: int) -> Decoder:
    """Return a decoder of one stream, with a window of at most so many bytes."""
    return _MAKERS[compression](most_window)


def _check_window(window: int, most: int) -> None:
    if window > most:
        raise ResourceError(
            f"{format_bytes(window)} of memory for the window of zstd data", f"a budget of {format_bytes(most)} for it",
            "compress the file anew without --long, or run with a greater --memory",
        )  # fmt: skip


_MAKERS: dict[str, Callable[[int], Decoder]] = {
    "gzip": lambda _: _Gzip(),
    "bgzip": lambda _: _Gzip(),
    "zstd": _Zstd,
    "bzip2": lambda _: _WithMaxLength(bz2.BZ2Decompressor()),
    "xz": lambda most_window: _WithMaxLength(lzma.LZMADecompressor(memlimit=most_window + (64 << 20))),
}
