"""Local walks: close a gap by a walk through the k-mers of its local reads.

At a repeat the whole graph contains the k-mers of all copies, and where coverage is low hardly any of this copy. Local
reads are few, and most come from this copy. Their k-mers form a graph in which all walks between the two ends are
enumerated whose length agrees with the pairs, for decreasing k until there is one. Reads must support one walk against
each other walk, including walks that differ from the estimated distance by up to twice its tolerance: tandem units
differ in number only, and pairs with anchors in the wrong unit give a wrong distance. If reads do not decide,
fragments may (`fragment_choice`), among walks up to the mean of the estimate and the longest fragment.

k-mers are not counted for each k. Read positions are chained once by the hash of their first m bases; a k-mer on a walk
is looked up in its chain and compared base by base.

After Boetzer and Pirovano (2012), doi:10.1186/gb-2012-13-6-r56, and Paulino et al. (2015),
doi:10.1186/s12859-015-0663-4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np

from gpuasm.assembly.ends.fragment_choice import choose_walk
from gpuasm.assembly.graph.graph_edits import Fill
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, oriented_codes
from gpuasm.assembly.pairs.link_evidence import Gap
from gpuasm.assembly.parameters import ALIGNMENT, ENDS
from gpuasm.parallel import compiled, inlined, signatures
from gpuasm.primitives.hashing import mix


def fill_gap(
    graph: UnitigGraph,
    gap: Gap,
    reads: Sequence[tuple[bytes, int]],
    *,
    read_length: int,
    density: np.ndarray | None = None,
    flank: int = 0,
) -> Fill | None:
    """Return the fill of a gap between two dead ends, or None if no walk is certain.

    ``reads`` are its local reads in its direction, with their mates' positions; their order does not matter. Typical
    ones have ``read_length`` bases. See `choose_walk` for the others; without ``density`` fragments are not used.
    """
    source, target = (oriented_codes(graph, oriented).tobytes() for oriented in (gap.source, gap.target))
    # Bases that the two may share are trimmed from either, so that every walk has a positive length.
    cut = ENDS.local_min_trim + max(0, gap.spread - gap.size)
    reads = sorted(reads, key=lambda read: (crc32(read[0]), read))[: ENDS.local_max_reads]
    texts = [text for text, _ in reads]
    reach, packed = max(map(len, texts), default=0), LocalKmers.of(texts, ENDS.local_min_k)
    for k in range(read_length - ENDS.local_min_windows + 1, ENDS.local_min_k - 1, -ENDS.local_k_step):
        own = cut + k
        if min(len(source), len(target)) < own:
            continue
        least, most = own + cut + gap.size - gap.spread, own + cut + gap.size + gap.spread
        between = source[-own:][:k], target[cut:own]
        walks = _walks(packed, between, (least - gap.spread, most + gap.spread))
        if walks is None:
            return None
        if any(least <= len(walk) - k <= most for walk in walks):
            ends = source[-own - reach :], target[: own + reach]
            text = _supported_by_reads(texts, [ends[0][:-own] + walk + ends[1][own:] for walk in walks])
            if text is None and density is not None:
                longest = int(density.size)
                ends = source[-own - longest :], target[: own + longest]
                farthest = own + cut + gap.size + max(2 * gap.spread, (longest - gap.size) // 2)
                walks = _walks(packed, between, (least - gap.spread, farthest)) or []
                spelled = [ends[0][:-own] + walk + ends[1][own:] for walk in walks]
                sizes = len(ends[0]), len(ends[1])
                chosen = choose_walk(spelled, sizes, reads, density=density, length=read_length, flank=flank)
                text = None if chosen is None or _are_two_copies(texts, spelled, chosen) else spelled[chosen]
            if text is None or not (text.startswith(ends[0]) and text.endswith(ends[1])):
                return None
            inner = len(text) - len(ends[0]) - len(ends[1])
            return gap.filled(inner, text[len(ends[0]) :][: max(0, inner)], k=graph.k)
    return None


def _are_two_copies(reads: Sequence[bytes], texts: list[bytes], chosen: int) -> bool:
    """Return whether two reads support another walk: then fragments may have joined ends of different copies.

    Walks of one repeat differ in its units, and the correct one contains every read.
    """
    held = _reads_held(reads, texts)
    return any(len(other - held[chosen]) >= ALIGNMENT.min_votes for other in held)


def _walks(packed: LocalKmers, ends: tuple[bytes, bytes], size: tuple[int, int]) -> list[bytes] | None:
    """Return all walks of a given length range through the reads' k-mers; None if there are too many."""
    found = packed.walks(ends, size)
    return packed.walks(ends, size, least=2) if found is None else found


def _supported_by_reads(reads: Sequence[bytes], texts: list[bytes]) -> bytes | None:
    """Return the sequence that reads support against every other, or None."""
    if len(texts) == 1:
        return texts[0]
    held = _reads_held(reads, texts)
    best, *others = sorted(zip(held, texts, strict=True), key=lambda each: (len(each[0]), each[1]), reverse=True)
    for other, _ in others:
        more, less = len(best[0] - other), len(other - best[0])
        if more < ALIGNMENT.min_votes or ENDS.local_lead_ratio * less > more:
            return None
    return best[1]


def _reads_held(reads: Sequence[bytes], texts: list[bytes]) -> list[set[int]]:
    """Return the numbers of the reads that each sequence contains."""
    return [{i for i, read in enumerate(reads) if read in text} for text in texts]


_MAX_WALKS, _MAX_STEPS = ENDS.local_search_limits
_UNKNOWN = -2


class LocalKmers(NamedTuple):
    """The k-mers of reads.

    Attributes
    ----------
    codes : (total,) uint8
        The concatenated reads.
    read_end : (total,) int32
        Where the read of each base ends.
    m : int
        Bases by which positions are chained: the least k.
    head : (n_slots,) int32
        The first position of each hash, -1 where there is none; n_slots is a power of two.
    follows : (total,) int32
        The next position of the same hash; ascending.
    """

    codes: np.ndarray
    read_end: np.ndarray
    m: int
    head: np.ndarray
    follows: np.ndarray

    @classmethod
    def of(cls, reads: Sequence[bytes], m: int) -> LocalKmers:
        """Chain the positions of reads' codes, for k-mers of at least m bases."""
        codes = np.frombuffer(b"".join(reads), np.uint8)
        size = np.array([len(read) for read in reads], np.int64)
        read_end = np.repeat(np.cumsum(size), size).astype(np.int32)
        head = np.full(1 << max(4, codes.size.bit_length()), -1, np.int32)
        follows = np.empty(codes.size, np.int32)
        _chain(codes, read_end, m, head, follows)
        return cls(codes, read_end, m, head, follows)

    def walks(self, ends: tuple[bytes, bytes], size: tuple[int, int], *, least: int = 1) -> list[bytes] | None:
        """Return the codes of all walks from one k-mer to another, both included; None if there are too many.

        Reads need not contain the two, ``ends``, of at least m bases each. ``size`` are the least and most bases that
        follow the first one. Every other k-mer occurs at least ``least`` times in the reads.
        """
        k, (shortest, longest) = len(ends[0]), size
        codes = np.concatenate([self.codes, np.frombuffer(b"".join(ends), np.uint8)])
        texts = np.empty((_MAX_WALKS + 1, k + max(0, longest)), np.uint8)
        beyond = np.empty(_MAX_WALKS + 1, np.int64)
        n = _search_walks(tuple(self._replace(codes=codes)), k, least, shortest, longest, texts, beyond)
        return None if n < 0 else [texts[i, : k + beyond[i]].tobytes() for i in range(n)]


@signatures("Array(uint8, 1, 'C', True, aligned=True), int32[::1], int64, int32[::1], int32[::1]")
@compiled()
def _chain(codes, read_end, m, head, follows):
    mask = np.uint64(head.size - 1)
    for p in range(codes.size - 1, -1, -1):
        if p + m <= read_end[p]:
            key = np.uint64(0)
            for i in range(m):
                key = (key << np.uint64(2)) | np.uint64(codes[p + i])
            slot = np.int64(mix(key) & mask)
            follows[p] = head[slot]
            head[slot] = p


@inlined()
def _holds(codes, q, p, base, k, step):
    """Return whether position q has the k-mer that follows (step 1) or precedes (0) that at p, with the given base."""
    if codes[q + (k - 1 if step == 1 else 0)] != base:
        return False
    theirs, own = (q, p + 1) if step == 1 else (q + 1, p)
    for i in range(k - 1):
        if codes[theirs + i] != codes[own + i]:
            return False
    return True


@compiled()
def _place_of(reads, k, least, p, base, step):
    """Return the first position of the neighbouring k-mer, -1 if it occurs too rarely; see `_holds`."""
    codes, read_end, m, head, follows = reads
    for end in (read_end.size, read_end.size + k):
        if _holds(codes, end, p, base, k, step):
            return np.int64(end)
    key = np.uint64(base) if step == 0 else np.uint64(0)
    first = p + 1 if step == 1 else p
    n = m if step == 1 and m < k else m - 1
    for i in range(n):
        key = (key << np.uint64(2)) | np.uint64(codes[first + i])
    if step == 1 and m == k:
        key = (key << np.uint64(2)) | np.uint64(base)
    place, times = np.int64(-1), 0
    q = np.int64(head[np.int64(mix(key) & np.uint64(head.size - 1))])
    while q >= 0:
        if q + k <= read_end[q] and _holds(codes, q, p, base, k, step):
            place = q if times == 0 else place
            times += 1
            if times >= least:
                return place
        q = np.int64(follows[q])
    return np.int64(-1)


@compiled()
def _find_nodes(reads, k, least, goal, longest):
    """Return the positions of the k-mers at most ``longest`` steps before the goal, nearest first, and their steps."""
    number = np.full(reads[0].size, -1, np.int32)
    node, left = np.empty(number.size, np.int64), np.empty(number.size, np.int32)
    number[goal], node[0], left[0] = 0, goal, 0
    first, last = 0, 1
    while first < last and left[first] < longest:
        for base in range(4):
            q = _place_of(reads, k, least, node[first], base, 0)
            if q >= 0 and number[q] < 0:
                number[q], node[last], left[last] = last, q, left[first] + 1
                last += 1
        first += 1
    return node[:last], left[:last], number


@signatures(
    "Tuple((uint8[::1], int32[::1], int64, int32[::1], int32[::1], )), int64, int64, int64, int64, uint8[:, ::1], "
    "int64[::1]"
)
@compiled()
def _search_walks(reads, k, least, shortest, longest, texts, beyond):
    """Write all walks and the bases that follow each one's first k-mer; return their number, -1 for too many."""
    codes, start = reads[0], reads[1].size
    goal = start if (codes[start : start + k] == codes[start + k :]).all() else start + k
    node, left, number = _find_nodes(reads, k, least, goal, longest)
    if number[start] < 0:
        return 0
    ahead = np.full((node.size, 4), _UNKNOWN, np.int32)
    text = np.empty(texts.shape[1], np.uint8)
    text[:k] = codes[start : start + k]
    waiting, depth = np.empty(4 * text.size + 4, np.int64), np.empty(4 * text.size + 4, np.int64)
    added = np.empty(4 * text.size + 4, np.uint8)
    waiting[0], depth[0], added[0] = number[start], 0, 0
    n_waiting, found, steps = 1, 0, 0
    while n_waiting:
        n_waiting -= 1
        i, n = waiting[n_waiting], depth[n_waiting]
        if n:
            text[k + n - 1] = added[n_waiting]
        steps += 1
        if i == 0 and n >= shortest:
            texts[found, : k + n] = text[: k + n]
            beyond[found] = n
            found += 1
        if steps > _MAX_STEPS or found > _MAX_WALKS:
            return -1
        for base in range(4):
            if ahead[i, base] == _UNKNOWN:
                q = _place_of(reads, k, least, node[i], base, 1)
                ahead[i, base] = number[q] if q >= 0 else -1
            j = ahead[i, base]
            if j >= 0 and n + 1 + left[j] <= longest:
                waiting[n_waiting], depth[n_waiting], added[n_waiting] = j, n + 1, base
                n_waiting += 1
    return found
