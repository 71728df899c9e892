"""Select the reads that may contain an adapter: those with an exact match of one of its seeds at a possible position.

If an adapter with e errors is cut into e + 1 seeds, at least one seed matches exactly (pigeonhole principle, as in the
prefilter of cutadapt, doi:10.14806/ej.17.1.200). All threads filter; only reads that pass are decoded to text and
aligned.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gpuasm.io.adapters import name_of
from gpuasm.io.read_through import first_segment_of_reads, window
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.reads import Reads
from gpuasm.threads import run_chunks

_BEGIN = 5
"""First bases of a seed, by which it is looked up; no seed is shorter."""
_BEGINS_A_WINDOW = 32 - _BEGIN + 1
_ANYWHERE = np.iinfo(np.int32).max
_LONGEST = 32


@dataclass(frozen=True)
class Seeds:
    """Seeds of adapters, sorted by their first five bases.

    Attributes
    ----------
    first : (1025,) int32
        Index of the first seed that begins with each five bases; the last entry is the number of seeds.
    name : (n,) uint64
        The bases of each seed, from the highest bits on.
    size, least, most : (n,) int32
        Bases of the seed; least and most bases of a read from the first base of the seed on.
    """

    first: np.ndarray
    name: np.ndarray
    size: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @classmethod
    def of(cls, adapters: list[str], *, error_rate: float, shortest: int) -> Seeds:
        """Return the seeds of adapters that lie within a read, or overlap its end by at least ``shortest`` bases."""
        places: dict[str, tuple[int, int]] = {}
        for adapter in adapters:
            for seed, least, most in _parts(adapter, error_rate, shortest):
                known = places.get(seed, (least, most))
                places[seed] = min(least, known[0]), max(most, known[1])
        seeds = sorted(places)
        name = np.array([name_of(seed) << 64 - 2 * len(seed) for seed in seeds], np.uint64)
        first = np.searchsorted(name >> np.uint64(64 - 2 * _BEGIN), np.arange(4**_BEGIN + 1)).astype(np.int32)
        numbers = np.array([(len(seed), *places[seed]) for seed in seeds], np.int32).reshape(-1, 3)
        return cls(first, name, *np.ascontiguousarray(numbers.T))


def _parts(adapter: str, error_rate: float, shortest: int) -> list[tuple[str, int, int]]:
    """Return seeds, one of which every match contains, and how many bases of a read follow from its first base on.

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


def may_contain_adapter(reads: Reads, seeds: Seeds) -> np.ndarray:
    """Return whether reads contain a seed at a possible position: (n_reads,) bool.

    Reads with an N always pass, since an N may be any base.

    Parameters
    ----------
    reads : Reads
        On the host.
    seeds
        Of adapters of ten bases or more.
    """
    found = np.zeros(reads.n_reads, np.bool_)
    text = (first_segment_of_reads(reads), reads.packed, reads.start, reads.length)
    run_chunks(_sieve, reads.n_reads, *text, seeds.first, seeds.name, seeds.size, seeds.least, seeds.most, found)
    return found


@signatures(
    "int64, int64, int64[::1], uint64[::1], int64[::1], int32[::1], int32[::1], uint64[::1], int32[::1], int32[::1], "
    "int32[::1], boolean[::1]"
)
@compiled()
def _sieve(begin, end, first_segment, packed, start, length, first, name, size, least, most, found):
    for read in range(begin, end):
        segments = first_segment[read + 1] - first_segment[read]
        segment = first_segment[read]
        found[read] = segments > 1 or (
            segments == 1 and _contains_seed(packed, start[segment], length[segment], first, name, size, least, most)
        )


@compiled()
def _contains_seed(packed, begin, n, first, name, size, least, most):
    """Return whether n bases contain a seed at a possible position."""
    top, mask = 64 - 2 * _BEGIN, np.uint64(first.size - 2)
    for at in range(0, n - _BEGIN + 1, _BEGINS_A_WINDOW):
        bases = window(packed, begin + at)
        for i in range(min(_BEGINS_A_WINDOW, n - _BEGIN + 1 - at)):
            key = bases >> np.uint64(top - 2 * i) & mask
            for seed in range(first[key], first[key + np.uint64(1)]):
                left = n - at - i
                if least[seed] <= left <= most[seed]:
                    differing = window(packed, begin + at + i) ^ name[seed]
                    if differing >> np.uint64(64 - 2 * size[seed]) == 0:
                        return True
    return False
