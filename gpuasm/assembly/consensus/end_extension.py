"""Contigs extended beyond their free ends by what the reads that hang over them say.

K-mers are solid from a threshold on and reads begin anywhere, so a contig stops short of where a molecule, or the
depth, ends. There, and only there, fewer reads hang over than half the depth of the contig: where more do, the graph
stopped for another reason. These reads vote base by base. A base is taken where two reads at least and four of five of
all agree; where reads are split, as beside a repeat or where chimeras begin, nothing is. What a single read says last
is taken for as many bases as hold one error in twenty such stretches. Nothing is told twice: an extension stops where
what follows is on a contig already, or in another's extension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import array_namespace, to_host, to_namespace
from gpuasm.assembly.consensus.overhangs import LEFT, RIGHT, Overhangs
from gpuasm.assembly.consensus.targets import SeedIndex
from gpuasm.assembly.contigs import Contig, bounds_of
from gpuasm.parallel import compiled
from gpuasm.sequence.encoding import NOT_A_BASE, reverse_complement

LEAST_VOTES = 2
"""Reads that must agree on a base, where there are more than one."""
_FEW, _MANY = 4, 5
"""And their share: four of five."""
_MATCHES_A_STRIKE = 12
"""A read that disagrees more often than so, the first time aside, says nothing any more."""
_STRETCHES_AN_ERROR = 20
"""Of so many stretches of single reads one may hold an error."""
_TOLD_K = 21
"""Ends that share so many bases are one place."""
_TAIL = 60
"""Bases of a contig's end that extensions of others are compared with; longer overlaps are seen by the reads."""


@dataclass(frozen=True)
class Extensions:
    """Bases to add to contigs.

    Attributes
    ----------
    end : (n,) int64
        The ends that are extended, as in `Overhangs`, ascending.
    codes : list of (length,) uint8
        The bases of each, outwards.
    depth : list of (length,) int32
        The reads that were heard on each base.
    """

    end: np.ndarray
    codes: list[np.ndarray]
    depth: list[np.ndarray]

    @property
    def n_bases(self) -> int:
        return sum(own.size for own in self.codes)

    def cut(self, length: Sequence[int]) -> Extensions:
        """Return the extensions of at most so many bases each."""
        kept = [i for i, n in enumerate(length) if n > 0]
        codes, depth = ([values[i][: length[i]] for i in kept] for values in (self.codes, self.depth))
        return Extensions(self.end[kept], codes, depth)


def extend_ends(
    contigs: Sequence[Contig], overhangs: Overhangs, index: SeedIndex, *, depth: np.ndarray, error_rate: tuple[int, int]
) -> Extensions:
    """Decide what follows on the ends of contigs.

    Parameters
    ----------
    contigs
        All contigs; those that are extended have free ends.
    overhangs
        Of all reads, in any order.
    index
        Seeds of all contigs.
    depth : (n_places,) int32
        Reads over each base of all contigs.
    error_rate
        Mismatches and bases of all reads that lie on contigs.
    """
    mismatches, bases = error_rate
    thin = overhangs.where(_is_thin(overhangs, contigs, depth)[overhangs.end])
    found = vote(thin, n_single=bases // (_STRETCHES_AN_ERROR * max(1, mismatches)))
    return found.cut(np.minimum(_new_to_contigs(found, contigs, index), _told_once(found, contigs)).tolist())


def _is_thin(overhangs: Overhangs, contigs: Sequence[Contig], depth: np.ndarray) -> np.ndarray:
    """Tell of each end whether fewer reads hang over it than half of those over a base of its contig: (2n,) bool."""
    length = np.array([contig.length for contig in contigs], np.int64)
    begin = np.cumsum(length) - length
    covered = np.repeat(np.add.reduceat(depth, begin, dtype=np.int64) if length.size else length, 2)
    n_reads = np.bincount(overhangs.end, minlength=2 * length.size)
    return 2 * n_reads * np.repeat(length, 2) < covered


def vote(overhangs: Overhangs, *, n_single: int) -> Extensions:
    """Let reads vote base by base; see the module.

    Parameters
    ----------
    overhangs
        In any order.
    n_single
        Bases that are taken from a single read at most.
    """
    order = np.argsort(overhangs.end, kind="stable")
    first_base = np.cumsum(overhangs.length) - overhangs.length
    end, start, n_rows = np.unique(overhangs.end[order], return_index=True, return_counts=True)
    longest = np.zeros(end.size, np.int64)
    if end.size:
        longest = np.maximum.reduceat(overhangs.length[order], start)
    out = np.cumsum(longest) - longest
    codes, depth = np.empty(int(longest.sum()), np.uint8), np.empty(int(longest.sum()), np.int32)
    length = np.zeros(end.size, np.int64)
    rows = (start, n_rows, first_base[order], overhangs.length[order], overhangs.codes)
    _walk(*rows, n_single, out, codes, depth, length)
    found = zip(out.tolist(), length.tolist(), strict=True)
    stretches = [slice(first, first + n) for first, n in found]
    return Extensions(end, [codes[s] for s in stretches], [depth[s] for s in stretches]).cut(length.tolist())


@compiled()
def _walk(start, n_rows, first_base, length, bases, n_single, out, codes, depth, extended):
    for e in range(start.size):
        rows = range(start[e], start[e] + n_rows[e])
        strikes = np.zeros(n_rows[e], np.int64)
        singles, j = 0, 0
        while True:
            votes = np.zeros(4, np.int64)
            voter = 0
            for r in rows:
                if length[r] > j and strikes[r - start[e]] <= 1 + j // _MATCHES_A_STRIKE:
                    votes[bases[first_base[r] + j]] += 1
                    voter = r
            total, best = np.int64(0), 0
            for code in range(4):  # numpy's own sum and argmax would load scipy with them
                total += votes[code]
                best = code if votes[code] > votes[best] else best
            if votes[best] >= LEAST_VOTES and _MANY * votes[best] >= _FEW * total:
                pass
            elif total == 1 and singles < n_single and strikes[voter - start[e]] == 0:
                singles += 1
            else:
                break
            codes[out[e] + j], depth[out[e] + j] = best, votes[best]
            for r in rows:
                if length[r] > j and bases[first_base[r] + j] != best:
                    strikes[r - start[e]] += 1
            j += 1
        extended[e] = j


def _new_to_contigs(found: Extensions, contigs: Sequence[Contig], index: SeedIndex) -> np.ndarray:
    """Return how much of each extension comes before the first seed that stands on a contig."""
    keys, owner, at = _windows(found, contigs, k=index.k, tail=index.k - 1)
    xp = array_namespace(index.keys)
    stands = np.zeros(keys.size, bool)
    if index.keys.size and keys.size:
        looked_up = to_namespace(xp, keys)
        slot = xp.minimum(xp.searchsorted(index.keys, looked_up), index.keys.size - 1)
        stands = to_host(index.keys[slot] == looked_up)
    return _first(found, owner[stands], at[stands])


def _told_once(found: Extensions, contigs: Sequence[Contig]) -> np.ndarray:
    """Return how much of each extension comes before what is another end's, or in the extension of an earlier end."""
    keys, owner, at = _windows(found, contigs, k=_TOLD_K, tail=_TOLD_K - 1)
    if keys.size == 0:
        return _first(found, owner, at)
    ends = [2 * c + side for c, contig in enumerate(contigs) if not contig.is_circular for side in (RIGHT, LEFT)]
    tails = Extensions(np.array(ends, np.int64), [np.empty(0, np.uint8)] * len(ends), [])
    told, of, _ = _windows(tails, contigs, k=_TOLD_K, tail=_TAIL)
    shared = np.isin(told, keys)
    told, of, number = told[shared], of[shared], found.end[owner]
    # Tails come before all extensions: they stand already.
    all_keys = np.concatenate([told, keys])
    rank = np.concatenate([np.full(told.size, -1), number])
    whose = np.concatenate([tails.end[of], number])
    order = np.lexsort((whose, rank, all_keys))
    sorted_keys = all_keys[order]
    first = np.concatenate([np.ones(min(1, order.size), bool), sorted_keys[1:] != sorted_keys[:-1]])
    teller = whose[order][np.maximum.accumulate(np.where(first, np.arange(order.size), 0))]
    is_told = np.empty(order.size, bool)
    is_told[order] = teller != whose[order]
    is_told = is_told[told.size :]
    return _first(found, owner[is_told], at[is_told])


def _first(found: Extensions, owner: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the length of each extension, cut before the first of given windows."""
    length = np.array([own.size for own in found.codes], np.int64)
    np.minimum.at(length, owner, np.maximum(at, 0))
    return length


def _windows(
    found: Extensions, contigs: Sequence[Contig], *, k: int, tail: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return key, number of the extension and first base of all windows of extensions and the ``tail`` bases before."""
    texts, first = [], []
    for end, beyond in zip(found.end.tolist(), found.codes, strict=True):
        own = contigs[end >> 1].codes
        inside = reverse_complement(own[:tail]) if end & 1 == LEFT else own[max(0, own.size - tail) :]
        texts.append(np.concatenate([inside, beyond]))
        first.append(-inside.size)
    size = np.array([text.size for text in texts], np.int64)
    joined = np.concatenate(texts) if texts else np.empty(0, np.uint8)
    start = np.cumsum(size) - size
    owner = np.repeat(np.arange(size.size), np.maximum(0, size - k + 1))
    before = np.cumsum(np.maximum(0, size - k + 1)) - np.maximum(0, size - k + 1)
    within = np.arange(owner.size) - before[owner]
    position = start[owner] + within
    forward, backward = np.zeros(owner.size, np.uint64), np.zeros(owner.size, np.uint64)
    good = np.ones(owner.size, bool)
    for i in range(k):
        code = joined[position + i]
        good &= code < NOT_A_BASE
        forward = (forward << np.uint64(2)) | code
        backward |= (np.uint64(3) - (code & np.uint8(3))).astype(np.uint64) << np.uint64(2 * i)
    at = within + np.array(first, np.int64)[owner]
    return np.minimum(forward, backward)[good], owner[good], at[good]


PerBase = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Codes, depth, whether a base is of a core and whether it is doubled, of all contigs, one after the other."""


def extended(
    contigs: Sequence[Contig], found: Extensions, per_base: PerBase, *, cuts: np.ndarray
) -> tuple[list[Contig], PerBase, np.ndarray]:
    """Add extensions to contigs and to what is known of each of their bases.

    Parameters
    ----------
    contigs
        The contigs.
    found
        What to add.
    per_base
        What is known of each base.
    cuts : (n,) int64
        Places among all bases, which move.
    """
    if found.end.size == 0:
        return list(contigs), per_base, cuts
    bounds = bounds_of(contigs)
    contig, is_left = found.end >> 1, found.end & 1 == LEFT
    order = np.lexsort((~is_left, contig)).tolist()
    size = np.array([found.codes[i].size for i in order])
    before = np.repeat(bounds[contig + ~is_left][order], size)
    codes = [reverse_complement(found.codes[i]) if is_left[i] else found.codes[i] for i in order]
    depth = [found.depth[i][::-1] if is_left[i] else found.depth[i] for i in order]
    neither = np.zeros(before.size, bool)
    added = np.concatenate(codes), np.concatenate(depth), neither, neither
    codes_now, depth_now, is_core, is_doubled = (
        np.insert(old, before, new) for old, new in zip(per_base, added, strict=True)
    )
    by_side = np.zeros((len(contigs), 2), np.int64)
    by_side[contig[order], found.end[order] & 1] = size
    bounds = bounds + np.concatenate([[0], np.cumsum(by_side.sum(axis=1))])
    both = zip(contigs, by_side.tolist(), strict=True)
    new = [
        replace(own, codes=codes_now[bounds[c] : bounds[c + 1]], extended=(right, left)) if right or left else own
        for c, (own, (right, left)) in enumerate(both)
    ]
    return new, (codes_now, depth_now, is_core, is_doubled), cuts + np.searchsorted(before, cuts, side="right")
