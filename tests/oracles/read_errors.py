"""Substitutions in reads, corrected one base at a time along a set of k-mers and the edges between them."""

from __future__ import annotations

from tests.oracles.kmers import reverse_complement

AGREEING = 16


def corrected(text: str, kmers: set[str], edges: set[str]) -> str:
    """Return a read corrected from its left to its right, then from its right to its left.

    ``kmers`` and ``edges``, of k and k + 1 bases, are there on both strands.
    """
    k = len(next(iter(kmers)))
    own = (text[i : i + k] for i in range(len(text) - k + 1))
    text, windows = _rightwards(text, [window if window in kmers else None for window in own], edges, k=k)
    backwards = [window and reverse_complement(window) for window in reversed(windows)]
    return reverse_complement(_rightwards(reverse_complement(text), backwards, edges, k=k)[0])


def _rightwards(text: str, windows: list[str | None], edges: set[str], *, k: int) -> tuple[str, list[str | None]]:
    bases, windows, before = list(text), list(windows), None
    for i in range(len(windows)):
        if windows[i] is None and before is not None:
            at = i + k - 1
            base: str | None = bases[at]
            if before + bases[at] not in edges:
                unnamed = windows[i : i + k]
                may = [b for b in "ACGT" if before + b in edges and _agrees(before[1:] + b, bases[at + 1 :], edges)]
                base = may[0] if len(may) == 1 and not any(unnamed) else None
            if base is not None:
                bases[at] = base
                windows[i] = before[1:] + base
        before = windows[i]
    return "".join(bases), windows


def _agrees(kmer: str, following: list[str], edges: set[str]) -> bool:
    for base in following[:AGREEING]:
        if kmer + base not in edges:
            return False
        kmer = kmer[1:] + base
    return len(following) >= AGREEING
