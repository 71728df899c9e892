"""Detect compressions by their magic bytes and decode them, stream after stream; truncation is an error.

`gpuasm.io.bounded_decoding` has the decoders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from isal import igzip

from gpuasm.errors import ResourceError
from gpuasm.io.bounded_decoding import DECODE_ERRORS, LEAST_WINDOW, Decoder, decoder_of

_MAGIC = {
    "gzip": b"\x1f\x8b",
    "bgzip": b"\x1f\x8b",
    "zstd": b"\x28\xb5\x2f\xfd",
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
}
_BGZIP_EXTRA_FIELD = b"BC\x02\x00"


class BrokenStreamError(Exception):
    """A compressed stream that ends early or does not decode; the message is a clause for "found"."""


def compression_of(head: bytes) -> str:
    """Name the compression of a file by its first bytes: none, gzip, bgzip, zstd, bzip2 or xz."""
    for name, magic in _MAGIC.items():
        if head.startswith(magic):
            return "bgzip" if name == "gzip" and head[12:16] == _BGZIP_EXTRA_FIELD else name
    return "none"


def decoded(chunks: Iterator[bytes], compression: str, *, most_window: int = LEAST_WINDOW) -> Iterator[bytes]:
    """Decode chunks of a file, which may hold several streams one after the other (bgzip, ``cat a.gz b.gz``).

    Texts have a few megabytes at most, whatever the chunks unpack to.

    Parameters
    ----------
    chunks
        Of the file.
    compression
        As `compression_of` names it.
    most_window
        Bytes that a decoder may take for what it refers back to.

    Raises
    ------
    BrokenStreamError
        If the last stream is not complete, a checksum is wrong or the bytes are no such stream; all that was decoded
        before is yielded first.
    ResourceError
        If the window of zstd is larger than ``most_window``.
    """
    if compression == "none":
        yield from chunks
        return
    decoder: Decoder | None = None
    for chunk in chunks:
        rest = chunk
        while rest or (decoder is not None and not decoder.needs_data):
            if decoder is None:
                rest = rest.lstrip(b"\0")  # gzip and xz files may be padded with zeros to a whole block of a tape
                if not rest:
                    break
                _check_magic(rest, compression)
                decoder = decoder_of(compression, most_window)
            text, rest = _step(decoder, rest, compression), b""
            if decoder.is_complete:
                rest, decoder = decoder.unused, None
            if text:
                yield text
    if decoder is not None:
        msg = f"the {compression} data cut off before their end"
        raise BrokenStreamError(msg)


def decoded_gzip(chunks: Iterator[bytes], n_bytes: int, *, again: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    """Decode the chunks of a gzip or bgzip file in texts of ``n_bytes``.

    Faster than `decoded`, and with few switches between threads: the size of a text is known before it is decoded, and
    the compiled decoder follows the streams. Data that it refuses, for example damaged ones, are decoded again by
    `decoded`, which reports the error and the text before it.

    Parameters
    ----------
    chunks
        Of the file.
    n_bytes
        The last text may be shorter.
    again
        Gives the chunks from the beginning.

    Raises
    ------
    BrokenStreamError
        As `decoded` does, after the same text or more of it.
    """
    reader, n_done, is_refused = igzip.IGzipFile(fileobj=_Stream(chunks), mode="rb"), 0, False
    while not is_refused:
        try:
            text = reader.read(n_bytes)
        except DECODE_ERRORS:
            is_refused = True
            continue
        if not text:
            return
        n_done += len(text)
        yield text
    for text in decoded(again(), "gzip"):
        new = text[min(n_done, len(text)) :]
        n_done -= len(text) - len(new)
        if new:
            yield new


class _Stream:
    """Chunks as what a file object's ``readinto`` gives."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._rest = chunks, memoryview(b"")

    def read(self, _n: int) -> bytes:
        """Return the next chunk: the mark of a file object, which isal does not call."""
        return next(self._chunks, b"")

    def readinto(self, room: memoryview) -> int:
        """Fill the room, or a part of it; 0 at the end."""
        if not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
        n = min(len(room), len(self._rest))
        room[:n], self._rest = self._rest[:n], self._rest[n:]
        return n


def _check_magic(data: bytes, compression: str) -> None:
    # zstd has other frames too, and its decoder knows them; the others' decoders wait for more when they see garbage.
    magic = _MAGIC[compression]
    if compression != "zstd" and not data.startswith(magic[: len(data)]):
        msg = f"other bytes after the end of the {compression} data"
        raise BrokenStreamError(msg)


def _step(decoder: Decoder, data: bytes, compression: str) -> bytes:
    try:
        return decoder.step(data)
    except ResourceError:
        raise
    except DECODE_ERRORS as error:
        msg = f"damaged {compression} data ({error})"
        raise BrokenStreamError(msg) from error
