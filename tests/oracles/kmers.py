"""k-mers as text."""

from __future__ import annotations

from collections import Counter

_COMPLEMENT = str.maketrans("ACGT", "TGCA")


def reverse_complement(text: str) -> str:
    return text.translate(_COMPLEMENT)[::-1]


def canonical(kmer: str) -> str:
    return min(kmer, reverse_complement(kmer))


def pieces(read: str) -> list[str]:
    cleaned = "".join(letter if letter in "ACGT" else " " for letter in read.upper().replace("U", "T"))
    return cleaned.split()


def windows(reads: list[str], k: int):
    for read in reads:
        for piece in pieces(read):
            for i in range(len(piece) - k + 1):
                yield piece[i : i + k]


def count_kmers(reads: list[str], k: int) -> Counter:
    return Counter(canonical(window) for window in windows(reads, k))


def count_followers(reads: list[str], k: int) -> Counter:
    """Count (oriented k-mer, next base) over both strands; each (k + 1)-mer counts for itself and for its twin."""
    counts: Counter = Counter()
    for edge in windows(reads, k + 1):
        counts[edge[:k], edge[k]] += 1
        twin = reverse_complement(edge)
        counts[twin[:k], twin[k]] += 1
    return counts
