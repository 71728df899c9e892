"""Tiles: every window of every read once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.kmers.windows import TILE, tile_windows
from gpuasm.sequence.reads import Reads


def windows_of(tiles):
    count = to_host(tiles.count)
    assert count.size == tiles.n
    assert ((count >= 1) & (count <= TILE)).all()
    position = to_host(tiles.position)
    return [p + i for p, n in zip(position.tolist(), count.tolist(), strict=True) for i in range(n)]


def assert_tiles(lengths, k, xp=np):
    reads = Reads.from_strings(["A" * length for length in lengths]).moved_to(xp)
    tiles = tile_windows(reads, k)
    starts, sizes = to_host(reads.start).tolist(), to_host(reads.length).tolist()
    assert windows_of(tiles) == [s + i for s, n in zip(starts, sizes, strict=True) for i in range(n - k + 1)]
    firsts, lasts = set(starts), {s + n - k for s, n in zip(starts, sizes, strict=True) if n >= k}
    for at, n, is_first, is_last in zip(
        *(to_host(a).tolist() for a in (tiles.position, tiles.count, tiles.is_first, tiles.is_last)), strict=True
    ):
        assert is_first == (at in firsts)
        assert is_last == (at + n - 1 in lasts)


@given(lengths=st.lists(st.integers(0, 200), max_size=12), k=st.sampled_from([3, 31, 63]))
def test_any_lengths(lengths, k):
    assert_tiles(lengths, k)


@pytest.mark.parametrize("lengths", [[], [30], [31], [31 + 63, 31 + 64], [5000, 1, 31, 94, 95, 2]])
def test_lengths_at_the_edge_of_tiles(lengths, xp):
    assert_tiles(lengths, 31, xp)
