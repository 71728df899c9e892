"""An index of the k-mers of a text by minimizers: a k-mer is found by its minimizer, then compared with the text.

The minimizer of a k-mer is the m-mer in it, of either strand, whose hash is least. Only the places of minimizers are
indexed, about 2 / (k - m + 2) of all; a dictionary of the k-mers has a key and more than one slot for each. Where two
m-mers of a k-mer are the same least one, both places are indexed, so either finds it. Roberts et al. (2004),
doi:10.1093/bioinformatics/bth408.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.errors import ResourceError
from gpuasm.kmers.keys import minimizer_bases, reverse_complement_plain
from gpuasm.kmers.names import require_nameable
from gpuasm.kmers.rolling import all_but_last, rolled
from gpuasm.kmers.windows import tile_windows
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import build_index, slot_of
from gpuasm.primitives.searching import run_in_block, runs_of_blocks
from gpuasm.sequence.encoding import base_at, block_at
from gpuasm.sequence.reads import Reads

_ZERO, _ONE, _TWO, _THREE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MOST_BASES = 1 << 31


class TextRows(NamedTuple):
    """What kernels take of a `TextIndex`, under the same names."""

    packed: Array
    start: Array
    length: Array
    blocks: Array
    slots: Array
    n_slots: Any
    is_unique: Array
    k: Any
    m: Any
    overlap: Any


TEXT_ROW_TYPES = (
    "uint64[::1], int64[::1], int32[::1], int32[::1], int32[::1], uint64, boolean[::1], int64, int64, int64, "
)
"""The types of `TextRows`, for the signatures of kernels."""


@dataclass(frozen=True)
class TextIndex:
    """The k-mers of a text that consists of segments.

    Attributes
    ----------
    k, m : int
        Bases of a k-mer, at most 31, and of a minimizer, both odd.
    overlap : int
        k - 1 if the segments are unitigs of k-mers that all differ: numbers of windows are consecutive. Otherwise 0:
        numbers of windows are positions.
    packed : (n_packed,) uint64
        The text.
    start, length : (n + 1,) int64 and (n,) int32
        Where segments begin, ascending, with the end of the text, and their bases.
    blocks : (n_blocks,) int32
        The segment of the first position of each block; see `gpuasm.primitives.searching.runs_of_blocks`.
    slots, n_slots
        The positions of minimizers; see `gpuasm.primitives.hashing.build_index`.
    is_unique : (32 * n_packed,) bool, or (0,)
        Whether the window that begins at a position is the only one of its k-mer, both strands together. None is kept
        where k-mers all differ.
    """

    k: int
    m: int
    overlap: int
    packed: Array
    start: Array
    length: Array
    blocks: Array
    slots: Array
    n_slots: Any
    is_unique: Array

    @classmethod
    def of(cls, text: Reads, k: int, *, overlap: int = 0) -> TextIndex:
        """Index the windows of segments that lie one after the other.

        Raises
        ------
        ResourceError
            If the text has 2^31 bases or more.
        """
        xp, n_bases = array_namespace(text.packed), 32 * text.packed.size
        if n_bases >= _MOST_BASES:
            expected = f"fewer than {_MOST_BASES:,} bases of unitigs"
            raise ResourceError(expected, f"{n_bases:,}", "raise --min-count or assemble fewer reads at a time")
        m = minimizer_bases(k)
        start = xp.concatenate([text.start, xp.array([n_bases], np.int64)])
        blocks = runs_of_blocks(start, n_bases) if text.n_segments else xp.empty(0, np.int32)
        is_minimizer, tiles = xp.zeros(n_bases, bool), tile_windows(text, k)
        _mark_minimizers(tiles.n, tiles.position, tiles.count, text.packed, k, m, is_minimizer)
        position = xp.flatnonzero(is_minimizer).astype(np.int32)
        del is_minimizer, tiles
        hashes = xp.empty(position.size, np.uint64)
        _write_hashes(position.size, position, text.packed, m, hashes)
        slots, n_slots = build_index(hashes)
        del hashes
        if position.size:
            _write_positions(slots.size, position, slots)
        index = cls(k, m, overlap, text.packed, start, text.length, blocks, slots, n_slots, xp.empty(0, bool))
        return index if overlap else replace(index, is_unique=index._unique_windows(text))

    @property
    def rows(self) -> TextRows:
        """The arrays and sizes, for kernels."""
        where = (self.packed, self.start, self.length, self.blocks, self.slots, self.n_slots)
        return TextRows(*where, self.is_unique, self.k, self.m, self.overlap)

    def _unique_windows(self, text: Reads) -> Array:
        tiles, is_unique = tile_windows(text, self.k), array_namespace(text.packed).zeros(32 * text.packed.size, bool)
        _find_unique(tiles.n, tiles.position, tiles.count, self.rows, is_unique)
        return is_unique

    def find_windows(self, keys: Array) -> Array:
        """Return the oriented window of plain k-mers, given by their (n,) uint64 keys: as `name_windows` names them."""
        names = array_namespace(keys).empty(keys.size, np.int32)
        _name_keys(keys.size, keys, self.rows, names)
        return names

    def name_windows(self, reads: Reads) -> Array:
        """Name the k-mers of reads by their windows in the text.

        Returns
        -------
        (32 * n_packed,) int32: 2 * window + strand at the first base of each window of the reads, -1 where the text has
        no such k-mer. The number of a window is its position less `overlap` for each segment before its own. Of equal
        k-mers of the text, the first one is taken. The strand is 1 where the text has the reverse complement.
        """
        require_nameable(32 * int(self.packed.size))
        xp, tiles = array_namespace(reads.packed), tile_windows(reads, self.k)
        names = xp.full(reads.packed.size * 32, -1, dtype=np.int32)
        _name_by_text(tiles.n, tiles.position, tiles.count, reads.packed, self.rows, names)
        return names


@inlined()
def segment_of(position, text):
    """Return the segment of a position of a text."""
    return run_in_block(position, text.start, text.blocks)


@inlined()
def name_of_place(place, text):
    """Return the name of the window at a place, 2 * position + strand; see `TextIndex.name_windows`."""
    return place - 2 * text.overlap * segment_of(place >> 1, text) if text.overlap else place


@inlined()
def _bases_at(packed, position, n):
    """Return n bases (uint64) from a position on."""
    return block_at(packed, position) >> np.uint64(64 - 2 * n)


@inlined()
def _hash(key):
    """Return the hash by which the least m-mer is chosen: different m-mers have different ones."""
    return key * _MULTIPLIER


@inlined()
def _hash_at(packed, position, m):
    """Return the hash of the m-mer at a position, the same for both strands."""
    forward = _bases_at(packed, position, m)
    return _hash(min(forward, reverse_complement_plain(forward, m)))


@inlined()
def _hash_within(forward, backward, i, k, m):
    """Return the hash of the m-mer that begins i bases from the beginning of a k-mer."""
    mask = (_ONE << np.uint64(2 * m)) - _ONE
    return _hash(min((forward >> np.uint64(2 * (k - m - i))) & mask, (backward >> np.uint64(2 * i)) & mask))


@inlined()
def minimizer(forward, backward, k, m):
    """Return the hash of the minimizer of a k-mer, and how many bases from the beginning of the k-mer it begins."""
    least, at = _hash_within(forward, backward, 0, k, m), np.int64(0)
    for i in range(1, k - m + 1):
        own = _hash_within(forward, backward, i, k, m)
        if own < least:
            least, at = own, np.int64(i)
    return least, at


@inlined()
def next_minimizer(least, at, forward, backward, k, m):
    """Return the minimizer of a k-mer by that of the k-mer one base before, at -1 if that is not known."""
    at -= 1
    if at < 0:
        least, at = minimizer(forward, backward, k, m)
    else:
        own = _hash_within(forward, backward, k - m, k, m)
        if own < least:
            least, at = own, np.int64(k - m)
    return least, at


@inlined()
def find_place(forward, backward, least, at, most, text):
    """Return where a text has a k-mer: 2 * position + strand, or -1, and how often it was found, up to ``most``.

    The strand is 1 where the text has the reverse complement. ``least`` and ``at`` are those of `minimizer`. Of several
    places that are found, the first one in the text is returned.
    """
    k, place, n = text.k, np.int64(-1), 0
    slot = slot_of(least, text.n_slots)
    position = np.int64(text.slots[np.int64(slot)])
    while position >= 0 and n < most:
        for strand in range(2):
            first = position - (k - text.m - at if strand else at)
            if first >= 0 and _bases_at(text.packed, first, k) == (backward if strand else forward):
                s = segment_of(first, text)
                if text.start[s] <= first and first + k <= text.start[s] + text.length[s]:
                    n += 1
                    if place < 0 or 2 * first < place:
                        place = 2 * first + strand
        slot += _ONE
        if slot == text.n_slots:
            slot = _ZERO
        position = np.int64(text.slots[np.int64(slot)])
    return place, n


_ALL = 1 << 30


@inlined()
def most_places(text):
    """Return how many places of a k-mer `find_place` has to find for the first one: 1 where all k-mers differ."""
    return 1 if text.overlap else _ALL


@signatures("int64[::1], int32[::1], uint64[::1], int64, int64, boolean[::1]")
@for_each
def _mark_minimizers(t, position, count, packed, k, m, is_minimizer):
    """Mark the minimizers of the windows of a tile: of equal m-mers of a window the first and the last one.

    Tiles that overlap mark the same positions.
    """
    first, last = position[t], position[t] + count[t] - 1
    forward, backward = all_but_last(packed, first, k)
    least, at = _ZERO, np.int64(-1)
    for p in range(first, last + 1):
        forward, backward = rolled(forward, backward, base_at(packed, p + k - 1), k)
        least, at = next_minimizer(least, at, forward, backward, k, m)
        is_minimizer[p + at] = True
    at = np.int64(-1)
    for i in range(count[t]):  # back from the last window, on the other strand
        p = last - i
        if i > 0:
            forward = (forward >> _TWO) | (base_at(packed, p) << np.uint64(2 * (k - 1)))
            backward = reverse_complement_plain(forward, k)
        least, at = next_minimizer(least, at, backward, forward, k, m)
        is_minimizer[p + k - m - at] = True


@signatures("int32[::1], uint64[::1], int64, uint64[::1]")
@for_each
def _write_hashes(i, position, packed, m, hashes):
    hashes[i] = _hash_at(packed, np.int64(position[i]), m)


@signatures("int32[::1], int32[::1]")
@for_each
def _write_positions(i, position, slots):
    if slots[i] >= 0:
        slots[i] = position[slots[i]]


@signatures("int64[::1], int32[::1], " + TEXT_ROW_TYPES + "boolean[::1]")
@for_each
def _find_unique(t, position, count, text: TextRows, is_unique):
    k, m = text.k, text.m
    forward, backward = all_but_last(text.packed, position[t], k)
    least, at, before, is_alone = _ZERO, np.int64(-1), np.int64(-1), False
    for p in range(position[t], position[t] + count[t]):
        forward, backward = rolled(forward, backward, base_at(text.packed, p + k - 1), k)
        least, at = next_minimizer(least, at, forward, backward, k, m)
        if p + at != before:
            before, is_alone = p + at, _is_alone(least, text)
        n = 1
        if not is_alone:
            _, n = find_place(forward, backward, least, at, 2, text)
        is_unique[p] = n == 1


@inlined()
def _is_alone(least, text):
    """Return whether a minimizer of the text is indexed once, so that its k-mers are all different."""
    n, slot = 0, slot_of(least, text.n_slots)
    position = np.int64(text.slots[np.int64(slot)])
    while position >= 0 and n < 2:
        n += _hash_at(text.packed, position, text.m) == least
        slot += _ONE
        if slot == text.n_slots:
            slot = _ZERO
        position = np.int64(text.slots[np.int64(slot)])
    return n == 1


@signatures("uint64[::1], " + TEXT_ROW_TYPES + "int32[::1]")
@for_each
def _name_keys(i, keys, text: TextRows, names):
    backward = reverse_complement_plain(keys[i], text.k)
    least, at = minimizer(keys[i], backward, text.k, text.m)
    place, _ = find_place(keys[i], backward, least, at, most_places(text), text)
    names[i] = name_of_place(place, text) if place >= 0 else -1


@signatures("int64[::1], int32[::1], uint64[::1], " + TEXT_ROW_TYPES + "int32[::1]")
@for_each
def _name_by_text(t, position, count, packed, text: TextRows, names):
    k = text.k
    forward, backward = all_but_last(packed, position[t], k)
    least, at = _ZERO, np.int64(-1)
    place, s = np.int64(-1), np.int64(0)
    for p in range(position[t], position[t] + count[t]):
        base = base_at(packed, p + k - 1)
        forward, backward = rolled(forward, backward, base, k)
        place = _next_place(place, s, base, text) if place >= 0 else np.int64(-1)
        if place >= 0:
            at = np.int64(-1)
        else:
            least, at = next_minimizer(least, at, forward, backward, k, text.m)
            place, _ = find_place(forward, backward, least, at, most_places(text), text)
            s = segment_of(place >> 1, text) if place >= 0 else s
        if place >= 0:
            names[p] = place - 2 * text.overlap * s


@inlined()
def _next_place(place, s, base, text):
    """Return the place behind that of a window of segment s, or -1.

    The text must continue with a base there, and have the k-mer once.
    """
    position, found = place >> 1, np.int64(-1)
    if place & 1:
        if position > text.start[s] and _THREE - base_at(text.packed, position - 1) == base:
            found = place - 2
    elif position + text.k < text.start[s] + text.length[s] and base_at(text.packed, position + text.k) == base:
        found = place + 2
    return found if found < 0 or text.overlap or text.is_unique[found >> 1] else np.int64(-1)
