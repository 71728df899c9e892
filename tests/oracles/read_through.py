"""Short inserts of pairs, found letter by letter in plain Python."""

from __future__ import annotations


def reverse_complement(text: str) -> str:
    """Return the other strand of a text of A, C, G, T and N."""
    return text[::-1].translate(str.maketrans("ACGTN", "TGCAN"))


def longest_short_insert(first: list[str], second: list[str], *, least: int = 16) -> int:
    """Return the longest insert, shorter than a mate, over which the first pieces of two mates agree; -1 if none.

    Of the bases that both mates show, at least 16, one in eight may differ.
    """
    if not first or not second:
        return -1
    a, flipped = first[0], reverse_complement(second[0])
    for size in range(max(len("".join(first)), len("".join(second))) - 1, least - 1, -1):
        places = range(max(0, size - len(flipped)), min(size, len(a)))
        wrong = sum(a[i] != flipped[len(flipped) - size + i] for i in places)
        if len(places) >= least and wrong <= len(places) // 8:
            return size
    return -1
