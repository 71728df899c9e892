"""Align reads to contigs by seeds, without gaps, and collect the bases in which they differ.

The first seed of a read that occurs at one place only places it; the alignment is the stretch with the highest score
(`ungapped`). A read clipped there, as at the end of a contig, may have a second alignment by the last unique seed of
its clipped tail. First and last refer to the lesser of the read's two strands, so that its strand does not matter.
A read all of whose seeds occur several times is aligned by `choose_place`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.seed_index import SeedIndex, TargetArrays, Targets
from gpuasm.assembly.alignment.ungapped import (
    best_ungapped_alignment,
    choose_place,
    leftmost,
    leftmost_on,
    mismatch_mask,
)
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import find, mix
from gpuasm.sequence.encoding import base_at, block_at
from gpuasm.sequence.reads import ReadArrays, Reads

_BATCH = 1 << 22
"""Segments at a time, so that memory does not grow with the reads."""
_MISMATCH_COST, _MIN_SCORE = ALIGNMENT.alignment_mismatch_cost, ALIGNMENT.alignment_min_score
_MIN_REST = ALIGNMENT.alignment_min_rest
_ONE, _THREE = np.uint64(1), np.uint64(3)


def batches(reads: Reads) -> Iterator[Reads]:
    """Yield batches of some millions of segments, mates together; a hash of a pair's bases chooses its batch.

    Insert sizes are measured on the first batch, so its pairs must not depend on the order of the reads.
    """
    n_batches = -(-reads.n_segments // _BATCH)
    if n_batches == 1:
        yield reads
    if n_batches <= 1:
        return
    xp = array_namespace(reads.packed)
    batch = xp.empty(reads.n_segments, np.int32)
    first_of_pair = xp.searchsorted(reads.read, reads.read // 2 * 2 if reads.paired else reads.read)
    _choose_batch(reads.n_segments, first_of_pair, reads.start, reads.packed, np.uint64(n_batches), batch)
    for number in range(n_batches):
        yield reads.select(xp.flatnonzero(batch == number))


@signatures("int64[::1], int64[::1], uint64[::1], uint64, int32[::1]")
@for_each
def _choose_batch(r, first_of_pair, start, packed, n_batches, batch):
    batch[r] = np.int64((mix(block_at(packed, start[first_of_pair[r]])) >> _ONE) % n_batches)


class Alignments(NamedTuple):
    """Alignments of read segments; text positions are those of `Targets`.

    Attributes
    ----------
    segment : (n,) int64
        The segment of a read.
    at : (n,) int64
        Text position of the segment's leftmost base, clipped bases included; before the target's start where its head
        is clipped there.
    is_reversed : (n,) uint8
        Whether the target has the segment's reverse complement.
    target : (n,) int32
        The target.
    begin, end : (n,) int64
        The aligned stretch, in text positions.
    mismatches : (n,) int32
        Mismatches in it.
    is_unique : (n,) bool
        Whether a seed that occurs once placed it.
    """

    segment: Array
    at: Array
    is_reversed: Array
    target: Array
    begin: Array
    end: Array
    mismatches: Array
    is_unique: Array

    @property
    def n(self) -> int:
        return int(self.segment.size)

    def where(self, chosen: Array) -> Alignments:
        """Return the chosen alignments (a mask or indices)."""
        return Alignments(*(column[chosen] for column in self))

    def joined(self, other: Alignments) -> Alignments:
        """Return these alignments and then the others."""
        xp = array_namespace(self.at)
        return Alignments(*(xp.concatenate(columns) for columns in zip(self, other, strict=True)))


def align_reads(reads: Reads, targets: Targets, index: SeedIndex) -> tuple[Alignments, Alignments]:
    """Align segments of reads to targets; see the module.

    Returns
    -------
    first, second : Alignments
        The alignment of each segment that has one, and the second alignments of some; both in the segments' order.
    """
    xp, n = array_namespace(reads.packed), reads.n_segments
    found, window, is_unique = xp.empty(n, np.int64), xp.empty(n, np.int32), xp.empty(n, dtype=bool)
    _find_first_seed(n, reads.arrays, index, found, window, is_unique)
    rows = xp.flatnonzero(found < -1)
    choose_place(rows.size, rows, reads.arrays, targets.arrays, targets.n, index, window, found)
    segments = xp.flatnonzero(found != -1)
    placed = (segments, found[segments], window[segments], is_unique[segments])
    first = _align_at_seeds(reads, targets, placed, k=index.k)
    found, window = xp.empty(first.n, np.int64), xp.empty(first.n, np.int32)
    _find_seed_of_rest(first.n, first, reads.arrays, index, found, window)
    chosen = xp.flatnonzero(found != -1)
    placed = (first.segment[chosen], found[chosen], window[chosen], first.is_unique[chosen])
    return first, _align_at_seeds(reads, targets, placed, k=index.k, other=first.where(chosen))


def _align_at_seeds(
    reads: Reads, targets: Targets, placed: tuple[Array, ...], *, k: int, other: Alignments | None = None
) -> Alignments:
    """Align segments at their seeds; keep good alignments that are not the same as ``other``, row by row."""
    xp = array_namespace(reads.packed)
    segment, found, window, is_unique = placed
    n, is_reversed = int(segment.size), (found & 1).astype(np.uint8)
    at, begin, end = (xp.empty(n, np.int64) for _ in range(3))
    target, mismatches = (xp.empty(n, np.int32) for _ in range(2))
    aligned = Alignments(segment, at, is_reversed, target, begin, end, mismatches, is_unique)
    _align_at_seed(n, found, window, k, reads.arrays, targets.arrays, targets.n, aligned)
    length = end - begin
    good = (length - _MISMATCH_COST * mismatches >= _MIN_SCORE) & (
        mismatches * ALIGNMENT.alignment_bases_per_mismatch <= length
    )
    if other is not None:
        good &= (at != other.at) | (is_reversed != other.is_reversed)
    return aligned.where(xp.flatnonzero(good))


@inlined()
def _is_backwards(packed, start, n, k):
    """Check whether a segment's reverse complement is the lesser: then its seeds are searched from its end on."""
    shift = np.uint64(64 - 2 * k)
    return (block_at(packed, start) >> shift) > reverse_complement_plain(block_at(packed, start + n - k) >> shift, k)


@inlined()
def _seed_at(position, packed, seeds):
    """Return the number of the seed at a position of the reads, -1 where there is none, and its strand."""
    forward = block_at(packed, position) >> np.uint64(64 - 2 * seeds.k)
    backward = reverse_complement_plain(forward, seeds.k)
    key, number = min(forward, backward), np.int64(-1)
    if mix(key) & seeds.sample == np.uint64(0):
        number = np.int64(find(key, seeds.keys, seeds.slots, seeds.n_slots))
    return number, np.int64(1 if backward < forward else 0)


@signatures(
    "int64[::1], int32[::1], uint64[::1], int64, uint64, uint64[::1], int32[::1], uint64, int64[::1], int64[::1], "
    "int64[::1], int32[::1], boolean[::1]"
)
@for_each
def _find_first_seed(r, reads: ReadArrays, seeds: SeedIndex, found, window, is_unique):
    found[r] = -1
    window[r] = 0
    is_unique[r] = False
    n, k = np.int64(reads.length[r]), seeds.k
    fewest = np.int64(0)
    backwards = n >= k and _is_backwards(reads.packed, reads.start[r], n, k)
    for step in range(n - k + 1):
        i = n - k - step if backwards else step
        number, strand = _seed_at(reads.start[r] + i, reads.packed, seeds)
        if number >= 0:
            n_places = seeds.first[number + 1] - seeds.first[number]
            if n_places == 1:
                found[r] = seeds.place[seeds.first[number]] ^ strand
                window[r] = i
                is_unique[r] = True
                break
            if fewest == 0 or n_places < fewest:
                fewest = n_places
                found[r] = -2 - (number << 1 | strand)
                window[r] = i


@signatures(
    "int64[::1], int64[::1], uint8[::1], int32[::1], int64[::1], int64[::1], int32[::1], boolean[::1], "
    "int64[::1], int32[::1], uint64[::1], int64, uint64, uint64[::1], int32[::1], uint64, int64[::1], int64[::1], "
    "int64[::1], int32[::1]"
)
@for_each
def _find_seed_of_rest(p, aligned: Alignments, reads: ReadArrays, seeds: SeedIndex, found, window):
    found[p] = -1
    window[p] = 0
    r, at = aligned.segment[p], aligned.at[p]
    start, n, k = reads.start[r], np.int64(reads.length[r]), seeds.k
    # How far the first alignment reaches, in the direction in which seeds are searched.
    backwards = _is_backwards(reads.packed, start, n, k)
    is_reversed = aligned.is_reversed[p]
    reached = at + n - aligned.begin[p] if (is_reversed == 1) != backwards else aligned.end[p] - at
    if aligned.is_unique[p] and n - reached >= _MIN_REST:
        for step_back in range(n - k - max(reached - k, np.int64(-1))):
            i = step_back if backwards else n - k - step_back
            number, strand = _seed_at(start + i, reads.packed, seeds)
            if number >= 0 and seeds.first[number + 1] - seeds.first[number] == 1:
                place = seeds.place[seeds.first[number]] ^ strand
                if (place & 1) != is_reversed or leftmost(place, i, n, k) != at:
                    found[p] = place
                    window[p] = i
                    break


@signatures(
    "int64[::1], int32[::1], int64, int64[::1], int32[::1], uint64[::1], "
    "int64[::1], int64[::1], boolean[::1], int64[::1], int64[::1], uint64[::1], int64, "
    "int64[::1], int64[::1], uint8[::1], int32[::1], int64[::1], int64[::1], int32[::1], boolean[::1]"
)
@for_each
def _align_at_seed(
    p, found, window, k, reads: ReadArrays, targets: TargetArrays, n_targets, aligned: Alignments
):  # fmt: skip
    r = aligned.segment[p]
    n = np.int64(reads.length[r])
    own, place = leftmost_on(found[p], np.int64(window[p]), n, k, targets, n_targets)
    best, begin, end = best_ungapped_alignment(
        reads.packed, reads.start[r], n, found[p] & 1, targets.packed, place, targets.start[own], targets.start[own + 1]
    )
    aligned.at[p] = place
    aligned.target[p] = own
    aligned.begin[p] = place + begin
    aligned.end[p] = place + end
    aligned.mismatches[p] = (end - begin - best) // _MISMATCH_COST


def list_differing_bases(reads: Reads, aligned: Alignments, targets: Targets) -> Array:
    """Return ``4 * place + base`` for each base of a uniquely aligned read that differs from its contig: (n,) int64."""
    xp = array_namespace(aligned.at)
    rows = xp.flatnonzero(aligned.is_unique & (aligned.mismatches > 0))
    end = xp.cumsum(aligned.mismatches[rows].astype(np.int64))
    found = xp.empty(int(end[-1]) if rows.size else 0, np.int64)
    first = end - aligned.mismatches[rows]
    _write_differing_bases(rows.size, rows, aligned, reads.arrays, targets.arrays, first, found)
    return found


@signatures(
    "int64[::1], int64[::1], int64[::1], uint8[::1], int32[::1], int64[::1], int64[::1], int32[::1], boolean[::1], "
    "int64[::1], int32[::1], uint64[::1], int64[::1], int64[::1], boolean[::1], int64[::1], int64[::1], uint64[::1], "
    "int64[::1], int64[::1]"
)
@for_each
def _write_differing_bases(v, rows, aligned: Alignments, reads: ReadArrays, targets: TargetArrays, out_first, found):
    p = rows[v]
    r, t, at, is_reversed = aligned.segment[p], aligned.target[p], aligned.at[p], aligned.is_reversed[p]
    start, n = reads.start[r], np.int64(reads.length[r])
    out = out_first[v]
    j, last = aligned.begin[p] - at, aligned.end[p] - at
    while j < last:
        differs = mismatch_mask(reads.packed, start, n, is_reversed, j, targets.packed, at)
        stop = min(last, j + 32)
        if differs != np.uint64(0):
            for i in range(j, stop):
                if (differs >> np.uint64(62 - 2 * (i - j))) & _ONE:
                    base = base_at(reads.packed, start + i)
                    if is_reversed:
                        base = _THREE - base_at(reads.packed, start + n - 1 - i)
                    within = at + i - targets.start[t]
                    if targets.is_circular[t]:
                        within %= targets.size[t]
                    found[out] = 4 * (targets.offset[t] + within) + np.int64(base)
                    out += 1
        j = stop
