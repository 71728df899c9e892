"""Unitigs of two programs as sets: the same text whatever strand, and whatever base of a circle, was written first."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_COMPLEMENT = str.maketrans("ACGT", "TGCA")


def reverse_complement(text: str) -> str:
    return text.translate(_COMPLEMENT)[::-1]


def read_fasta(path: Path) -> Iterator[str]:
    """Yield the sequences of a FASTA file in upper case."""
    lines: list[str] = []
    with path.open() as file:
        for line in file:
            if line.startswith(">"):
                if lines:
                    yield "".join(lines).upper()
                lines = []
            else:
                lines.append(line.strip())
    if lines:
        yield "".join(lines).upper()


def canonical_unitigs(sequences: Iterable[str], k: int) -> Counter[str]:
    """Count the unitigs, each on the strand whose text is the lesser, and each circle at its least rotation.

    A unitig is a circle where its first k - 1 bases are its last as well and no other unitig begins or ends with them.
    """
    kept = list(sequences)
    ends: Counter[str] = Counter()
    for text in kept:
        ends[_lesser_strand(text[: k - 1])] += 1
        ends[_lesser_strand(text[1 - k :])] += 1
    return Counter(_canonical(text, k, ends) for text in kept)


def _lesser_strand(text: str) -> str:
    return min(text, reverse_complement(text))


def _canonical(text: str, k: int, ends: Counter[str]) -> str:
    closes = len(text) > k - 1 and text[: k - 1] == text[1 - k :]
    if not closes or ends[_lesser_strand(text[: k - 1])] != 2:
        return _lesser_strand(text)
    once = text[: 1 - k]
    return "circle:" + min(least_rotation(once), least_rotation(reverse_complement(once)))


def least_rotation(text: str) -> str:
    """Return the rotation of a text that is the first in the order of the alphabet (Booth 1980)."""
    n, i, j, same = len(text), 0, 1, 0
    repeated = text + text
    while i < n and j < n and same < n:
        a, b = repeated[i + same], repeated[j + same]
        if a == b:
            same += 1
            continue
        if a > b:
            i += same + 1
        else:
            j += same + 1
        j += i == j
        same = 0
    first = min(i, j)
    return repeated[first : first + n]


@dataclass(frozen=True)
class UnitigSet:
    """Unitigs in canonical form, and the figures that two sets are compared by."""

    k: int
    unitigs: Counter[str]

    @classmethod
    def read(cls, path: Path, k: int) -> UnitigSet:
        return cls(k, canonical_unitigs(read_fasta(path), k))

    def figures(self) -> dict[str, Any]:
        """Return number, circles, bases, k-mers, longest, and the sha256 of the sorted set, a unitig a line."""
        lengths = [self._length(text) for text in self.unitigs.elements()]
        digest = hashlib.sha256("\n".join(sorted(self.unitigs.elements())).encode())
        return {
            "unitigs": len(lengths),
            "circles": sum(count for text, count in self.unitigs.items() if text.startswith("circle:")),
            "bases": sum(lengths),
            "kmers": sum(lengths) - (self.k - 1) * len(lengths),
            "longest": max(lengths, default=0),
            "sha256": digest.hexdigest(),
        }

    def only_here(self, other: UnitigSet) -> list[str]:
        """Return the unitigs that the other set lacks, longest first."""
        return sorted((self.unitigs - other.unitigs).elements(), key=lambda text: (-len(text), text))

    def _length(self, text: str) -> int:
        return len(text) - len("circle:") + self.k - 1 if text.startswith("circle:") else len(text)
