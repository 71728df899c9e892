"""Unitigs by walking a set of text k-mers."""

from __future__ import annotations

from tests.oracles.kmers import canonical, reverse_complement


def overlap_successors(kmers: set[str], kmer: str) -> list[str]:
    return [kmer[1:] + b for b in "ACGT" if canonical(kmer[1:] + b) in kmers]


def unitigs(kmers: set[str], successors=None) -> list[tuple[str, bool]]:
    """Return (canonical text, is circular) of each unitig of a set of canonical k-mers, sorted."""
    follow = successors or (lambda kmer: overlap_successors(kmers, kmer))

    def forced(kmer: str) -> str | None:
        out = follow(kmer)
        if len(out) != 1 or out[0] == reverse_complement(kmer):
            return None
        back = follow(reverse_complement(out[0]))
        return out[0] if len(back) == 1 else None

    found, seen = [], set()
    for kmer in sorted(kmers):
        if kmer in seen:
            continue
        start, is_circular = kmer, False
        while (before := forced(reverse_complement(start))) is not None:
            start = reverse_complement(before)
            if start == kmer:
                is_circular = True
                break
        text, at = start, start
        seen.add(canonical(start))
        while (after := forced(at)) is not None and canonical(after) not in seen:
            seen.add(canonical(after))
            text, at = text + after[-1], after
        found.append(
            (canonical_circle(text, len(kmer)) if is_circular else canonical_linear(text, len(kmer)), is_circular)
        )
    return sorted(found)


def canonical_linear(text: str, k: int) -> str:
    flipped = reverse_complement(text)
    return text if text[:k] < flipped[:k] else flipped


def canonical_circle(text: str, k: int) -> str:
    circle = text[: len(text) - k + 1]
    rotations = []
    for strand in (circle, reverse_complement(circle)):
        repeated = strand * (2 + k // len(strand))
        rotations += [repeated[i : i + len(circle) + k - 1] for i in range(len(circle))]
    return min(rotations, key=lambda t: t[:k])
