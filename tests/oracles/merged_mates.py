"""Fragments of mates that overlap, letter by letter in plain Python."""

from __future__ import annotations

from tests.oracles.kmers import reverse_complement


def fragment(first: str, second: str, k: int) -> str | None:
    """Return the fragment of two mates with one overlap of at least k bases; None where there is none.

    One of twenty bases may differ; a second overlap of half as many bases makes it ambiguous.
    """
    flipped = reverse_complement(second)
    overlaps = []
    for size in range(k, len(first) + len(second) - k + 1):
        shift = size - len(flipped)
        both = range(max(0, shift), min(size, len(first)))
        wrong = sum(first[x] != flipped[x - shift] for x in both)
        if len(both) >= k and wrong <= len(both) // 20:
            overlaps.append((len(both), -size))
    if not overlaps:
        return None
    overlaps.sort(reverse=True)
    if len(overlaps) > 1 and 2 * overlaps[1][0] >= overlaps[0][0]:
        return None
    size = -overlaps[0][1]
    shift = size - len(flipped)
    return "".join(
        first[x] if x < len(first) and (2 * x < size or x < shift) else flipped[x - shift] for x in range(size)
    )
