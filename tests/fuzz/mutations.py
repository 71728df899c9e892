"""Mutations of files for the fuzzer: of bytes, of text, and of arrays in .npz with right checksums."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from random import Random
from typing import Any

import numpy as np
import zstandard

_TOKENS = (
    b"\0", b"\n", b"\r", b"\t", b" ", b",", b";", b"->", b"-", b"+", b"#", b"%", b'"', b"'", b"*", b"{", b"[", b"]",
    b"0", b"1", b"-1", b"2", b"nan", b"inf", b"-inf", b"NA", b"1e999", b"1e308", b"1e-320", b"5e-324", b"0x10", b"1_0",
    b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"9" * 5000,
    "\u00b2".encode(), "\u0661".encode(), b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xed\xa0\x80", "\u2028".encode(),
    b"\x85", b"a" * 200_000, b"null", b"true", b"%%MatrixMarket matrix coordinate real symmetric", b"from\tto\tweight",
    b"S\ta\t*",
)  # fmt: skip
_SHAPES: tuple[Any, ...] = ((), (0,), (1,), (3,), (2, 2), (0, 3), (1, 1, 1))
_TYPES = ("i1", "i4", ">i4", "i8", "u1", "u8", "f2", "f4", "f8", ">f8", "c16", "?", "U3", "S3", "M8[s]", "V4", "i4,f8")
_VALUES = (0, 1, -1, 2, 255, -(1 << 31), 1 << 31, (1 << 63) - 1, -(1 << 63))
_NUMBERS = (0.0, -1.0, np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 1e10, 0.5)
_PACKERS = (gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor(level=1).compress)


def mutated(rng: Random, seeds: list[bytes]) -> bytes:
    """Return a seed with some changes; archives of arrays keep right checksums as often as not."""
    data = rng.choice(seeds)
    if data.startswith(b"PK\x03\x04") and rng.random() < 0.6:
        data = _with_other_arrays(rng, data)
        if rng.random() < 0.9:
            return data
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        data = rng.choice(_CHANGES)(rng, data, seeds)
    return rng.choice(_PACKERS)(data) if rng.random() < 0.03 else data


def _flip(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    changed = bytearray(data or b"\0")
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _set(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    changed = bytearray(data or b"\0")
    changed[rng.randrange(len(changed))] = rng.choice((0, 9, 10, 32, 44, 45, 48, 127, 128, 255, rng.randrange(256)))
    return bytes(changed)


def _cut(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    first, last = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    return data[:first] + data[last:]


def _end(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _insert(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(_TOKENS) + data[at:]


def _repeat(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    first, last = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    return data[:last] + data[first:last] * rng.choice((1, 2, 30)) + data[last:]


def _splice(rng: Random, data: bytes, seeds: list[bytes]) -> bytes:
    other = rng.choice(seeds)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _field(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    """Replace a field of a line."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    between = b"\t" if b"\t" in lines[at] else b"," if b"," in lines[at] else b" "
    fields = lines[at].split(between)
    fields[rng.randrange(len(fields))] = rng.choice(_TOKENS)
    lines[at] = between.join(fields)
    return b"\n".join(lines)


def _line(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    """Remove, repeat or exchange lines."""
    lines = data.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(3):
        case 0:
            del lines[first]
        case 1:
            lines.insert(second, lines[first])
        case _:
            lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


_CHANGES = (_flip, _set, _cut, _end, _insert, _repeat, _splice, _field, _field, _line)


def _with_other_arrays(rng: Random, data: bytes) -> bytes:
    try:
        with np.load(io.BytesIO(data)) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except Exception:
        return data
    for _ in range(rng.choice((1, 1, 2))):
        if not arrays:
            break
        name = rng.choice(sorted(arrays))
        match rng.randrange(5):
            case 0:
                del arrays[name]
            case 1:
                arrays[name] = _other_type(rng, arrays[name])
            case 2:
                arrays[name] = _other_shape(rng, arrays[name])
            case _:
                arrays[name] = _other_value(rng, arrays[name])
    file = io.BytesIO()
    rng.choice((np.savez, np.savez, np.savez_compressed))(file, **arrays)
    return file.getvalue()


def _other_type(rng: Random, array: np.ndarray) -> np.ndarray:
    try:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(_TYPES))
    except (ValueError, TypeError):
        return np.zeros(array.shape, rng.choice(_TYPES))


def _other_shape(rng: Random, array: np.ndarray) -> np.ndarray:
    match rng.randrange(4):
        case 0:
            return np.zeros(rng.choice(_SHAPES), array.dtype)
        case 1:
            return array[: rng.randrange(len(array) + 1)] if array.ndim else array[None]
        case 2:
            return np.concatenate([array, array]) if array.ndim else np.stack([array, array])
        case _:
            return np.asfortranarray(array.T)


def _other_value(rng: Random, array: np.ndarray) -> np.ndarray:
    changed = array.copy()
    if not changed.size or changed.dtype.kind not in "iufbcU":
        return changed
    with np.errstate(all="ignore"):
        return _changed(rng, changed)


def _changed(rng: Random, changed: np.ndarray) -> np.ndarray:
    at = rng.randrange(changed.size)
    if changed.dtype.kind == "U":
        text = str(changed.flat[at])
        changed = changed.astype(f"U{len(text) + 8}")
        changed.flat[at] = mutated(rng, [text.encode()]).decode(errors="replace")[: len(text) + 8]
        return changed
    values = _NUMBERS if changed.dtype.kind == "f" else _VALUES
    fits = [v for v in values if changed.dtype.kind == "f" or np.array(v).astype(changed.dtype) == v]
    if rng.random() < 0.2:
        changed[...] = rng.choice(fits or [0])
    else:
        changed.flat[at] = rng.choice(fits or [0])
    return changed
