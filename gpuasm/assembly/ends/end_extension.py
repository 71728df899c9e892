"""Extend contigs beyond their dead ends by the consensus of clipped tails.

Solid k-mers and read starts leave a contig short of the end of the molecule or of the covered region. There fewer
clipped tails exist than half the contig's depth; where there are more, the graph ended for another reason and nothing
is added. The tails vote base by base. A base is added if at least two reads and four of five agree. Where reads
disagree, as next to a repeat or where chimeras begin, the extension ends. Bases of a single last read are added only
while one of twenty such extensions is expected to contain an error. No sequence is added twice: an extension stops
where its k-mers occur on a contig or in another extension.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuasm.arrays import array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.seed_index import SeedIndex
from gpuasm.assembly.contig import Contig, bounds_of, changed
from gpuasm.assembly.ends.clipped_tails import LEFT, ClippedTails, Consensus, vote
from gpuasm.assembly.parameters import ENDS
from gpuasm.kmers.rolling import rolled
from gpuasm.parallel import for_each, signatures
from gpuasm.primitives.counting import sum_between
from gpuasm.primitives.row_of_edge import row_of_edge
from gpuasm.primitives.runs import values_of_ranges
from gpuasm.primitives.searching import places_among
from gpuasm.sequence.encoding import NOT_A_BASE, reverse_complement


def extend_ends(
    contigs: Sequence[Contig], tails: ClippedTails, index: SeedIndex, *, depth: np.ndarray, error_rate: tuple[int, int]
) -> Consensus:
    """Determine the extensions of contigs by the tails of all reads at their dead ends.

    ``index`` has the seeds of all contigs, ``depth`` the reads over each of their bases: (n_places,) int32.
    ``error_rate`` are the mismatches and the bases of all aligned reads.
    """
    mismatches, bases = error_rate
    thin = tails.where(_has_few_tails(tails, contigs, depth)[tails.end])
    found = vote(thin, n_single=bases // (ENDS.extension_single_reads_per_error * max(1, mismatches)))
    length = np.minimum(_lengths_before_contigs(found, contigs, index), _unshared_lengths(found, contigs))
    return found.cut(length.tolist())


def _has_few_tails(tails: ClippedTails, contigs: Sequence[Contig], depth: np.ndarray) -> np.ndarray:
    """Return for each end whether it has fewer tails than half the mean depth of its contig: (2n,) bool."""
    bounds = bounds_of(contigs)
    length, covered = np.diff(bounds), np.repeat(sum_between(depth, bounds), 2)
    n_reads = np.bincount(tails.end, minlength=2 * length.size)
    return 2 * n_reads * np.repeat(length, 2) < covered


def _lengths_before_contigs(found: Consensus, contigs: Sequence[Contig], index: SeedIndex) -> np.ndarray:
    """Return how much of each extension precedes the first seed that occurs on a contig."""
    keys, owner, at = _windows(found, contigs, k=index.k, tail=index.k - 1)
    is_on_contig = to_host(places_among(to_namespace(array_namespace(index.keys), keys), index.keys)[1])
    return _cut_before(found, owner[is_on_contig], at[is_on_contig])


def _unshared_lengths(found: Consensus, contigs: Sequence[Contig]) -> np.ndarray:
    """Return how much of each extension precedes the first k-mer of another end or of an earlier end's extension."""
    keys, owner, at = _windows(found, contigs, k=ENDS.local_min_k, tail=ENDS.local_min_k - 1)
    if keys.size == 0:
        return _cut_before(found, owner, at)
    ends = np.flatnonzero(np.repeat([not contig.is_circular for contig in contigs], 2))
    tails = Consensus(ends, [np.empty(0, np.uint8)] * ends.size, [])
    tail_keys, of, _ = _windows(tails, contigs, k=ENDS.local_min_k, tail=ENDS.extension_tail)
    order, shared = np.argsort(tail_keys), np.empty(tail_keys.size, bool)
    shared[order] = places_among(tail_keys[order], np.sort(keys))[1]  # in order, so in memory that was just read
    # Ends of contigs come before all extensions; both ascend, so that a k-mer occurs first in its first owner.
    whose = np.concatenate([tails.end[of[shared]], found.end[owner]])
    _, first, which = np.unique(np.concatenate([tail_keys[shared], keys]), return_index=True, return_inverse=True)
    is_shared = (whose[first][which] != whose)[-keys.size :]
    return _cut_before(found, owner[is_shared], at[is_shared])


def _cut_before(found: Consensus, owner: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the length of each extension, cut before the first of the given windows."""
    length = np.array([own.size for own in found.codes], np.int64)
    np.minimum.at(length, owner, np.maximum(at, 0))
    return length


def _windows(
    found: Consensus, contigs: Sequence[Contig], *, k: int, tail: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return key, extension and first base of all windows of the extensions with the ``tail`` bases before each."""
    tails = [_outer_bases(contigs[end >> 1], tail, side=end & 1) for end in found.end.tolist()]
    parts = [part for both in zip(tails, found.codes, strict=True) for part in both]
    inside, size = np.array([part.size for part in parts], np.int64).reshape(-1, 2).T
    start = np.concatenate([[0], np.cumsum(inside + size)])
    before = np.concatenate([[0], np.cumsum(np.maximum(0, inside + size - k + 1))])
    text = np.concatenate([np.empty(0, np.uint8), *parts])
    keys, is_good = np.empty(int(before[-1]), np.uint64), np.empty(int(before[-1]), bool)
    _read_windows(size.size, start, before, text, k, keys, is_good)
    owner = row_of_edge(before, np.int64)
    at = np.arange(owner.size) - before[owner] - inside[owner]
    return keys[is_good], owner[is_good], at[is_good]


def _outer_bases(contig: Contig, n: int, *, side: int) -> np.ndarray:
    """Return the last n bases of one side of a contig, outwards, or all if it has fewer."""
    if side == LEFT:
        return reverse_complement(contig.codes[:n])
    return contig.codes[max(0, contig.length - n) :]


@signatures("int64[::1], int64[::1], uint8[::1], int64, uint64[::1], boolean[::1]", on="host")
@for_each
def _read_windows(t, start, before, text, k, keys, is_good):
    """Write the key of each window of a text, and whether it has bases only."""
    forward, backward, n = np.uint64(0), np.uint64(0), 0
    for i in range(start[t], start[t + 1]):
        n = n + 1 if text[i] < NOT_A_BASE else 0
        forward, backward = rolled(forward, backward, np.uint64(text[i] & 3), k)
        row = before[t] + i - start[t] + 1 - k
        if row >= before[t]:
            keys[row] = min(forward, backward)
            is_good[row] = n >= k


PerBase = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Codes, depth, whether a base is of a core and whether it is redundant, concatenated over all contigs."""


def extended(
    contigs: Sequence[Contig], found: Consensus, per_base: PerBase, *, cuts: np.ndarray
) -> tuple[list[Contig], PerBase, np.ndarray]:
    """Add extensions to contigs and to the arrays of their bases, and shift the ``cuts``: (n,) int64 positions."""
    if found.end.size == 0:
        return list(contigs), per_base, cuts
    bounds = bounds_of(contigs)
    contig, is_left_end = found.end >> 1, found.end & 1 == LEFT
    order = np.lexsort((~is_left_end, contig)).tolist()
    size, place = np.array([found.codes[i].size for i in order]), bounds[contig + ~is_left_end][order]
    codes = np.concatenate([reverse_complement(found.codes[i]) if is_left_end[i] else found.codes[i] for i in order])
    depth = np.concatenate([found.depth[i][::-1] if is_left_end[i] else found.depth[i] for i in order])
    ends = np.concatenate([[0], place, [bounds[-1]]])
    added = bounds[-1] + np.concatenate([[0], np.cumsum(size)])
    begin = np.append(np.stack([ends[:-2], added[:-1]], axis=1).ravel(), ends[-2])
    end = np.append(np.stack([ends[1:-1], added[1:]], axis=1).ravel(), ends[-1])

    def longer(old: np.ndarray, new: np.ndarray) -> np.ndarray:
        return values_of_ranges(np.concatenate([old, new]), begin, end)

    nothing = np.zeros(codes.size, bool)
    now = (
        longer(per_base[0], codes),
        longer(per_base[1], depth),
        longer(per_base[2], nothing),
        longer(per_base[3], nothing),
    )
    by_side = np.zeros((len(contigs), 2), np.int64)
    by_side[contig[order], found.end[order] & 1] = size
    bounds = bounds + np.concatenate([[0], np.cumsum(by_side.sum(axis=1))])
    both = zip(contigs, by_side.tolist(), strict=True)
    new = [
        changed(own, codes=now[0][bounds[c] : bounds[c + 1]], extended=(right, left)) if right or left else own
        for c, (own, (right, left)) in enumerate(both)
    ]
    return new, now, cuts + np.searchsorted(np.repeat(place, size), cuts, side="right")
