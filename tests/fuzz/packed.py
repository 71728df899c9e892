"""Compressed formats for the fuzzer: what they hold is changed, and packed again with right checksums."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import zlib
from collections.abc import Callable
from typing import NamedTuple

import zstandard

_MOST_BYTES = 1 << 20
_BLOCK = 60_000
_END_OF_BGZF = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")


class Packing(NamedTuple):
    """A compressed format: how files begin, and both ways."""

    magic: bytes
    pack: Callable[[bytes], bytes]
    unpack: Callable[[bytes], bytes]


def bgzip(text: bytes, *, block: int = _BLOCK) -> bytes:
    """Return a text in BGZF: gzip members that state their size, and an empty one at the end."""
    parts = (text[at : at + block] for at in range(0, len(text), block))
    return b"".join(map(_bgzf_member, parts)) + _END_OF_BGZF


def _bgzf_member(part: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    data = packer.compress(part) + packer.flush()
    head = b"\x1f\x8b\x08\x04" + bytes(5) + b"\xff\x06\x00BC\x02\x00" + struct.pack("<H", len(data) + 25)
    return head + data + struct.pack("<II", zlib.crc32(part), len(part))


def _unpacked_zstd(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(data).read(_MOST_BYTES)


def _unpacked_gzip(data: bytes) -> bytes:
    parts, n_bytes = [], 0
    while data and n_bytes < _MOST_BYTES:
        member = zlib.decompressobj(31)
        parts.append(member.decompress(data, _MOST_BYTES))
        n_bytes += len(parts[-1])
        data = member.unused_data
    return b"".join(parts)


PACKINGS = (
    Packing(_END_OF_BGZF[:4], bgzip, _unpacked_gzip),
    Packing(b"\x1f\x8b", lambda text: gzip.compress(text, 1), _unpacked_gzip),
    Packing(b"BZh", bz2.compress, lambda data: bz2.BZ2Decompressor().decompress(data, _MOST_BYTES)),
    Packing(
        b"\xfd7zXZ",
        lambda text: lzma.compress(text, preset=0),
        lambda data: lzma.LZMADecompressor().decompress(data, _MOST_BYTES),
    ),
    Packing(b"\x28\xb5\x2f\xfd", zstandard.ZstdCompressor(level=1).compress, _unpacked_zstd),
)


def unpacked(data: bytes) -> tuple[bytes, Packing] | None:
    """Return what compressed data hold, and their format; None for other and for damaged data."""
    for packing in PACKINGS:
        if data.startswith(packing.magic):
            try:
                return packing.unpack(data)[:_MOST_BYTES], packing
            except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError, zstandard.ZstdError):
                return None
    return None
