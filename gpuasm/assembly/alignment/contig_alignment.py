"""Align reads to contigs by seeds, without gaps.

The first seed of a read that occurs at one place only places it; the alignment is the stretch with the highest score
(`ungapped`). A read clipped there, as at the end of a contig, may have a second alignment by the last unique seed of
its clipped tail. First and last refer to the lesser of the read's two strands, so that its strand does not matter.
A read all of whose seeds occur several times is aligned by `multi_mapping`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.alignment.multi_mapping import choose_places
from gpuasm.assembly.alignment.seed_index import SeedIndex, Targets
from gpuasm.assembly.alignment.ungapped import best_ungapped_alignment, leftmost
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import find, mix
from gpuasm.primitives.searching import run_of
from gpuasm.sequence.encoding import block_at
from gpuasm.sequence.reads import Reads

_BATCH = 1 << 22
"""Segments at a time, so that memory does not grow with the reads."""


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


@for_each
def _choose_batch(r, first_of_pair, start, packed, n_batches, batch):
    batch[r] = np.int64((mix(block_at(packed, start[first_of_pair[r]])) >> _ONE) % n_batches)


_MISMATCH_COST, _MIN_SCORE = ALIGNMENT.alignment_mismatch_cost, ALIGNMENT.alignment_min_score
_MIN_REST = ALIGNMENT.alignment_min_rest
_ONE = np.uint64(1)


@dataclass(frozen=True)
class Alignments:
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
        return Alignments(**{name: value[chosen] for name, value in vars(self).items()})

    def joined(self, other: Alignments) -> Alignments:
        """Return these alignments and then the others."""
        xp = array_namespace(self.at)
        return Alignments(**{name: xp.concatenate([value, getattr(other, name)]) for name, value in vars(self).items()})


def align_reads(reads: Reads, targets: Targets, index: SeedIndex) -> tuple[Alignments, Alignments]:
    """Align segments of reads to targets; see the module.

    Returns
    -------
    first, second : Alignments
        The alignment of each segment that has one, and the second alignments of some; both in the segments' order.
    """
    xp, n = array_namespace(reads.packed), reads.n_segments
    found, window, is_unique = xp.empty(n, np.int64), xp.empty(n, np.int32), xp.empty(n, dtype=bool)
    own = (reads.start, reads.length, reads.packed)
    seeds = (index.k, index.sample, index.keys, index.slots, index.n_slots, index.first, index.place)
    _find_first_seed(n, *own, *seeds, found, window, is_unique)
    choose_places(reads, targets, index, (found, window))
    segments = xp.flatnonzero(found != -1)
    first = _align_at_seeds(
        reads, targets, (segments, found[segments], window[segments], is_unique[segments]), k=index.k
    )
    found, window = xp.empty(first.n, np.int64), xp.empty(first.n, np.int32)
    where = (first.segment, first.at, first.is_reversed, first.begin, first.end, first.is_unique)
    _find_seed_of_rest(first.n, *where, *own, *seeds, found, window)
    chosen = xp.flatnonzero(found != -1)
    seconds = (first.segment[chosen], found[chosen], window[chosen], first.is_unique[chosen])
    return first, _align_at_seeds(reads, targets, seconds, k=index.k, other=first.where(chosen))


def _align_at_seeds(
    reads: Reads, targets: Targets, placed: tuple[Array, ...], *, k: int, other: Alignments | None = None
) -> Alignments:
    """Align segments at their seeds; keep good alignments that are not the same as ``other``, row by row."""
    xp = array_namespace(reads.packed)
    segment, found, window, is_unique = placed
    n, is_reversed = int(segment.size), (found & 1).astype(np.uint8)
    at, target = xp.empty(n, np.int64), xp.empty(n, np.int32)
    begin, end, mismatches = xp.empty(n, np.int64), xp.empty(n, np.int64), xp.empty(n, np.int32)
    start, size, is_circular = (to_namespace(xp, a) for a in (targets.start, targets.size, targets.is_circular))
    own = (reads.start, reads.length, reads.packed, start, size, is_circular, targets.packed)
    _align_at_seed(n, segment, found, window, k, targets.n, *own, at, target, begin, end, mismatches)
    aligned = Alignments(segment, at, is_reversed, target, begin, end, mismatches, is_unique)
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


@signatures(
    "int64[::1], int32[::1], uint64[::1], int64, uint64, uint64[::1], int32[::1], uint64, int64[::1], int64[::1], "
    "int64[::1], int32[::1], boolean[::1]"
)
@for_each
def _find_first_seed(
    r, start, length, packed, k, sample, keys, slots, n_slots, first, place_of_seed, found, window, is_unique
):
    found[r] = -1
    window[r] = 0
    is_unique[r] = False
    n = np.int64(length[r])
    fewest = np.int64(0)
    shift = np.uint64(64 - 2 * k)
    backwards = n >= k and _is_backwards(packed, start[r], n, k)
    for step in range(n - k + 1):
        i = n - k - step if backwards else step
        forward = block_at(packed, start[r] + i) >> shift
        backward = reverse_complement_plain(forward, k)
        key = min(forward, backward)
        if mix(key) & sample == np.uint64(0):
            number = find(key, keys, slots, n_slots)
            if number >= 0:
                strand = np.int64(1 if backward < forward else 0)
                n_places = first[number + 1] - first[number]
                if n_places == 1:
                    found[r] = place_of_seed[first[number]] ^ strand
                    window[r] = i
                    is_unique[r] = True
                    break
                if fewest == 0 or n_places < fewest:
                    fewest = n_places
                    found[r] = -2 - (number << 1 | strand)
                    window[r] = i


@signatures(
    "int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1], boolean[::1], int64[::1], int32[::1], uint64[::1], "
    "int64, uint64, uint64[::1], int32[::1], uint64, int64[::1], int64[::1], int64[::1], int32[::1]"
)
@for_each
def _find_seed_of_rest(
    p,
    segment,
    at,
    is_reversed,
    begin,
    end,
    is_unique,
    start,
    length,
    packed,
    k,
    sample,
    keys,
    slots,
    n_slots,
    first,
    place_of_seed,
    found,
    window,
):
    found[p] = -1
    window[p] = 0
    r = segment[p]
    n = np.int64(length[r])
    # How far the first alignment reaches, in the direction in which seeds are searched.
    backwards = _is_backwards(packed, start[r], n, k)
    reached = at[p] + n - begin[p] if (is_reversed[p] == 1) != backwards else end[p] - at[p]
    if is_unique[p] and n - reached >= _MIN_REST:
        shift = np.uint64(64 - 2 * k)
        for step_back in range(n - k - max(reached - k, np.int64(-1))):
            i = step_back if backwards else n - k - step_back
            forward = block_at(packed, start[r] + i) >> shift
            backward = reverse_complement_plain(forward, k)
            key = min(forward, backward)
            if mix(key) & sample == np.uint64(0):
                number = find(key, keys, slots, n_slots)
                if number >= 0 and first[number + 1] - first[number] == 1:
                    place = place_of_seed[first[number]] ^ np.int64(1 if backward < forward else 0)
                    if (place & 1) != is_reversed[p] or leftmost(place, i, n, k) != at[p]:
                        found[p] = place
                        window[p] = i
                        break


@signatures(
    "int64[::1], int64[::1], int32[::1], int64, int64, int64[::1], int32[::1], uint64[::1], int64[::1], int64[::1], "
    "boolean[::1], uint64[::1], int64[::1], int32[::1], int64[::1], int64[::1], int32[::1]"
)
@for_each
def _align_at_seed(
    p,
    segment,
    found,
    window,
    k,
    n_targets,
    read_start,
    length,
    read_packed,
    start,
    size,
    is_circular,
    text_packed,
    at,
    target,
    begin,
    end,
    mismatches,
):
    r = segment[p]
    n = np.int64(length[r])
    own = run_of(found[p] >> 1, start, n_targets)
    place = leftmost(found[p], np.int64(window[p]), n, k)
    if is_circular[own]:
        while place < start[own]:
            place += size[own]
    at[p] = place
    target[p] = own
    is_reversed = found[p] & 1
    best, best_begin, best_end = best_ungapped_alignment(
        read_packed, read_start[r], n, is_reversed, text_packed, place, start[own], start[own + 1]
    )
    begin[p] = place + best_begin
    end[p] = place + best_end
    mismatches[p] = (best_end - best_begin - best) // _MISMATCH_COST
