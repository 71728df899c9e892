"""Chimeric fragments, letter by letter in plain Python."""

from __future__ import annotations

from collections import Counter

from tests.oracles.kmers import reverse_complement


def windows(text: str, k: int) -> list[str]:
    return [min(own, reverse_complement(own)) for own in (text[i : i + k] for i in range(len(text) - k + 1))]


def count_chimeric_fragments(texts: list[str], inserts: dict[int, int], k: int, *, many: int = 10) -> tuple[int, int]:
    """Count fragments with a k-mer of many reads, and those with a k-mer of two reads between two such.

    ``inserts`` has the bases of the fragment for the number of each first mate that overlaps its second.
    """
    count = Counter(own for text in texts for own in windows(text, k))
    judged = chimeric = 0
    for first, insert in inserts.items():
        other = reverse_complement(texts[first + 1])
        both = texts[first][max(0, insert - len(other)) : insert]
        same = other[max(0, len(other) - insert) :][: len(both)]
        depth = [count[own] for own in windows(both, k)]
        covered = [i for i, n in enumerate(depth) if n >= many]
        judged += bool(covered)
        own = [i for i, n in enumerate(depth) if n == 2 and both[i : i + k] == same[i : i + k]]
        chimeric += bool(covered) and any(covered[0] < i < covered[-1] for i in own)
    return judged, chimeric
