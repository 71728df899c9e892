"""Two bits a base: A 0, C 1, G 2, T 3, so that the complement of a code is 3 minus it; 32 bases a word."""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import compiled, inlined

NOT_A_BASE = 4
"""The code of every byte that is no base in either case, nor a code of two bases."""

CODE_OF_BYTE = np.full(256, NOT_A_BASE, dtype=np.uint8)
"""(256,) uint8: the code of each byte of text."""
for _code, _letter in enumerate(b"ACGT"):
    CODE_OF_BYTE[[_letter, _letter + 32]] = _code
CODE_OF_BYTE[[ord("U"), ord("u")]] = 3

ONE_OF_TWO = {"R": "A", "Y": "T", "K": "G", "M": "C", "S": "C", "W": "A"}
"""IUPAC codes of two bases, and which of the two is taken.

R and Y, K and M are each other's complements, and so is what is taken: both strands agree. S and W are their own
complements, so the two strands differ there, as they do at a site of two alleles. A letter that says less than two
bases (B, D, H, V, N) cuts the read.
"""
IS_ONE_OF_TWO = np.zeros(256, dtype=bool)
"""(256,) bool: whether a byte of text is a code of two bases."""
for _two, _base in ONE_OF_TWO.items():
    for _byte in (ord(_two), ord(_two) + 32):
        CODE_OF_BYTE[_byte], IS_ONE_OF_TWO[_byte] = CODE_OF_BYTE[ord(_base)], True

ACGT_CODE_OF_BYTE = np.full(256, NOT_A_BASE, dtype=np.uint8)
"""(256,) uint8: the same for A, C, G and T in either case alone; every other letter is no base."""
for _letter in b"ACGTacgt":
    ACGT_CODE_OF_BYTE[_letter] = CODE_OF_BYTE[_letter]

BYTE_OF_CODE = np.frombuffer(b"ACGTN", dtype=np.uint8).copy()
"""(5,) uint8: the letter of each code."""

BASES_PER_WORD = 32

_THREE = np.uint64(3)


def encode(text: str | bytes) -> np.ndarray:
    """Return the (n,) uint8 codes of a text of bases; 4 where a letter is no base."""
    data = text.encode("ascii") if isinstance(text, str) else text
    return CODE_OF_BYTE[np.frombuffer(data, dtype=np.uint8)]


def decode(codes: np.ndarray) -> str:
    """Return the text of (n,) uint8 codes."""
    return BYTE_OF_CODE[codes].tobytes().decode("ascii")


def reverse_complement(codes: np.ndarray) -> np.ndarray:
    """Return the codes of the other strand, read in its own direction; code 4 stays 4."""
    flipped = codes[::-1]
    return np.where(flipped < NOT_A_BASE, 3 - flipped, NOT_A_BASE).astype(np.uint8)


def pack(codes: np.ndarray) -> np.ndarray:
    """Pack (n,) uint8 codes below 4 into words.

    Returns
    -------
    (n // 32 + 2,) uint64: the first base in the highest bits, so that words compare as texts do; at least one whole
    word of zeros follows the last base, so that two words can always be read at any base.
    """
    words = np.zeros(codes.size // BASES_PER_WORD + 2, dtype=np.uint64)
    _pack(codes, words)
    return words


@compiled()
def _pack(codes, words):
    for i in range(codes.size):
        shift = np.uint64(62 - 2 * (i & 31))
        words[i >> 5] |= np.uint64(codes[i]) << shift


def unpack(words: np.ndarray, start: int, length: int) -> np.ndarray:
    """Return the (length,) uint8 codes of the bases from ``start`` on of packed host words."""
    position = np.arange(start, start + length, dtype=np.int64)
    shift = (62 - 2 * (position & 31)).astype(np.uint64)
    return ((words[position >> 5] >> shift) & _THREE).astype(np.uint8)


@inlined()
def base_at(words, position):
    """Return the code (uint64) of one base of packed words."""
    return (words[position >> 5] >> np.uint64(62 - 2 * (position & 31))) & np.uint64(3)
