"""Targets: contigs as one packed text that reads are laid on, and the index of its k-mers.

A contig is cut at its gaps (letters that are no bases); each stretch between them is a target. Behind a circle stand
its own first bases again, so that a read across the origin lies on the text in one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.contigs import Contig
from gpuasm.kmers.keys import MAX_PLAIN_K, reverse_complement_plain
from gpuasm.kmers.windows import tile_windows
from gpuasm.parallel import for_each
from gpuasm.primitives.hashing import build_index, mix
from gpuasm.sequence.encoding import NOT_A_BASE, base_at, pack
from gpuasm.sequence.reads import Reads

SEED_K = MAX_PLAIN_K
"""Length of the seeds; shorter where reads are short."""
_SEEDS_PER_READ = 12
"""Windows of a read that are looked up at least, where it has as many."""
_WEIGHT_OF_ONE = 16
"""Weight of a contig of depth 1: depths are compared in sixteenths."""

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_NO_WINDOW = np.int64(-1)


@dataclass(frozen=True)
class Targets:
    """Stretches of contigs without gaps.

    Attributes
    ----------
    words : (n_words,) uint64
        Their packed text, on the host or a device.
    start : (n + 1,) int64, on the host
        Where each target starts in the text.
    size : (n,) int64, on the host
        Bases of each target; a circle's text is longer, by what is repeated of it.
    is_circular : (n,) bool, on the host
    offset : (n,) int64, on the host
        Place of each target's first base among the bases of all contigs, gaps included.
    weight : (n,) int64, on the host
        By how much each takes part in reads that lie on several equally well; at least 1.
    n_places : int
        Bases of all contigs, gaps included.
    """

    words: Array
    start: np.ndarray
    size: np.ndarray
    is_circular: np.ndarray
    offset: np.ndarray
    weight: np.ndarray
    n_places: int

    @property
    def n(self) -> int:
        return int(self.size.size)

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
        """Make targets of contigs.

        Parameters
        ----------
        codes
            The (length,) uint8 codes of each contig; 4 in gaps.
        is_circular
            Whether each is a circle; one with gaps is taken as linear.
        reach
            Bases that are repeated behind a circle: those of the longest read at least.
        xp
            Where the text shall be.
        depth
            How deep each contig is, as far as is known: its reads among those that lie on several equally well.
        """
        texts, sizes, closed, offsets, weights, place = [], [], [], [], [], 0
        depth = [1.0] * len(codes) if depth is None else depth
        for own, circular, deep in zip(codes, is_circular, depth, strict=True):
            stretches = _stretches(own)
            for first, last in stretches:
                is_whole = circular and last - first == own.size
                texts.append(np.resize(own, own.size + reach) if is_whole else own[first:last])
                sizes.append(last - first)
                closed.append(is_whole)
                offsets.append(place + first)
                weights.append(max(1, round(_WEIGHT_OF_ONE * deep)))
            place += own.size
        start = np.concatenate([[0], np.cumsum([text.size for text in texts])]).astype(np.int64)
        joined = np.concatenate(texts) if texts else np.empty(0, np.uint8)
        text = to_namespace(xp, pack(joined))
        size, offset, weight = (np.array(numbers, np.int64) for numbers in (sizes, offsets, weights))
        return cls(text, start, size, np.array(closed, bool), offset, weight, place)

    def windows_once(self, k: int) -> Reads:
        """Return the targets as reads that hold every window of k bases once, a circle's across its origin too."""
        xp = array_namespace(self.words)
        length = (self.size + np.where(self.is_circular, k - 1, 0)).astype(np.int32)
        start, length, number = (
            to_namespace(xp, a) for a in (self.start[:-1], length, np.arange(self.n, dtype=np.int64))
        )
        return Reads(self.words, start, length, number, self.n)


def _stretches(codes: np.ndarray) -> list[tuple[int, int]]:
    """Return where the stretches without gaps start and end."""
    is_base = np.concatenate([[False], codes < NOT_A_BASE, [False]])
    return [(int(a), int(b)) for a, b in np.flatnonzero(is_base[1:] != is_base[:-1]).reshape(-1, 2)]


def targets_of(contigs: Sequence[Contig], reads: Reads) -> tuple[Targets, SeedIndex]:
    """Return contigs as targets for reads, where these are, and the index of their seeds."""
    targets = Targets.of(
        [contig.codes for contig in contigs],
        [contig.is_circular for contig in contigs],
        depth=[contig.depth for contig in contigs],
        reach=int(reads.length.max()) if reads.n_pieces else 0,
        xp=array_namespace(reads.words),
    )
    return targets, index_seeds(targets, reads.n_bases // max(1, reads.n_pieces))


@dataclass(frozen=True)
class SeedIndex:
    """Where the seeds stand in the text of targets; a seed is one in ``2^n`` k-mers, chosen by a hash of its key.

    Attributes
    ----------
    k : int
    sample : uint64
        A key is a seed where its hash has none of these bits.
    keys : (n,) uint64
        Distinct seeds, ascending.
    slots, mask
        Index of `gpuasm.primitives.hashing.build_index`.
    first : (n + 1,) int64
        Where the places of each seed start.
    place : (m,) int64
        Text position << 1 | strand of every occurrence, ascending for each seed; strand 1 where the text reads the
        reverse complement of the key.
    """

    k: int
    sample: Any
    keys: Array
    slots: Array
    mask: Any
    first: Array
    place: Array


def index_seeds(targets: Targets, read_length: int) -> SeedIndex:
    """Index the seeds of targets for reads of a typical length."""
    xp = array_namespace(targets.words)
    k = max(11, min(SEED_K, (read_length // 2 - 1) | 1))
    per_read = max(1, (read_length - k + 1) // _SEEDS_PER_READ)
    sample = np.uint64((1 << (per_read.bit_length() - 1)) - 1)
    tiles = tile_windows(targets.windows_once(k), k)
    end = xp.cumsum(tiles.count.astype(np.int64))
    n_windows = int(end[-1]) if tiles.n else 0
    keys, place = xp.empty(n_windows, np.uint64), xp.empty(n_windows, np.int64)
    _find_seeds(tiles.n, tiles.position, tiles.count, end - tiles.count, targets.words, k, sample, keys, place)
    is_seed = place != _NO_WINDOW
    keys, place = keys[is_seed], place[is_seed]
    order = xp.argsort(keys)
    keys, place = keys[order], place[order]
    is_first = xp.concatenate([xp.ones(min(1, keys.size), bool), keys[1:] != keys[:-1]])
    _sort_places(keys, place, is_first)
    start = xp.flatnonzero(is_first)
    first = xp.concatenate([start, xp.full(1, keys.size, start.dtype)]).astype(np.int64)
    keys = keys[start]
    return SeedIndex(k, sample, keys, *build_index(keys), first, place)


def _sort_places(keys: Array, place: Array, is_first: Array) -> None:
    """Sort the places of each seed that stands at several, in place; the others need no second sort."""
    xp = array_namespace(keys)
    is_alone = is_first & xp.concatenate([is_first[1:], xp.ones(min(1, keys.size), bool)])
    several = xp.flatnonzero(~is_alone)
    if several.size:
        order = xp.lexsort(xp.stack([place[several].astype(np.uint64), keys[several]]))
        place[several] = place[several][order]


@for_each
def _find_seeds(t, position, count, offset, words, k, sample, keys, place):
    kmer_mask = (_ONE << np.uint64(2 * k)) - _ONE
    forward = np.uint64(0)
    for i in range(k - 1):
        forward = (forward << _TWO) | base_at(words, position[t] + i)
    for j in range(count[t]):
        forward = ((forward << _TWO) | base_at(words, position[t] + j + k - 1)) & kmer_mask
        backward = reverse_complement_plain(forward, k)
        key = min(forward, backward)
        at = offset[t] + j
        keys[at] = key
        place[at] = -1
        if mix(key) & sample == np.uint64(0):
            place[at] = 2 * (position[t] + j) + (1 if backward < forward else 0)
