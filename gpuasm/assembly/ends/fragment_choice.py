"""Choose a walk over a gap by the likelihood of the fragments that end in it.

Reads do not determine the number of units of a tandem repeat longer than a read. Pairs that link both ends may be wrong
as well, since only the longest fragments span many units. But a read next to the gap that points towards it has a mate,
and the mate's position on a walk determines the fragment's length. The correct walk makes these lengths as likely as
those of the whole sample; a missing unit makes them too short, an additional unit too long. A mate with several
positions has the sum of their likelihoods.

A read next to the gap is used only if its position is the same on all walks: the contig contains only some of the
units. A fragment that spans the gap counts once, from the source. Of fragments at the target only those count that
begin in the gap, conditional on their lengths. After Clark et al. (2013), doi:10.1093/bioinformatics/bts723, who
compute the likelihood of a whole assembly.

A read is placed where it has the fewest mismatches, so that sequencing errors do not determine which fragments count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gpuasm.assembly.pairs.insert_sizes import LOG2_SCALE
from gpuasm.assembly.parameters import ENDS, FRAGMENTS
from gpuasm.parallel import compiled, signatures


def places_on(texts: Sequence[bytes], reads: Sequence[bytes]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Place each read on sequences at all positions with the fewest mismatches.

    Returns the ascending numbers of sequences, and the position of its first base in them, both int64; none if the
    mismatches exceed one in `ENDS.fragment_bases_per_difference`.
    """
    codes = np.frombuffer(b"".join(texts), np.uint8)
    start = np.cumsum([0, *(len(text) for text in texts)], dtype=np.int64)
    text, at = np.empty(codes.size, np.int64), np.empty(codes.size, np.int64)
    found = []
    for read in reads:
        most = len(read) // ENDS.fragment_bases_per_difference
        n = _best_positions(codes, start, np.frombuffer(read, np.uint8), most, text, at)
        found.append((text[:n].copy(), at[:n].copy()))
    return found


_BYTES = "Array(uint8, 1, 'C', True, aligned=True)"


@signatures(f"{_BYTES}, int64[::1], {_BYTES}, int64, int64[::1], int64[::1]")
@compiled()
def _best_positions(codes, start, read, most, text, at):
    """Write sequence and position of each placement with the fewest mismatches, up to ``most``; return their number."""
    n = 0
    for i in range(start.size - 1):
        for p in range(start[i], start[i + 1] - read.size + 1):
            differing = 0
            for j in range(read.size):
                if codes[p + j] != read[j]:
                    differing += 1
                    if differing > most:
                        break
            if differing < most:
                most, n = differing, 0
            if differing == most:
                text[n], at[n] = i, p - start[i]
                n += 1
    return n


def mate_on(text: bytes, ends: tuple[int, int], before: int, length: int) -> bytes:
    """Return the bases at the position of a read's mate; see `choose_walk` for the arguments."""
    if before > 0:
        return text[max(0, ends[0] - before) :][:length]
    return text[: max(0, len(text) - ends[1] - before)][-length:]


def choose_walk(
    texts: Sequence[bytes],
    ends: tuple[int, int],
    reads: Sequence[tuple[bytes, int]],
    *,
    density: np.ndarray,
    length: int,
    flank: int,
) -> int | None:
    """Return the number of the walk that fragments support against each other one, or None.

    Parameters
    ----------
    texts
        Codes of source, walk and target, for all possible walks.
    ends
        Bases of the source and of the target.
    reads
        Codes of reads, each with the distance from its mate's beginning to the source's end, the mate facing the read;
        negative if the mate is behind the target's start, 0 if unknown. Their order does not matter.
    density : (longest + 1,) int32
        Log-likelihood of each fragment length: see `log2_density` of `gpuasm.assembly.pairs.insert_sizes.InsertSizes`.
    length
        Bases of a typical read.
    flank
        No read lies farther behind the target's start, or before the source's end, than this (bases).
    """
    if not texts:
        return None
    # Mates farther than this from either end have one position on every walk.
    near, far = density.size, density.size
    while near and _occurs_once(texts, ends, near, length):
        near -= 1
    while far and _occurs_once(texts, ends, -far, length):
        far -= 1
    mated = sorted((read, before) for read, before in reads if before > near or -before > far)
    likelihood = np.exp2(density / LOG2_SCALE)
    rows = [row for row in _likelihoods(texts, ends, mated, likelihood, near=near, flank=flank) if row.any()]
    if len(rows) < FRAGMENTS.sample_min_fragments:
        return None
    bits = np.log2(np.maximum(likelihood.min(), rows)).sum(axis=0).tolist()
    best = max(range(len(bits)), key=lambda i: (bits[i], texts[i]))
    is_decided = all(bits[best] - bits[i] >= ENDS.fragment_lead_bits for i in range(len(bits)) if i != best)
    expected = float((likelihood * density).sum() / likelihood.sum()) / LOG2_SCALE
    return best if is_decided and bits[best] >= len(rows) * (expected - ENDS.fragment_max_bits_lost) else None


def _occurs_once(texts: Sequence[bytes], ends: tuple[int, int], before: int, length: int) -> bool:
    """Return whether a mate's bases occur once on every walk."""
    mates = ((text, mate_on(text, ends, before, length)) for text in texts)
    return all(2 * len(own) >= length and text.find(own, text.find(own) + 1) < 0 for text, own in mates)


def _likelihoods(
    texts: Sequence[bytes],
    ends: tuple[int, int],
    mated: Sequence[tuple[bytes, int]],
    likelihood: np.ndarray,
    *,
    near: int,
    flank: int,
) -> Iterator[np.ndarray]:
    """Yield the likelihood of each read's fragment on each walk, given all its positions: (n_texts,) float64.

    ``likelihood`` is that of each length relative to the likeliest. Fragments whose mates lie more than ``near`` before
    the source's end count there; see `choose_walk` for the others.
    """
    gap = np.array([len(text) - sum(ends) for text in texts])
    longest, up_to = likelihood.size - 1, np.cumsum(likelihood) / likelihood.sum()
    for (read, before), (walk, at) in zip(mated, places_on(texts, [read for read, _ in mated]), strict=True):
        from_end = at - ends[0]
        if before > 0:
            insert, most = from_end + len(read) + before, gap + before + flank
        else:
            insert, most = gap[walk] - before - from_end, gap - before + near
        is_counted = (insert > 0) & (insert <= np.minimum(longest, most[walk]))
        summed = np.bincount(walk[is_counted], likelihood[insert[is_counted]], minlength=gap.size)
        yield np.where(summed > 0, summed / np.maximum(up_to[np.clip(most, 0, longest)], up_to[1]), 0.0)
