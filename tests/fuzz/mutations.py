"""Mutations of files for the fuzzer: of bytes and text, also within compressed data with right checksums."""

from __future__ import annotations

import re
import struct
from random import Random

from tests.fuzz.array_mutations import with_other_arrays
from tests.fuzz.packed import PACKINGS, unpacked

_TOKENS = (
    b"\0", b"\n", b"\r", b"\t", b" ", b",", b";", b"->", b"-", b"+", b"#", b"%", b'"', b"'", b"*", b"{", b"[", b"]",
    b"0", b"1", b"-1", b"2", b"nan", b"inf", b"-inf", b"NA", b"1e999", b"1e308", b"1e-320", b"5e-324", b"0x10", b"1_0",
    b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"9" * 5000,
    "\u00b2".encode(), "\u0661".encode(), b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xed\xa0\x80", "\u2028".encode(),
    b"\x85", b"a" * 200_000, b"null", b"true", b"%%MatrixMarket matrix coordinate real symmetric", b"from\tto\tweight",
    b"S\ta\t*",
)  # fmt: skip
_NUMBER = re.compile(rb"[-+]?\d[\d.eE+-]*")
_NUMBERS = tuple(token for token in _TOKENS if token[:1] in b"-0123456789ni")
_WORDS = [struct.pack("<i", n) for n in (-1, 0, 1, 2**31 - 1, -(2**31), 65_536, 1 << 28)] + [b"\xff" * 8, b"\x7f" * 8]
_MOST_BYTES = 1 << 20


def mutated(rng: Random, seeds: list[bytes]) -> bytes:
    """Return a seed with some changes; archives and compressed data keep right checksums as often as not."""
    data = rng.choice(seeds)
    if data.startswith(b"PK\x03\x04") and rng.random() < 0.6:
        data = with_other_arrays(rng, data, changed_text=_changed_text)
        if rng.random() < 0.9:
            return data
    if rng.random() < 0.7 and (found := unpacked(data)):
        text, packing = found
        return packing.pack(_changed(rng, text, seeds))
    data = _changed(rng, data, seeds)
    return rng.choice(PACKINGS).pack(data) if rng.random() < 0.03 else data


def _changed(rng: Random, data: bytes, seeds: list[bytes]) -> bytes:
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        data = rng.choice(_CHANGES)(rng, data[:_MOST_BYTES], seeds)
    return data


def _changed_text(rng: Random, text: str) -> str:
    changed = _changed(rng, text.encode(errors="replace"), [b""]).decode(errors="replace")
    return changed[: len(text) + 8]


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
    return data[:last] + data[first:last] * rng.choice((1, 2, 30 if last - first < 10_000 else 1)) + data[last:]


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


def _number(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    """Replace a number of a text by an extreme one."""
    found = list(_NUMBER.finditer(data, rng.randrange(len(data) + 1)))[:100]
    if not found:
        return data
    first, last = rng.choice(found).span()
    return data[:first] + rng.choice(_NUMBERS) + data[last:]


def _word(rng: Random, data: bytes, _: list[bytes]) -> bytes:
    """Replace bytes by those of an extreme binary number."""
    word, at = rng.choice(_WORDS), rng.randrange(len(data) + 1)
    return data[:at] + word + data[at + len(word) :]


_CHANGES = (_flip, _set, _cut, _end, _insert, _repeat, _splice, _field, _field, _line, _number, _word)
