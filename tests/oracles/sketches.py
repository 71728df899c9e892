"""Sketches and comparisons in plain Python, text by text and pair by pair."""

from __future__ import annotations

from tests.oracles.kmers import reverse_complement

_ALL = (1 << 64) - 1


def murmur3_x64_128(text: bytes, seed: int = 42) -> int:
    """Return the first 64 bits of MurmurHash3_x64_128, after Appleby's reference."""
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = seed
    whole = len(text) // 16 * 16
    for at in range(0, whole, 16):
        k1, k2 = (int.from_bytes(text[at + i : at + i + 8], "little") for i in (0, 8))
        h1 ^= _rotate(k1 * c1, 31) * c2 & _ALL
        h1 = ((_rotate(h1, 27) + h2) * 5 + 0x52DCE729) & _ALL
        h2 ^= _rotate(k2 * c2, 33) * c1 & _ALL
        h2 = ((_rotate(h2, 31) + h1) * 5 + 0x38495AB5) & _ALL
    tail = text[whole:]
    if len(tail) > 8:
        h2 ^= _rotate(int.from_bytes(tail[8:], "little") * c2, 33) * c1 & _ALL
    if tail:
        h1 ^= _rotate(int.from_bytes(tail[:8], "little") * c1, 31) * c2 & _ALL
    h1 ^= len(text)
    h2 ^= len(text)
    h1 = (h1 + h2) & _ALL
    h2 = (h2 + h1) & _ALL
    return (_mix(h1) + _mix(h2)) & _ALL


def _rotate(bits: int, by: int) -> int:
    bits &= _ALL
    return (bits << by | bits >> (64 - by)) & _ALL


def _mix(bits: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        bits = (bits ^ bits >> 33) * factor & _ALL
    return bits ^ bits >> 33


def kmer_hashes(texts: list[str], k: int, seed: int = 42) -> list[int]:
    """Return the distinct hashes of all canonical k-mers without other letters than ACGT, ascending."""
    found = set()
    for text in texts:
        upper = text.upper()
        for at in range(len(upper) - k + 1):
            kmer = upper[at : at + k]
            if set(kmer) <= set("ACGT"):
                found.add(murmur3_x64_128(min(kmer, reverse_complement(kmer)).encode(), seed))
    return sorted(found)


def mash_shared(one: list[int], other: list[int], size: int) -> tuple[int, int]:
    """Return the hashes shared and compared by Mash's rule: of the union's least ``size``, those in both."""
    union = sorted({*one, *other})[:size]
    return len({*one} & {*other} & {*union}), len(union)
