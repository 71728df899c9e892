"""Contigs as one packed text for alignment, and the index of its seeds.

A contig is cut at its gaps (letters that are no bases); each stretch between gaps is a target. The text of a circular
contig is extended by its own first bases, so that a read across the origin aligns in one stretch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.kmers.keys import MAX_PLAIN_K, reverse_complement_plain
from gpuasm.kmers.tally import joined
from gpuasm.kmers.windows import tile_windows
from gpuasm.parallel import for_each, signatures
from gpuasm.primitives.hashing import build_index, mix
from gpuasm.primitives.runs import begins_run, run_bounds, values_of_ranges
from gpuasm.sequence.encoding import NOT_A_BASE, base_at, pack
from gpuasm.sequence.reads import Reads

SEED_K = MAX_PLAIN_K
"""Bases of a seed; fewer where reads are short."""
_WEIGHT_SCALE = 16
"""Weight of a contig of depth 1."""

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_NO_WINDOW = np.int64(-1)


class TargetArrays(NamedTuple):
    """What kernels take of `Targets`, all where the text is."""

    start: Array
    size: Array
    is_circular: Array
    offset: Array
    weight: Array
    packed: Array


@dataclass(frozen=True)
class Targets:
    """Stretches of contigs without gaps.

    Attributes
    ----------
    packed : (n_blocks,) uint64
        Their packed text, on the host or a device.
    start : (n + 1,) int64, on the host
        Where each target starts in the text.
    size : (n,) int64, on the host
        Bases of each target; the text of a circular one is longer, by the bases repeated.
    is_circular : (n,) bool, on the host
        Whether a target is a circular contig.
    offset : (n,) int64, on the host
        Place of each target's first base among the bases of all contigs, gaps included.
    weight : (n,) int64, on the host
        Share of each target in reads that align to several equally well; at least 1.
    n_places : int
        Bases of all contigs, gaps included.
    """

    packed: Array
    start: np.ndarray
    size: np.ndarray
    is_circular: np.ndarray
    offset: np.ndarray
    weight: np.ndarray
    n_places: int

    @property
    def n(self) -> int:
        return int(self.size.size)

    @cached_property
    def arrays(self) -> TargetArrays:
        """The arrays for kernels."""
        xp, own = array_namespace(self.packed), (self.start, self.size, self.is_circular, self.offset, self.weight)
        return TargetArrays(*(to_namespace(xp, array) for array in (*own, self.packed)))

    @classmethod
    def of(
        cls,
        codes: Sequence[np.ndarray],
        is_circular: Sequence[bool],
        *,
        reach: int,
        xp: Any,
        depth: Sequence[float] | None = None,
    ) -> Targets:
        """Make targets of the (length,) uint8 codes of contigs, 4 in gaps, with their text in namespace ``xp``.

        Circular contigs with gaps are taken as linear. So many bases as ``reach``, at least those of the longest read,
        are repeated behind a circular target. ``depth`` of each contig, if known, sets the weights.
        """
        joined = np.concatenate([np.empty(0, np.uint8), *codes])
        n_bases = np.array([own.size for own in codes], np.int64)
        owner, offset, size = _stretches(joined, n_bases)
        is_whole = np.array(is_circular, bool)[owner] & (size == n_bases[owner])
        weight = np.ones(len(codes)) if depth is None else np.array(depth, np.float64)
        weight = np.maximum(1, np.rint(_WEIGHT_SCALE * weight)).astype(np.int64)[owner]
        start = np.concatenate([[0], np.cumsum(size + np.where(is_whole, reach, 0))]).astype(np.int64)
        # A circular target has its bases as often as they fit, and then the rest.
        rounds = np.diff(start) // np.maximum(1, size)
        row = np.repeat(np.arange(size.size), rounds + 1)
        length = size[row]
        length[np.cumsum(rounds + 1) - 1] = np.diff(start) - rounds * size
        packed = to_namespace(xp, pack(values_of_ranges(joined, offset[row], offset[row] + length)))
        return cls(packed, start, size, is_whole, offset, weight, int(joined.size))

    def at(self, text: np.ndarray) -> np.ndarray:
        """Return the target of each text position, on the host: (n,) int64."""
        return np.searchsorted(self.start, text, side="right") - 1

    def windows_once(self, k: int) -> Reads:
        """Return the targets as reads that have each window of k bases once, across the origin of circular ones too."""
        xp = array_namespace(self.packed)
        length = (self.size + np.where(self.is_circular, k - 1, 0)).astype(np.int32)
        columns = self.start[:-1], length, np.arange(self.n, dtype=np.int64)
        start, length, number = (to_namespace(xp, column) for column in columns)
        return Reads(self.packed, start, length, number, self.n)


def _stretches(codes: np.ndarray, n_bases: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return contig, first base and size of each stretch without gaps, given the bases of each contig: (n,) int64."""
    bounds = np.concatenate([[0], np.cumsum(n_bases)])
    gaps = np.flatnonzero(codes >= NOT_A_BASE)
    before, behind = np.diff(gaps, prepend=-2) > 1, np.diff(gaps, append=codes.size + 1) > 1
    places = np.unique(np.concatenate([bounds, gaps[before], gaps[behind] + 1]))
    rows = np.flatnonzero(codes[places[:-1]] < NOT_A_BASE)
    first = places[rows]
    return np.searchsorted(bounds, first, side="right") - 1, first, places[rows + 1] - first


def targets_of(contigs: Sequence[Contig], reads: Reads) -> tuple[Targets, SeedIndex]:
    """Return contigs as targets, where the reads are, and the index of their seeds."""
    targets = Targets.of(
        [contig.codes for contig in contigs],
        [contig.is_circular for contig in contigs],
        depth=[contig.depth for contig in contigs],
        reach=int(reads.length.max()) if reads.n_segments else 0,
        xp=array_namespace(reads.packed),
    )
    return targets, index_seeds(targets, reads.n_bases // max(1, reads.n_segments))


class SeedIndex(NamedTuple):
    """The places of seeds in the text of targets; a hash of the key makes one in ``2^n`` k-mers a seed.

    Attributes
    ----------
    k : int
        Bases of a seed.
    sample : uint64
        A key is a seed where its hash has none of these bits.
    keys : (n,) uint64
        Distinct seeds, ascending.
    slots, n_slots
        Index of `gpuasm.primitives.hashing.build_index`.
    first : (n + 1,) int64
        Index of the first place of each seed.
    place : (m,) int64
        Text position << 1 | strand of every occurrence, ascending for each seed; strand 1 where the text has the
        reverse complement of the key.
    """

    k: int
    sample: Any
    keys: Array
    slots: Array
    n_slots: Any
    first: Array
    place: Array


def index_seeds(targets: Targets, read_length: int) -> SeedIndex:
    """Index the seeds of targets for reads of a typical length, in bases."""
    xp = array_namespace(targets.packed)
    k = max(ALIGNMENT.seed_min_k, min(SEED_K, (read_length // 2 - 1) | 1))
    per_read = max(1, (read_length - k + 1) // ALIGNMENT.seeds_per_read)
    sample = np.uint64((1 << (per_read.bit_length() - 1)) - 1)
    keys, place = _find_all_seeds(targets, k, sample)
    order = xp.argsort(keys)
    keys, place = keys[order], place[order]
    del order
    _sort_places(keys, place)
    first = run_bounds(keys)
    keys = keys[first[:-1]]
    return SeedIndex(k, sample, keys, *build_index(keys), first, place)


_BATCH = 1 << 18


def _find_all_seeds(targets: Targets, k: int, sample: Any) -> tuple[Array, Array]:
    """Return keys and places of all seeds in the order of the text, found in few windows at a time."""
    xp = array_namespace(targets.packed)
    tiles = tile_windows(targets.windows_once(k), k)
    found: tuple[list[Array], list[Array]] = ([xp.empty(0, np.uint64)], [xp.empty(0, np.int64)])
    for first in range(0, tiles.n, _BATCH):
        position, count = (column[first : first + _BATCH] for column in (tiles.position, tiles.count.astype(np.int64)))
        end = xp.cumsum(count)
        keys, place = (xp.empty(int(end[-1]), dtype) for dtype in (np.uint64, np.int64))
        _find_seeds(position.size, position, count, end - count, targets.packed, k, sample, keys, place)
        rows = xp.flatnonzero(place != _NO_WINDOW)
        found[0].append(keys[rows])
        found[1].append(place[rows])
    return joined(found[0]), joined(found[1])


def _sort_places(keys: Array, place: Array) -> None:
    """Sort the places of each seed that occurs several times, in place."""
    xp, is_first = array_namespace(keys), begins_run(keys)
    is_alone = is_first & xp.concatenate([is_first[1:], xp.ones(min(1, keys.size), bool)])
    several = xp.flatnonzero(~is_alone)
    if several.size:
        order = xp.lexsort(xp.stack([place[several].astype(np.uint64), keys[several]]))
        place[several] = place[several][order]


@signatures("int64[::1], int64[::1], int64[::1], uint64[::1], int64, uint64, uint64[::1], int64[::1]")
@for_each
def _find_seeds(t, position, count, offset, packed, k, sample, keys, place):
    kmer_mask = (_ONE << np.uint64(2 * k)) - _ONE
    forward = np.uint64(0)
    for i in range(k - 1):
        forward = (forward << _TWO) | base_at(packed, position[t] + i)
    for j in range(count[t]):
        forward = ((forward << _TWO) | base_at(packed, position[t] + j + k - 1)) & kmer_mask
        backward = reverse_complement_plain(forward, k)
        key = min(forward, backward)
        at = offset[t] + j
        keys[at] = key
        place[at] = -1
        if mix(key) & sample == np.uint64(0):
            place[at] = 2 * (position[t] + j) + (1 if backward < forward else 0)
