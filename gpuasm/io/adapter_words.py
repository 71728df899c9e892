"""Which reads may hold an adapter at all: those with one of its words whole, at a place where it would tell.

Of an adapter with e errors, one of any e + 1 parts has none, and is found exactly: the sieve that cutadapt
(doi:10.14806/ej.17.1.200) holds before its alignment as well. Here all threads hold it, and only the few reads that
pass, one in twenty by chance, are spelled and handed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gpuasm.io.adapters import name_of
from gpuasm.io.read_through import pieces_of_reads, window
from gpuasm.parallel import compiled, run_chunks
from gpuasm.sequence.reads import Reads

_BEGIN = 5
"""Bases of a word that are looked up; no word may be shorter."""
_BEGINS_A_WINDOW = 32 - _BEGIN + 1
_ANYWHERE = np.iinfo(np.int32).max
_LONGEST = 32


@dataclass(frozen=True)
class Words:
    """Words of adapters, ordered by their first five bases.

    Attributes
    ----------
    first : (1025,) int32
        Where the words that begin with each five bases do, and their number.
    name : (n,) uint64
        The bases of each word, from the highest bits on.
    size, least, most : (n,) int32
        How many bases it has, and how many a read has from its first one on.
    """

    first: np.ndarray
    name: np.ndarray
    size: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @classmethod
    def of(cls, adapters: list[str], *, error_rate: float, shortest: int) -> Words:
        """Return the words of adapters that end anywhere in a read, or at its end with ``shortest`` bases or more."""
        places: dict[str, tuple[int, int]] = {}
        for adapter in adapters:
            for word, least, most in _parts(adapter, error_rate, shortest):
                known = places.get(word, (least, most))
                places[word] = min(least, known[0]), max(most, known[1])
        words = sorted(places)
        name = np.array([name_of(word) << 64 - 2 * len(word) for word in words], np.uint64)
        first = np.searchsorted(name >> np.uint64(64 - 2 * _BEGIN), np.arange(4**_BEGIN + 1)).astype(np.int32)
        numbers = np.array([(len(word), *places[word]) for word in words], np.int32).reshape(-1, 3)
        return cls(first, name, *np.ascontiguousarray(numbers.T))


def _parts(adapter: str, error_rate: float, shortest: int) -> list[tuple[str, int, int]]:
    """Return words of which a match holds one, and how many bases of a read there are from its first on.

    A match of n bases may have ``int(n * error_rate)`` errors, so the shortest of each number of errors is cut into one
    part more. What follows in the read is as long as what follows in the adapter, but for insertions and deletions.
    """
    errors = [int(n * error_rate) for n in range(len(adapter) + 1)]
    found = [(part, len(part), _ANYWHERE) for part, _ in _cut(adapter, errors[-1] + 1)]
    for number in range(errors[-1] + 1):
        sizes = [n for n in range(shortest, len(adapter) + 1) if errors[n] == number]
        if number == 0:
            found += [(adapter[:n][:_LONGEST], n, n) for n in sizes]
        elif sizes:
            for part, at in _cut(adapter[: sizes[0]], number + 1):
                found.append((part, max(len(part), sizes[0] - at - number), sizes[-1] - at + number))
    return found


def _cut(text: str, n: int) -> list[tuple[str, int]]:
    """Return a text in n parts of about one size, and where each begins."""
    return [(text[a:b][:_LONGEST], a) for a, b in pairwise(len(text) * i // n for i in range(n + 1))]


def may_hold(reads: Reads, words: Words) -> np.ndarray:
    """Return whether reads hold a word where it would tell: (n_reads,) bool.

    Reads of several pieces always may: what lies between these is any base.

    Parameters
    ----------
    reads : Reads
        On the host.
    words
        Of adapters of ten bases or more.
    """
    found = np.zeros(reads.n_reads, np.bool_)
    text = (pieces_of_reads(reads), reads.words, reads.start, reads.length)
    run_chunks(_sieve, reads.n_reads, *text, words.first, words.name, words.size, words.least, words.most, found)
    return found


@compiled()
def _sieve(begin, end, first_piece, words, start, length, first, name, size, least, most, found):
    for read in range(begin, end):
        pieces = first_piece[read + 1] - first_piece[read]
        piece = first_piece[read]
        found[read] = pieces > 1 or (
            pieces == 1 and _holds_word(words, start[piece], length[piece], first, name, size, least, most)
        )


@compiled()
def _holds_word(words, begin, n, first, name, size, least, most):
    """Return whether n bases hold a word at a place where it would tell."""
    top, mask = 64 - 2 * _BEGIN, np.uint64(first.size - 2)
    for at in range(0, n - _BEGIN + 1, _BEGINS_A_WINDOW):
        bases = window(words, begin + at)
        for i in range(min(_BEGINS_A_WINDOW, n - _BEGIN + 1 - at)):
            key = bases >> np.uint64(top - 2 * i) & mask
            for word in range(first[key], first[key + np.uint64(1)]):
                left = n - at - i
                if least[word] <= left <= most[word]:
                    differing = window(words, begin + at + i) ^ name[word]
                    if differing >> np.uint64(64 - 2 * size[word]) == 0:
                        return True
    return False
