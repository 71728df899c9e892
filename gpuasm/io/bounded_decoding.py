"""Decoders of compressed streams that give a bounded text at a time, however much a few bytes unpack to."""

from __future__ import annotations

import bz2
import lzma
import sys
from collections.abc import Callable
from typing import Any, Protocol, cast

from isal import igzip_lib, isal_zlib

from gpuasm.errors import ResourceError
from gpuasm.resources import format_bytes

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_TEXT = 2 << 20
"""Most bytes of text that a step gives."""
LEAST_WINDOW = 128 << 20
"""Window that is decoded under any budget: the largest one that zstd and xz use by default."""

DECODE_ERRORS: tuple[type[Exception], ...] = (
    cast("type[Exception]", igzip_lib.IsalError),  # the stub calls it an instance
    zstd.ZstdError,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
)
"""What decoders raise at bytes that are no such stream."""

_GZIP_WINDOW_AND_HEADER = 31
_WINDOW_TOO_LARGE = "too much memory"  # in the message of the library


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
    """Of bzip2, xz and zstd, whose objects keep what they have not decoded yet."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.is_complete, self.unused, self.needs_data = False, b"", True

    def step(self, data: bytes) -> bytes:
        text: bytes = self._stream.decompress(data, MOST_TEXT)
        self.is_complete, self.needs_data = self._stream.eof, self._stream.needs_input
        self.unused = self._stream.unused_data if self.is_complete else b""
        return text


class _Zstd(_WithMaxLength):
    """One frame, whose window is bounded."""

    def __init__(self, most_window: int) -> None:
        most = zstd.DecompressionParameter.window_log_max
        bits = min(most_window.bit_length() - 1, most.bounds()[1])
        super().__init__(zstd.ZstdDecompressor(options={most: bits}))
        self._most_window = most_window

    def step(self, data: bytes) -> bytes:
        try:
            return super().step(data)
        except zstd.ZstdError as error:
            if _WINDOW_TOO_LARGE not in str(error):
                raise
            raise ResourceError(
                "memory for the window of zstd data", f"a budget of {format_bytes(self._most_window)} for it",
                "compress the file anew without --long, or run with a greater --memory",
            ) from error  # fmt: skip


def decoder_of(compression: str, most_window: int) -> Decoder:
    """Return a decoder of one stream, with a window of at most so many bytes."""
    return _MAKERS[compression](most_window)


_MAKERS: dict[str, Callable[[int], Decoder]] = {
    "gzip": lambda _: _Gzip(),
    "bgzip": lambda _: _Gzip(),
    "zstd": _Zstd,
    "bzip2": lambda _: _WithMaxLength(bz2.BZ2Decompressor()),
    "xz": lambda most_window: _WithMaxLength(lzma.LZMADecompressor(memlimit=most_window + (64 << 20))),
}
