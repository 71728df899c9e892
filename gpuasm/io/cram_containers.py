"""Containers of CRAM, checked before the library that decodes them takes memory for their blocks.

The library decodes all blocks of a container together. Their sizes are declared before each, and most codecs repeat
them in their data (CRAM format specification 3.1, 7, 8 and 13). The library decodes gzip and xz whatever was declared.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from gpuasm.errors import DataError
from gpuasm.io.compression import BrokenStreamError, decoded
from gpuasm.io.memory_bound import MemoryBound

_FILE_HEADER, _VERSIONS, _CHECKSUMS_FROM = 26, (2, 3), 3
_BYTES_OF_RECORD, _COPIES = 512, 2
"""What the library takes for each record, and for each byte of a block."""
_SLICE_HEADER = 2
_RAW, _GZIP, _XZ, _RANS, _QUALITIES, _NAMES, _WITH_FLAGS = 0, 1, 3, 4, 7, 8, (5, 6)
_NO_SIZE = 0x10
_STREAMS = {_GZIP: "gzip", _XZ: "xz"}
_MOST_TIMES = {_GZIP: 1100, _XZ: 1 << 20}
"""How many times as long as its bytes a stream is at most."""


class _CutOffError(Exception):
    """The end of the bytes within a number or a block."""


class _Bytes:
    """Bytes of a file, from a place on that moves; those before it are kept until they are handed on."""

    def __init__(self, chunks: Iterable[bytes], bound: MemoryBound | None = None) -> None:
        self._chunks, self._bound = iter(chunks), bound
        self._kept, self.at = bytearray(), 0

    def take(self, n: int) -> bytes:
        """Return the next n bytes."""
        end = self.at + n
        while len(self._kept) < end:
            chunk = next(self._chunks, b"")
            if not chunk:
                raise _CutOffError
            if self._bound:
                self._bound.require(len(chunk))
            self._kept += chunk
        self.at, begin = end, self.at
        return bytes(self._kept[begin:end])

    def number(self) -> int:
        """Return the next number of type itf8, of one to five bytes; negative ones are large."""
        first = self.take(1)[0]
        n = min(4, _leading_ones(first))
        rest = int.from_bytes(self.take(n), "big")
        if n == 4:
            return (first & 0xF) << 28 | rest >> 8 << 4 | rest & 0xF
        return (first & 0x7F >> n) << 8 * n | rest

    def pass_long(self) -> None:
        """Pass a number of type ltf8, of one to nine bytes."""
        self.take(_leading_ones(self.take(1)[0]))

    def hand_on(self) -> bytes:
        """Return all bytes before the place, and forget them."""
        done = bytes(self._kept[: self.at])
        del self._kept[: self.at]
        self.at = 0
        return done

    def rest(self) -> Iterator[bytes]:
        """Yield all bytes that are not handed on."""
        yield bytes(self._kept)
        yield from self._chunks


def checked_containers(chunks: Iterable[bytes], path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Yield the bytes of a CRAM file, each container when it is known to fit into memory.

    Raises
    ------
    DataError
        If a container is damaged, its parts have other sizes than declared, or the version is another than 2 and 3.
    ResourceError
        If the blocks of a container do not fit.
    """
    bound = MemoryBound(path)
    file = _Bytes(chunks, bound)
    is_header = True
    try:
        version = file.take(_FILE_HEADER)[4]
        while version in _VERSIONS:
            _check_container(file, bound, has_checksums=version >= _CHECKSUMS_FROM, is_header=is_header)
            yield file.hand_on()
            is_header = False
    except _CutOffError:
        yield from file.rest()  # the library notices that
        return
    except DataError as error:
        raise error.of_file(path) from error
    raise DataError("CRAM of version 2 or 3", f"version {version}", "convert it with samtools view", path=path)


def _check_container(file: _Bytes, bound: MemoryBound, *, has_checksums: bool, is_header: bool) -> None:
    length = int.from_bytes(file.take(4), "little", signed=True)
    for _ in range(3):  # of the reference
        file.number()
    n_records = file.number()
    file.pass_long()
    file.pass_long()
    n_blocks = file.number()
    n_slices = file.number()
    if length < 0 or n_slices > n_blocks:
        raise _damaged()
    for _ in range(n_slices):
        file.number()
    file.take(4 * has_checksums)
    end, size = file.at + length, 0
    bound.require(_BYTES_OF_RECORD * n_records)
    for _ in range(n_blocks):
        method, content = file.take(2)
        file.number()
        n_bytes, n_unpacked = file.number(), file.number()
        size += n_unpacked
        bound.require(_COPIES * size)
        data = file.take(n_bytes)
        file.take(4 * has_checksums)
        if n_unpacked:
            _check_size(method, data, n_unpacked, bound)
        if content == _SLICE_HEADER:
            _check_slice(method, data, n_records)
    if is_header:  # some are written as a little shorter than they are
        file.take(max(0, end - file.at))
    elif file.at != end:
        raise _damaged()


def _check_size(method: int, data: bytes, n_unpacked: int, bound: MemoryBound) -> None:
    """Refuse a block whose data unpack to another size than declared."""
    if method in _STREAMS:
        if bound.has(_MOST_TIMES[method] * len(data)):
            return
        left = n_unpacked
        for text in _unpacked(method, data):
            left -= len(text)
            if left < 0:
                raise _damaged()
        return
    found = n_unpacked
    if method == _RAW:
        found = len(data)
    elif method == _RANS:
        found = int.from_bytes(data[5:9], "little")
    elif method == _NAMES:
        found = int.from_bytes(data[:4], "little")
    elif method == _QUALITIES:
        found = _first_number(data)
    elif method in _WITH_FLAGS and data[:1] and not data[0] & _NO_SIZE:
        found = _first_number(data[1:])
    if found != n_unpacked:
        raise _damaged()


def _check_slice(method: int, data: bytes, n_records: int) -> None:
    """Refuse a slice of more records than its container."""
    header = _Bytes(_unpacked(method, data))
    try:
        for _ in range(3):  # of the reference
            header.number()
        if header.number() > n_records:
            raise _damaged()
    except _CutOffError:
        raise _damaged() from None


def _unpacked(method: int, data: bytes) -> Iterator[bytes]:
    try:
        yield from decoded(iter([data]), _STREAMS[method]) if method in _STREAMS else [data]
    except BrokenStreamError as error:
        raise _damaged() from error


def _first_number(data: bytes) -> int:
    """Return the number of seven bits a byte, the highest first, that data begin with."""
    value = 0
    for byte in data[:5]:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value


def _leading_ones(byte: int) -> int:
    return 8 - (byte ^ 0xFF).bit_length()


def _damaged() -> DataError:
    remedy = "copy or download the file again, and compare its checksum"
    return DataError("a whole CRAM file", "a container of other sizes than it states", remedy)
