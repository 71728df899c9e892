"""Overlaps of the consensus sequences of dead ends: of all ends by seeds, and of two given ends.

Two ends overlap if one sequence and the reverse complement of the other agree. All overlaps of a sufficient score are
found by the windows that both sequences contain. The windows of one overlap are one run or a few; it is scored at the
first window of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, to_host, to_namespace
from gpuasm.assembly.alignment.ungapped import mismatch_mask
from gpuasm.assembly.ends.clipped_ends import AlignedEnds
from gpuasm.assembly.ends.end_sequences import EndSequences
from gpuasm.assembly.parameters import ENDS
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import compiled, for_each, inlined, signatures
from gpuasm.primitives.counting import count_ones
from gpuasm.primitives.row_of_edge import row_of_edge
from gpuasm.sequence.encoding import base_at, block_at, pack, reverse_complement

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
    """Return the overlaps of at least a given score, each from both sides, by end, other end and size.

    Parameters
    ----------
    texts
        The sequences.
    least
        The least score, at least 1: matches, less the cost of each mismatch.
    xp
        Namespace where they are found.
    """
    seeds = _Seeds.of(texts, least, xp=xp)
    n_found = xp.zeros(seeds.n, np.int32)
    search = tuple(vars(seeds).values())
    _count_overlaps(seeds.n, *search, least, n_found)
    rows = xp.flatnonzero(n_found)
    last = xp.cumsum(n_found[rows].astype(np.int64))
    one, other, size, score = (xp.empty(int(last[-1]) if rows.size else 0, np.int64) for _ in range(4))
    _list_overlaps(int(rows.size), rows, last, *search, least, one, other, size, score)
    a, b, size, score = map(to_host, (one, other, size, score))
    order = np.lexsort((size, b, a))
    a, b, size, score = (own[order] for own in (a, b, size, score))
    is_new = (np.diff(a) != 0) | (np.diff(b) != 0) | (np.diff(size) != 0)
    is_first = np.concatenate([[True], is_new])[: a.size]
    a, b, size, score = (own[is_first] for own in (a, b, size, score))
    return Overlaps(texts.end[a], texts.end[b], size, texts.beyond[a] + texts.beyond[b] - size, score)


@dataclass(frozen=True)
class _Seeds:
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
    first, count : (n_runs,) int64
        The reverse complements of a run are in ``numbers`` from the first on; the count is 0 if they are so frequent
        that they do not distinguish ends.
    n_others : (n + 1,) int32
        The count for each window; 0 at the end.
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
    count: Array
    n_others: Array
    m: int

    @property
    def n(self) -> int:
        return int(self.owner.size)

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
        is_first = xp.concatenate([xp.ones(min(1, n), bool), keys[1:] != keys[:-1]])
        run = xp.cumsum(is_first, dtype=np.int32) - np.int32(1)
        begin = xp.concatenate([xp.flatnonzero(is_first), xp.full(1, n)]).astype(np.int64)
        n_runs = int(begin.size) - 1
        first, count = xp.empty(n_runs, np.int64), xp.empty(n_runs, np.int64)
        _find_reverse_complements(n_runs, begin, keys, m, n_runs, first, count)
        n_others = xp.zeros(n + 1, np.int32)
        n_others[numbers] = count[run]
        return cls(packed, start, shift, owner, numbers, run, first, count, n_others, m)


def _seed_length(n_windows: int, least: int) -> int:
    """Return the bases of seeds: random sequences hardly share one, but every sufficient overlap contains one."""
    m = max(
        least * (_MISMATCH_COST - 1) // _MISMATCH_COST,
        min(least, int(np.ceil(np.log(max(1, n_windows)) / np.log(4)))),
    )
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
    own = g
    if other > key:
        own = g + 1
    elif other < key:
        own = g - 1
    first[g], count[g] = 0, 0
    if own >= 0 and own < n_runs and keys[begin[own]] == other:
        n = begin[own + 1] - begin[own]
        first[g] = begin[own]
        count[g] = n if n <= _MAX_ENDS else 0


@inlined()
def _overlap_at(w, i, packed, start, shift, owner, n_others, m, least):
    """Return size and score of the overlap at window w of one sequence and window i of another.

    The score is 0 if it is below the least, or if the windows before these are of the same overlap.
    """
    a, b = owner[i], owner[w]
    at, its = i + shift[a], w + shift[b]
    size = start[a + 1] - at + start[b + 1] - its - m
    if a == b or size > min(start[a + 1] - start[a], start[b + 1] - start[b]):
        return size, np.int64(0)
    is_before = i > 0 and owner[i - 1] == a and n_others[w + 1] > 0 and owner[w + 1] == b
    if is_before and base_at(packed, at - 1) == np.uint64(3) - base_at(packed, its + m):
        return size, np.int64(0)
    score, j = size, np.int64(0)
    while j < size and score >= least:
        differs = mismatch_mask(packed, start[b + 1] - size, size, 1, j, packed, start[a + 1] - size)
        score -= _MISMATCH_COST * count_ones(differs)
        j += 32
    return size, score if score >= least else np.int64(0)


@signatures(
    "uint64[::1], int64[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], int64[::1], int32[::1], "
    "int64, int64, int32[::1]"
)
@for_each
def _count_overlaps(r, packed, start, shift, owner, numbers, run, first, count, n_others, m, least, n_found):
    n = 0
    for j in range(first[run[r]], first[run[r]] + count[run[r]]):
        _, score = _overlap_at(numbers[r], numbers[j], packed, start, shift, owner, n_others, m, least)
        n += 1 if score > 0 else 0
    n_found[r] = n


@signatures(
    "int64[::1], int64[::1], uint64[::1], int64[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], "
    "int64[::1], int32[::1], int64, int64, int64[::1], int64[::1], int64[::1], int64[::1]"
)
@for_each
def _list_overlaps(
    f, rows, last, packed, start, shift, owner, numbers, run, first, count, n_others, m, least, one, other, size, score
):
    r = rows[f]
    at = last[f - 1] if f > 0 else np.int64(0)
    for j in range(first[run[r]], first[run[r]] + count[run[r]]):
        n, found = _overlap_at(numbers[r], numbers[j], packed, start, shift, owner, n_others, m, least)
        if found > 0:
            one[at], other[at], size[at], score[at] = owner[numbers[j]], owner[numbers[r]], n, found
            at += 1


@dataclass(frozen=True)
class EndOverlap:
    """Two ends whose sequences overlap.

    Attributes
    ----------
    size : int
        Bases between their unitigs; negative where the unitigs overlap.
    between : (max(size, 0),) uint8
        These bases, from the first to the second.
    """

    size: int
    between: np.ndarray


def overlap_ends(ends: AlignedEnds, one: int, other: int, *, least: int) -> EndOverlap | None:
    """Return the overlap of two ends, or None unless exactly one overlap length scores enough.

    Parameters
    ----------
    ends
        The ends with aligned reads.
    one, other
        Ends of unitigs, as in `EndSequences`.
    least
        The least score: matches, less the cost of each mismatch.
    """
    texts = ends.texts
    a, b = np.searchsorted(texts.end, [one, other]).tolist()
    own, towards = texts.text(a), reverse_complement(texts.text(b))
    overlaps = np.flatnonzero(_scores(own, towards) >= least) + 1
    if overlaps.size != 1:
        return None
    n, beyond = int(overlaps[0]), (int(texts.beyond[a]), int(texts.beyond[b]))
    differs = np.flatnonzero(own[own.size - n :] != towards[:n])
    if ENDS.overlap_matches_per_mismatch * differs.size > n:
        return None
    of_both = differs[(differs >= beyond[1]) & (differs < n - beyond[0])]
    (depth, support), (its_depth, its_support) = ends.of(a), (values[::-1] for values in ends.of(b))
    here, (most_wrong, least_right) = own.size - n + of_both, ENDS.overlap_base_reads
    is_wrong = (depth[here] > 0) & (support[here] <= most_wrong) & (its_support[of_both] >= least_right)
    is_wrong |= (its_depth[of_both] > 0) & (its_support[of_both] <= most_wrong) & (support[here] >= least_right)
    if not is_wrong.all():
        return None
    size = sum(beyond) - n
    return EndOverlap(size, _between(own, towards, beyond, size))


def has_read_across(ends: AlignedEnds, one: int, other: int, *, shared: int, flank: int) -> bool:
    """Return whether a read contains the overlap of two unitigs, and ``flank`` bases of either next to it."""
    tails = ends.tails
    for end, into in ((one, other), (other, one)):
        follows = _inwards(ends.texts, into)[shared : shared + flank]
        rows, first = ends.tails_at(end)
        first = first[(tails.inside[rows] >= shared + flank) & (tails.length[rows] >= flank)]
        bases = tails.codes[first[:, None] + np.arange(flank)]
        if follows.size == flank and (bases == follows).all(axis=1).any():
            return True
    return False


def _inwards(texts: EndSequences, end: int) -> np.ndarray:
    """Return the bases of a unitig from an end inwards, up to the read length."""
    i = int(np.searchsorted(texts.end, end))
    text = texts.text(i)
    return reverse_complement(text[: text.size - int(texts.beyond[i])])


@signatures("uint8[::1], uint8[::1]")
@compiled()
def _scores(own, towards):
    """Return the score of each overlap length of the end of one sequence with the beginning of the other."""
    scores = np.empty(min(own.size, towards.size), np.int64)
    for n in range(1, scores.size + 1):
        score = n
        for i in range(n):
            if own[own.size - n + i] != towards[i]:
                score -= _MISMATCH_COST
        scores[n - 1] = score
    return scores


def _between(own: np.ndarray, towards: np.ndarray, beyond: tuple[int, int], size: int) -> np.ndarray:
    """Return the bases of a gap: each from the nearer end, as far as its reads extend."""
    if size <= 0:
        return own[:0]
    first, second = own[own.size - beyond[0] :][:size], towards[: beyond[1]][-size:]
    n = min(first.size, max(size - second.size, (size + 1) // 2))
    return np.concatenate([first[:n], second[second.size - (size - n) :]])
