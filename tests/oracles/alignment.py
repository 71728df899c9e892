"""Reads aligned to contigs base by base in plain Python, every k-mer a seed."""

from __future__ import annotations

from collections import Counter

from gpuasm.assembly.parameters import ALIGNMENT
from tests.oracles.kmers import reverse_complement

Placed = tuple[int, int, bool, int, int]
"""Contig, leftmost base, whether reverse-complemented, and the aligned stretch; on a circular contig it may continue
behind the last base."""


def seed_places(contigs: list[tuple[str, bool]], k: int) -> dict[str, list[tuple[int, int, bool]]]:
    """Return the places (contig, position, is_reversed) of every k-mer, for the text of both strands."""
    places: dict[str, list[tuple[int, int, bool]]] = {}
    for number, (text, circular) in enumerate(contigs):
        around = text * (2 + k // max(1, len(text)))
        windows = len(text) if circular else len(text) - k + 1
        for position in range(windows):
            kmer = around[position : position + k]
            places.setdefault(kmer, []).append((number, position, False))
            places.setdefault(reverse_complement(kmer), []).append((number, position, True))
    return places


def best_ungapped_alignment(read: str, text: str, at: int) -> tuple[int, int, int]:
    """Return begin, end (in the text) and mismatches of the stretch with the highest score, the first of several."""
    low, high = max(0, -at), min(len(read), len(text) - at)
    same = [read[i] == text[at + i] for i in range(low, high)]
    best, found = 0, (at + low, at + low, 0)
    for first in range(len(same)):
        score = wrong = 0
        for last in range(first, len(same)):
            score += 1 if same[last] else -4
            wrong += not same[last]
            if score > best:
                best, found = score, (at + low + first, at + low + last + 1, wrong)
    return found


def align_first(read: str, contigs: list[tuple[str, bool]], k: int) -> Placed | None:
    """Return where the read's first k-mer that occurs at one place gives, or None where there is none."""
    places = seed_places(contigs, k)
    windows = list(range(len(read) - k + 1))
    if reverse_complement(read) < read:
        windows.reverse()
    for i in windows:
        found = places.get(read[i : i + k], [])
        if len(found) == 1:
            return _align_at(read, contigs, (*found[0], i), k)
    return None


def _align_at(read: str, contigs: list[tuple[str, bool]], seed: tuple[int, int, bool, int], k: int) -> Placed | None:
    number, position, is_reversed, i = seed
    text, circular = contigs[number]
    at = position - (len(read) - k - i if is_reversed else i)
    if circular:
        at %= len(text)
        text *= 2 + len(read) // len(text)
    own = reverse_complement(read) if is_reversed else read
    begin, end, wrong = best_ungapped_alignment(own, text, at)
    if end - begin - 5 * wrong < ALIGNMENT.alignment_min_score or 12 * wrong > end - begin:
        return None
    return number, at, is_reversed, begin, end


def depth_of(placed: list[Placed], contigs: list[tuple[str, bool]]) -> list[list[int]]:
    """Return the number of aligned stretches over each base."""
    counts = [Counter() for _ in contigs]
    for number, _, _, begin, end in placed:
        size = len(contigs[number][0])
        counts[number].update(position % size for position in range(begin, end))
    return [[own[i] for i in range(len(text))] for own, (text, _) in zip(counts, contigs, strict=True)]
