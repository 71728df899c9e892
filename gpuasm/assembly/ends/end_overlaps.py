"""Overlaps of dead ends: of the consensus of all ends by seeds, and of two given ends.

Two ends overlap if one sequence and the reverse complement of the other agree. All overlaps of a sufficient score are
found by the windows that both sequences contain. The windows of one overlap are one run or a few; it is scored at the
first window of each. Of two given ends, each overlap length is scored.

Linked ends overlap exactly, by fewer than k - 1 bases, where no read spans the junction; pairs state the distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpuasm.arrays import Array, to_host, to_namespace
from gpuasm.assembly.alignment.ungapped import mismatch_mask
from gpuasm.assembly.ends.dead_ends import EndSequences
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, last_codes
from gpuasm.assembly.pairs.link_evidence import Gap
from gpuasm.assembly.parameters import ENDS
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import compiled, for_each, inlined, signatures
from gpuasm.primitives.counting import count_ones
from gpuasm.primitives.row_of_edge import row_of_edge
from gpuasm.primitives.runs import run_bounds
from gpuasm.sequence.encoding import base_at, block_at, pack

_MISMATCH_COST = ENDS.overlap_mismatch_cost
_KEY_BITS = 64
_MAX_ENDS = ENDS.overlap_seed_max_ends


@dataclass(frozen=True)
class Overlaps:
    """Ends whose sequences overlap.

    Attributes
    ----------
    end, other : (n,) int64
        Oriented unitigs.
    size : (n,) int64
        Overlapping bases.
    gap : (n,) int64
        Bases between the two unitigs; negative where the unitigs overlap.
    score : (n,) int64
        Matches, less the cost of each mismatch.
    """

    end: np.ndarray
    other: np.ndarray
    size: np.ndarray
    gap: np.ndarray
    score: np.ndarray

    @property
    def n(self) -> int:
        return int(self.end.size)

    def where(self, chosen: np.ndarray) -> Overlaps:
        """Select overlaps by a mask."""
        return Overlaps(*(own[chosen] for own in vars(self).values()))


def find_overlaps(texts: EndSequences, least: int, *, xp: Any) -> Overlaps:
    """Return the overlaps of at least a given score (at least 1), each from both sides, by end, other end and size."""
    seeds = _Seeds.of(texts, least, xp=xp)
    every, nothing = xp.arange(seeds.owner.size), xp.empty(0, np.int64)
    count = xp.zeros_like(every)
    _find_overlaps(int(every.size), every, seeds, least, 0, count, *(nothing,) * 4)
    rows = xp.flatnonzero(count)
    last = xp.cumsum(count[rows])
    n = int(last[-1]) if rows.size else 0
    found = [xp.empty(n, np.int64) for _ in range(4)]
    _find_overlaps(int(rows.size), rows, seeds, least, n, last - count[rows], *found)
    rows = np.stack([to_host(column) for column in found])
    rows = rows[:, np.lexsort(rows[2::-1])]
    a, b, size, score = rows[:, (np.diff(rows[:3], axis=1, prepend=-1) != 0).any(axis=0)]
    return Overlaps(texts.end[a], texts.end[b], size, texts.beyond[a] + texts.beyond[b] - size, score)


def unambiguous_overlaps(found: Overlaps) -> Overlaps:
    """Return the overlaps of ends that overlap with no other end."""
    rows, times = np.unique(np.concatenate([found.end, found.other]), return_counts=True)
    several = rows[times > 2]  # every overlap is listed from both sides
    return found.where(~np.isin(found.end, several) & ~np.isin(found.other, several))


class _Seeds(NamedTuple):
    """The windows in the last k bases of unitigs or beyond, sorted so that each is next to its reverse complements.

    Attributes
    ----------
    packed : (n_blocks,) uint64
        The text of all sequences.
    start : (n_ends + 1,) int64
        Where each sequence starts in it.
    shift : (n_ends,) int64
        The position of a window in the text is its number and the shift of its sequence.
    owner : (n,) int32
        The sequence of each window; ascending.
    numbers : (n,) int64
        The windows, by the lesser strand of their bases, then by that strand.
    run : (n,) int32
        The run of equal windows that each of ``numbers`` belongs to.
    first, n_reversed : (n_runs,) int64
        The reverse complements of a run are in ``numbers`` from the first on; their number is 0 if they are so frequent
        that they do not distinguish ends.
    n_others : (n + 1,) int32
        Their number for each window; 0 at the end.
    m : int
        Bases of a window.
    """

    packed: Array
    start: Array
    shift: Array
    owner: Array
    numbers: Array
    run: Array
    first: Array
    n_reversed: Array
    n_others: Array
    m: int

    @classmethod
    def of(cls, texts: EndSequences, least: int, *, xp: Any) -> _Seeds:
        size = np.diff(texts.start)
        outer = np.minimum(size, texts.beyond + texts.k)
        m = _seed_length(int(outer.sum()), least)
        offset = np.concatenate([[0], np.cumsum(np.maximum(0, outer - m + 1))])
        shift = texts.start[1:] - outer - offset[:-1]
        packed, start, shift, offset = (to_namespace(xp, a) for a in (pack(texts.codes), texts.start, shift, offset))
        owner = row_of_edge(offset)
        n = int(owner.size)
        # A window's bases and its number are sorted as one integer.
        number_bits = np.uint64(n.bit_length())
        keys = xp.empty(n, np.uint64)
        _read_seeds(n, owner, shift, packed, m, number_bits, keys)
        keys = xp.sort(keys)
        numbers = (keys & ((np.uint64(1) << number_bits) - np.uint64(1))).astype(np.int64)
        keys >>= number_bits
        begin = run_bounds(keys)
        run, n_runs = row_of_edge(begin), int(begin.size) - 1
        first, n_reversed = xp.empty(n_runs, np.int64), xp.empty(n_runs, np.int64)
        _find_reverse_complements(n_runs, begin, keys, m, n_runs, first, n_reversed)
        n_others = xp.zeros(n + 1, np.int32)
        n_others[numbers] = n_reversed[run]
        return cls(packed, start, shift, owner, numbers, run, first, n_reversed, n_others, m)


def _seed_length(n_windows: int, least: int) -> int:
    """Return the bases of seeds: random sequences hardly share one, but every sufficient overlap contains one."""
    by_chance = int(np.ceil(np.log(max(1, n_windows)) / np.log(4)))
    m = max(least * (_MISMATCH_COST - 1) // _MISMATCH_COST, min(least, by_chance))
    return max(1, min(m, (_KEY_BITS - 1 - n_windows.bit_length()) // 2))


@signatures("int32[::1], int64[::1], uint64[::1], int64, uint64, uint64[::1]")
@for_each
def _read_seeds(w, owner, shift, packed, m, number_bits, keys):
    forward = block_at(packed, w + shift[owner[w]]) >> np.uint64(64 - 2 * m)
    backward = reverse_complement_plain(forward, m)
    key = min(forward, backward) << np.uint64(1)
    if backward < forward:
        key |= np.uint64(1)
    keys[w] = (key << number_bits) | np.uint64(w)


@signatures("int64[::1], uint64[::1], int64, int64, int64[::1], int64[::1]")
@for_each
def _find_reverse_complements(g, begin, keys, m, n_runs, first, count):
    key = keys[begin[g]]
    kmer = key >> np.uint64(1)
    other = key if reverse_complement_plain(kmer, m) == kmer else key ^ np.uint64(1)
    own = g + np.int64(other > key) - np.int64(other < key)
    first[g], count[g] = 0, 0
    if own >= 0 and own < n_runs and keys[begin[own]] == other:
        n = begin[own + 1] - begin[own]
        first[g] = begin[own]
        count[g] = n if n <= _MAX_ENDS else 0


@inlined()
def _overlap_at(w, i, seeds, least):
    """Return size and score of the overlap at window w of one sequence and window i of another.

    The score is 0 if it is below the least, or if the windows before these are of the same overlap.
    """
    a, b = seeds.owner[i], seeds.owner[w]
    at, its = i + seeds.shift[a], w + seeds.shift[b]
    end, its_end = seeds.start[a + 1], seeds.start[b + 1]
    size = end - at + its_end - its - seeds.m
    if a == b or size > min(end - seeds.start[a], its_end - seeds.start[b]):
        return size, np.int64(0)
    is_before = i > 0 and seeds.owner[i - 1] == a and seeds.n_others[w + 1] > 0 and seeds.owner[w + 1] == b
    if is_before and base_at(seeds.packed, at - 1) == np.uint64(3) - base_at(seeds.packed, its + seeds.m):
        return size, np.int64(0)
    score, j = size, np.int64(0)
    while j < size and score >= least:
        differs = mismatch_mask(seeds.packed, its_end - size, size, 1, j, seeds.packed, end - size)
        score -= _MISMATCH_COST * count_ones(differs)
        j += 32
    return size, score if score >= least else np.int64(0)


@signatures(
    "int64[::1], uint64[::1], int64[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], int64[::1], "
    "int32[::1], int64, int64, int64, int64[::1], int64[::1], int64[::1], int64[::1], int64[::1]"
)
@for_each
def _find_overlaps(f, rows, seeds: _Seeds, least, n_places, place, one, other, sizes, scores):
    """Write the overlaps at a window from its place on, if there are places, and move the place by their number."""
    own, run, at = seeds.numbers[rows[f]], seeds.run[rows[f]], place[f]
    for j in range(seeds.first[run], seeds.first[run] + seeds.n_reversed[run]):
        size, score = _overlap_at(own, seeds.numbers[j], seeds, least)
        if score > 0 and at < n_places:
            one[at], other[at] = seeds.owner[seeds.numbers[j]], seeds.owner[own]
            sizes[at], scores[at] = size, score
        at += 1 if score > 0 else 0
    place[f] = at


def overlap_lengths(own: np.ndarray, towards: np.ndarray, *, least: int) -> np.ndarray:
    """Return how many bases the end of one sequence may share with the beginning of another: (n,) int64, ascending.

    ``least`` is the least score of an overlap, at least 1: its matches, less the cost of each mismatch.
    """
    is_overlap = np.empty(max(0, min(own.size, towards.size) + 1 - least), bool)
    _mark_overlaps(np.ascontiguousarray(own), np.ascontiguousarray(towards), least, is_overlap)
    return least + np.flatnonzero(is_overlap)


@signatures("uint8[::1], uint8[::1], int64, boolean[::1]")
@compiled()
def _mark_overlaps(own, towards, least, is_overlap):
    """Mark each number of bases, from the least on, at which the end of one text and the other's beginning overlap."""
    for row in range(is_overlap.size):
        size = least + row
        score = size
        for at in range(size):
            score -= _MISMATCH_COST if own[own.size - size + at] != towards[at] else 0
            if score < least:
                break
        is_overlap[row] = score >= least


def find_linked_overlaps(graph: UnitigGraph, gap: Gap) -> list[int]:
    """Return the numbers of bases that two dead ends may share exactly at the distance that pairs state.

    0 is included where other overlaps cannot be excluded.
    """
    own, towards = last_codes(graph, gap.source, graph.k), 3 - last_codes(graph, gap.target ^ 1, graph.k)[::-1]
    least = max(ENDS.linked_min_overlap, -gap.size - gap.spread)
    most = min(graph.k - 2, gap.spread - gap.size, own.size, towards.size)
    found = [n for n in range(least, most + 1) if np.array_equal(own[own.size - n :], towards[:n])]
    # Units of a tandem repeat may be missing between the ends, or one end may have additional units.
    distances = [(n, d) for n in found for d in distances_of_repeats(graph, gap.source, gap.target, n)]
    is_open = any(gap.fits(shift) for n, d in distances for shift in (d - n, -d - n))
    return [*found, 0] if is_open else found


def distances_of_repeats(graph: UnitigGraph, source: int, target: int, overlap: int) -> list[int]:
    """Return the distances from the overlap of two oriented unitigs to its other occurrences near either end."""
    found = []
    for tail in (last_codes(graph, source, 2 * graph.k), 3 - last_codes(graph, target ^ 1, 2 * graph.k)):
        windows = np.lib.stride_tricks.sliding_window_view(tail, overlap)
        again = np.flatnonzero((windows == tail[-overlap:]).all(axis=1))
        found += [tail.size - overlap - at for at in again[:-1].tolist()]
    return found
