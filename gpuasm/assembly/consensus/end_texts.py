"""End texts: what reads say beyond the dead ends of a graph, and where two such texts overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.carrying.crossing import OnUnitigs
from gpuasm.assembly.consensus.end_extension import vote
from gpuasm.assembly.consensus.overhangs import Overhangs
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, copy_oriented
from gpuasm.parallel import compiled
from gpuasm.sequence.encoding import BASES_PER_WORD, reverse_complement
from gpuasm.sequence.reads import Reads

_MOST_PLACES = 16
"""A word at more ends than so tells none of them from another."""
_ROWS_AT_A_TIME = 1 << 16
MISMATCH = 4
"""What a base that differs costs, near the ends of reads mostly: itself, and as many as tell where it is."""


@dataclass(frozen=True)
class Overlaps:
    """Ends whose texts overlap.

    Attributes
    ----------
    end, other : (n,) int64
        Oriented unitigs.
    size : (n,) int64
        Bases that overlap.
    gap : (n,) int64
        Bases between the two unitigs; below 0 where these overlap themselves.
    score : (n,) int64
        Bases that agree, less what those cost that differ.
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
        """Return the chosen ones (a mask)."""
        return Overlaps(*(own[chosen] for own in vars(self).values()))


@dataclass(frozen=True)
class EndTexts:
    """The text at each dead end: bases of its unitig, and what was voted beyond it.

    Attributes
    ----------
    end : (n,) int64
        Oriented unitigs, ascending.
    codes : (total,) uint8
        The text of each, outwards.
    start : (n + 1,) int64
    beyond : (n,) int64
        How many of its bases were voted.
    k : int
    """

    end: np.ndarray
    codes: np.ndarray
    start: np.ndarray
    beyond: np.ndarray
    k: int

    @classmethod
    def of(cls, reads: Reads, laid: OnUnitigs, graph: UnitigGraph) -> EndTexts:
        """Let reads vote beyond every dead end, and take as many bases of the unitig as reads are long."""
        is_dead = (np.diff(graph.arc_start) == 0) & ~np.repeat(graph.is_circular, 2)
        overhangs = Overhangs.joined([_overhangs(reads, laid, graph, is_dead, side=side) for side in (0, 1)])
        reach = int(reads.length.max()) if reads.n_pieces else 0
        return cls.voted(graph, np.flatnonzero(is_dead), overhangs, reach=reach)

    @classmethod
    def voted(cls, graph: UnitigGraph, end: np.ndarray, overhangs: Overhangs, *, reach: int) -> EndTexts:
        """Let overhangs vote beyond the given ends, and take ``reach`` bases of the unitig."""
        found = vote(overhangs, n_single=reach)
        beyond = np.zeros(end.size, np.int64)
        beyond[np.searchsorted(end, found.end)] = [own.size for own in found.codes]
        size = np.minimum(graph.length[end >> 1], reach) + beyond
        start = np.concatenate([[0], np.cumsum(size)])
        codes = np.empty(int(start[-1]), np.uint8)
        _spell_inside(end, (graph.bases, graph.start), start, beyond, codes)
        last = np.repeat(np.cumsum(beyond) - start[1:], beyond)
        codes[np.arange(last.size) - last] = np.concatenate([np.empty(0, np.uint8), *found.codes])
        return cls(end, codes, start, beyond, graph.k)

    def text(self, i: int) -> np.ndarray:
        return self.codes[self.start[i] : self.start[i + 1]]

    def overlaps(self, least: int) -> Overlaps:
        """Return the overlaps that score at least so much, each from both sides."""
        a, b, size = self._candidates(least)
        score = np.empty(size.size, np.int64)
        _score(a, b, size, self.codes, self.start, score)
        a, b, size, score = (own[score >= least] for own in (a, b, size, score))
        return Overlaps(self.end[a], self.end[b], size, self.beyond[a] + self.beyond[b] - size, score)

    def _candidates(self, least: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return texts that share a word, the second read towards its unitig, and how many bases overlap then.

        A word is as long as hardly any two of all texts share by chance, but no longer than must agree anyhow.
        """
        size = np.diff(self.start)
        n_windows = int(np.minimum(size, self.beyond + self.k).sum())
        m = max(least * 3 // 4, min(least, int(np.ceil(np.log(max(1, n_windows)) / np.log(4)))))
        forward, backward, owner, at = self._windows(m)
        order, asked = np.argsort(forward, kind="stable"), np.argsort(backward)
        low, high = np.empty(owner.size, np.int64), np.empty(owner.size, np.int64)
        # Questions in order go over the memory once.
        low[asked], high[asked] = (np.searchsorted(forward[order], backward[asked], side) for side in ("left", "right"))
        high = np.where(high - low > _MOST_PLACES, low, high)
        second = np.repeat(np.arange(owner.size), high - low)
        first = order[np.repeat(low - np.cumsum(high - low) + (high - low), high - low) + np.arange(second.size)]
        a, b = owner[first], owner[second]
        # A window at p of b stands at size - m - p of b read towards its unitig.
        overlap = size[a] - at[first] + size[b] - m - at[second]
        possible = (a != b) & (overlap <= np.minimum(size[a], size[b]))
        a, b, overlap = a[possible], b[possible], overlap[possible]
        order = np.lexsort((overlap, b, a))
        a, b, overlap = a[order], b[order], overlap[order]
        is_new = (np.diff(a) != 0) | (np.diff(b) != 0) | (np.diff(overlap) != 0)
        is_first = np.concatenate([[True], is_new])[: a.size]
        return a[is_first], b[is_first], overlap[is_first]

    def _windows(self, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return key on both strands, text and place of all windows of m bases in a unitig's last k or beyond."""
        size = np.diff(self.start)
        first = np.maximum(0, size - self.beyond - self.k)
        count = np.maximum(0, size - first - m + 1)
        owner = np.repeat(np.arange(size.size), count)
        at = np.arange(owner.size) - np.repeat(np.cumsum(count) - count, count) + first[owner]
        position = self.start[owner] + at
        forward, backward = np.zeros(position.size, np.uint64), np.zeros(position.size, np.uint64)
        for i in range(m):
            forward = (forward << np.uint64(2)) | self.codes[position + i].astype(np.uint64)
            backward = (backward << np.uint64(2)) | (3 - self.codes[position + m - 1 - i]).astype(np.uint64)
        return forward, backward, owner, at

    def between(self, end: int, other: int, overlap: int) -> np.ndarray:
        """Return the text from the last k bases of one unitig to the first k of the other."""
        a, b = np.searchsorted(self.end, [end, other]).tolist()
        own, towards = self.text(a), reverse_complement(self.text(b))
        begin = own.size - int(self.beyond[a]) - self.k
        middle = (overlap + 1) // 2
        return np.concatenate(
            [own[begin : own.size - overlap + middle], towards[middle : int(self.beyond[b]) + self.k]]
        )


@compiled()
def _spell_inside(end, bases_of, text_start, beyond, codes):
    """Write the bases of its unitig to the front of each end's text, outwards."""
    bases, start = bases_of
    for i in range(end.size):
        unitig, is_left = end[i] >> 1, end[i] & 1 == 1
        n = text_start[i + 1] - text_start[i] - beyond[i]
        first = start[unitig] if is_left else start[unitig + 1] - n
        copy_oriented(bases, first, n, is_left, codes, text_start[i])


@compiled()
def _score(one, other, overlap, codes, start, score):
    """Count what agrees of texts and others read towards their unitigs, less what differs costs."""
    for i in range(one.size):
        last, first = start[other[i] + 1] - 1, start[one[i] + 1] - overlap[i]
        score[i] = overlap[i]
        for j in range(overlap[i]):
            if codes[first + j] != 3 - codes[last - j]:
                score[i] -= MISMATCH


def _overhangs(reads: Reads, laid: OnUnitigs, graph: UnitigGraph, is_dead: np.ndarray, *, side: int) -> Overhangs:
    """Return what hangs over dead ends: the ends that reads run towards (side 0), or those behind them (1)."""
    xp, k = array_namespace(reads.words), graph.k
    length = to_namespace(xp, graph.length)
    oriented = xp.maximum(laid.oriented if side else laid.last_oriented, 0)
    beyond = -laid.base if side else laid.last_base + reads.length - length[oriented >> 1]
    dead = to_namespace(xp, is_dead)[oriented ^ side]
    rows = xp.flatnonzero((laid.oriented >= 0) & (beyond > 0) & (beyond <= reads.length - k) & dead)
    some = (rows[i : i + _ROWS_AT_A_TIME] for i in range(0, int(rows.size), _ROWS_AT_A_TIME))
    return Overhangs.joined(
        [_spelled(reads, graph, (own, oriented[own] ^ side, beyond[own]), side=side) for own in some]
    )


def _spelled(reads: Reads, graph: UnitigGraph, found: tuple[Array, Array, Array], *, side: int) -> Overhangs:
    """Spell what pieces of reads say beyond ends, of those that agree with the unitig's last k bases."""
    piece, end, beyond = found
    xp, k = array_namespace(reads.words), graph.k
    n = beyond + k
    last = xp.cumsum(n)
    row = xp.searchsorted(last, xp.arange(int(last[-1]), dtype=np.int64), side="right")
    j = xp.arange(row.size) - (last - n)[row]
    position = reads.start[piece][row] + (n[row] - 1 - j if side else reads.length[piece][row] - n[row] + j)
    shift = (62 - 2 * (position % BASES_PER_WORD)).astype(np.uint64)
    codes = ((reads.words[position // BASES_PER_WORD] >> shift) & np.uint64(3)).astype(np.uint8)
    codes = to_host(3 - codes if side else codes)
    ends, n, first = to_host(end).astype(np.int64), to_host(n), to_host(last - n)
    agrees = (codes[first[:, None] + np.arange(k)] == _last_bases(graph, ends, k)).all(axis=1)
    is_beyond = np.arange(codes.size) - np.repeat(first, n) >= k
    inside = to_host(reads.length[piece] - beyond).astype(np.int64)
    return Overhangs(ends, n - k, inside, codes[is_beyond]).where(agrees)


def _last_bases(graph: UnitigGraph, end: np.ndarray, n: int) -> np.ndarray:
    """Return the last n bases of oriented unitigs: (ends, n) uint8."""
    turned = (end & 1)[:, None] == 1
    i = np.arange(n)
    own = np.where(turned, graph.start[end >> 1][:, None] + n - 1 - i, graph.start[(end >> 1) + 1][:, None] - n + i)
    return np.where(turned, 3 - graph.bases[own], graph.bases[own])
