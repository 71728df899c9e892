"""Tiles of windows: equal units of work over reads of any length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.errors import DataError
from gpuasm.sequence.reads import Reads

TILE = 64
"""Windows in a tile at most."""


@dataclass(frozen=True)
class Tiles:
    """Runs of windows, each processed by one thread.

    Attributes
    ----------
    position : (n,) int64
        Text position of the first window of each tile.
    count : (n,) int32
        Windows in each tile, 1 to 64.
    is_first, is_last : (n,) bool
        Whether the tile has the first, and the last, window of its segment.
    """

    position: Array
    count: Array
    is_first: Array
    is_last: Array

    @property
    def n(self) -> int:
        return int(self.position.size)


PRECEDED, FOLLOWED = 1, 2
"""Flanks of a segment: its read has a base before it, and one after it, next to it in the text."""


def tile_windows(reads: Reads, k: int, flanks: Array | None = None) -> Tiles:
    """Cut the windows of k bases of the reads into tiles, in the order of the reads.

    Parameters
    ----------
    reads
        The reads.
    k
        Bases of a window.
    flanks : (n_segments,) uint8
        `PRECEDED` and `FOLLOWED` of segments that are parts of reads. A tile has the first window of a segment that is
        not preceded, and the last of one that is not followed. None for whole reads.
    """
    xp = array_namespace(reads.packed)
    windows = xp.maximum(reads.length.astype(np.int64) - (k - 1), 0)
    n_tiles = (windows + TILE - 1) // TILE
    tile_end = xp.cumsum(n_tiles)
    total = int(tile_end[-1]) if tile_end.size else 0
    piece = _repeat(xp, n_tiles, tile_end, total)
    within = (xp.arange(total, dtype=np.int64) - (tile_end - n_tiles)[piece]) * TILE
    left = windows[piece] - within
    is_first, is_last = within == 0, left <= TILE
    if flanks is not None:
        is_first &= (flanks & PRECEDED)[piece] == 0
        is_last &= (flanks & FOLLOWED)[piece] == 0
    return Tiles(reads.start[piece] + within, xp.minimum(left, TILE).astype(np.int32), is_first, is_last)


def require_windows(reads: Reads, k: int) -> None:
    """Raise DataError unless there is a window of k bases."""
    longest = int(reads.length.max()) if reads.n_segments else 0
    if longest < k:
        raise DataError(
            f"reads of at least k = {k} bases", f"no read longer than {longest}", "give longer reads, or a smaller -k"
        )


def _repeat(xp, times: Array, end: Array, total: int) -> Array:
    # cupy.repeat wants its counts on the host: search instead.
    if xp is np:
        return np.repeat(np.arange(times.size), times)
    return xp.searchsorted(end, xp.arange(total, dtype=np.int64), side="right")
