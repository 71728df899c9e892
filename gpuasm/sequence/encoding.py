"""Two bits per base: A 0, C 1, G 2, T 3, so the complement of a code is 3 minus it; 32 bases in each uint64."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import for_each, inlined, signatures

NOT_A_BASE = 4
"""The code of every byte that is neither a base, in either case, nor a code of two bases."""

CODE_OF_BYTE = np.full(256, NOT_A_BASE, dtype=np.uint8)
"""(256,) uint8: the code of each byte of text."""
for _code, _letter in enumerate(b"ACGT"):
    CODE_OF_BYTE[[_letter, _letter + 32]] = _code
CODE_OF_BYTE[[ord("U"), ord("u")]] = 3

ONE_OF_TWO = {"R": "A", "Y": "T", "K": "G", "M": "C", "S": "C", "W": "A"}
"""IUPAC codes of two bases, and the base that replaces each.

R and Y, K and M are complements of each other, and so are their replacements: both strands agree. S and W are their own
complements, so the two strands differ there, as at a site of two alleles. A letter for more than two bases
(B, D, H, V, N) splits the read.
"""
IS_ONE_OF_TWO = np.zeros(256, dtype=bool)
"""(256,) bool: whether a byte of text is a code of two bases."""
for _two, _base in ONE_OF_TWO.items():
    for _byte in (ord(_two), ord(_two) + 32):
        CODE_OF_BYTE[_byte], IS_ONE_OF_TWO[_byte] = CODE_OF_BYTE[ord(_base)], True

ACGT_CODE_OF_BYTE = np.full(256, NOT_A_BASE, dtype=np.uint8)
"""(256,) uint8: the same for A, C, G and T only, in either case; every other letter is not a base."""
for _letter in b"ACGTacgt":
    ACGT_CODE_OF_BYTE[_letter] = CODE_OF_BYTE[_letter]

BYTE_OF_CODE = np.frombuffer(b"ACGTN", dtype=np.uint8).copy()
"""(5,) uint8: the letter of each code."""
_LETTER_OF_CODE = b"ACGT".ljust(256, b"N")
_COMPLEMENT = np.array([3, 2, 1, 0, NOT_A_BASE], np.uint8)

BASES_PER_WORD = 32

_THREE = np.uint64(3)


def encode(text: str | bytes) -> np.ndarray:
    """Return the (n,) uint8 codes of a text of bases; 4 for a letter that is not a base."""
    data = text.encode("ascii") if isinstance(text, str) else text
    return CODE_OF_BYTE[np.frombuffer(data, dtype=np.uint8)]


def decode(codes: np.ndarray) -> str:
    """Return the text of (n,) uint8 codes."""
    return np.asarray(codes, np.uint8).tobytes().translate(_LETTER_OF_CODE).decode("ascii")


def reverse_complement(codes: np.ndarray) -> np.ndarray:
    """Return the codes of the reverse complement; code 4 stays 4."""
    return _COMPLEMENT[codes[::-1]]


def pack(codes: Array) -> Array:
    """Pack (n,) uint8 codes below 4, 32 in each uint64.

    Returns
    -------
    (n // 32 + 2,) uint64, where the codes are: the first base in the highest bits, so that elements compare as texts
    do. At least one zero element follows the last base, so that two elements can be read from any base.
    """
    packed = array_namespace(codes).empty(codes.size // BASES_PER_WORD + 2, np.uint64)
    _pack(packed.size, codes, codes.size, packed)
    return packed


@signatures("uint8[::1], int64, uint64[::1]")
@for_each
def _pack(w, codes, n, packed):
    word = np.uint64(0)
    for i in range(32 * w, 32 * w + 32):
        word <<= np.uint64(2)
        if i < n:
            word |= np.uint64(codes[i])
    packed[w] = word


def unpack(packed: np.ndarray, start: int, length: int) -> np.ndarray:
    """Return the (length,) uint8 codes of packed bases on the host, from ``start`` on."""
    position = np.arange(start, start + length, dtype=np.int64)
    shift = (62 - 2 * (position & 31)).astype(np.uint64)
    return ((packed[position >> 5] >> shift) & _THREE).astype(np.uint8)


@inlined()
def base_at(packed, position):
    """Return the code (uint64) of one packed base."""
    return (packed[position >> 5] >> np.uint64(62 - 2 * (position & 31))) & np.uint64(3)


@inlined()
def block_at(packed, position):
    """Return the 32 packed bases (uint64) from a position on."""
    i = position >> 5
    shift = np.uint64(2 * (position & 31))
    block = packed[i] << shift
    if shift > np.uint64(0):
        block |= packed[i + 1] >> (np.uint64(64) - shift)
    return block
