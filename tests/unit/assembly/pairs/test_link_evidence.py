"""The pairs that are expected to link unitigs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K
from gpuasm.assembly.alignment.read_threading import GraphArrays
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.link_evidence import expected_pairs, weigh_links
from gpuasm.assembly.pairs.links import Links

INSERTS = InsertSizes(np.array([0] * 90 + [3, 5, 9, 20, 40, 22, 8, 5, 1]), bases_per_pair=37)
START, DEPTH, DEAD = np.array([0, 120, 260, 300]), np.array([40, 900, 33]), np.array([0, 3, 17, 0, 9, 1])
GRAPH = GraphArrays(31, np.zeros(1, np.uint64), START, np.zeros(7, np.int64), np.zeros(0, np.int32), DEPTH)


def links_of(pairs, source: int, target: int) -> Links:
    """Return one link, by the bases of each pair before and behind its gap."""
    left, right = (np.array(side, np.int32) for side in zip(*pairs, strict=True))
    ends = (np.array([end], np.int32) for end in (source, target))
    none = np.full(8 * len(pairs), -1, np.int32)
    return Links(*ends, np.array([0, len(pairs)]), np.arange(len(pairs)), left, right, none, none)


def placements(gap: int, near: tuple[int, int], far: tuple[int, int]) -> int:
    """Count placements of fragments, from the least to the greatest reach on both sides of the gap."""
    return sum(
        count
        for size, count in enumerate(INSERTS.histogram.tolist())
        if count
        for before in range(near[0], far[0] + 1)
        if near[1] <= size - gap - before <= far[1]
    )


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-20, 60)), max_size=6))
def test_expected_pairs_equal_plain_counts(joins):
    per_pair = INSERTS.model().per_pair
    reach, length = DEAD + ANCHOR_K, np.diff(START)
    expected = []
    for x, y, gap in joins:
        near = int(reach[x]), int(reach[y ^ 1])
        far = max(near[0], int(length[x >> 1])), max(near[1], int(length[y >> 1]))
        expected.append(int(min(DEPTH[x >> 1], DEPTH[y >> 1])) * max(1, placements(gap, near, far)) // per_pair)
    assert expected_pairs(joins, GRAPH, SimpleNamespace(dead=DEAD), INSERTS) == expected


@given(
    st.lists(st.tuples(st.integers(31, 150), st.integers(31, 150)), min_size=1, max_size=5),
    st.sampled_from([(0, 2), (0, 3), (2, 0), (2, 4)]),
)
def test_pairs_expected_beyond_the_farthest_equal_plain_counts(pairs, ends):
    links = links_of(pairs, *ends)
    left, right = links.left, links.right
    found = weigh_links(links, GRAPH, SimpleNamespace(dead=DEAD), INSERTS)
    (x, y), gap, per_pair = ends, int(found.gap[0]), INSERTS.model().per_pair
    insert = left.astype(int) + right + gap
    fits = (insert >= INSERTS.shortest) & (insert <= INSERTS.longest)
    assert found.n_pairs[0] == fits.sum()
    if not fits.any():
        assert found.beyond[0] == 0
        return
    near = int(DEAD[x]) + ANCHOR_K, int(DEAD[y ^ 1]) + ANCHOR_K
    far = max(near[0], int(np.diff(START)[x >> 1])), max(near[1], int(np.diff(START)[y >> 1]))
    after = max(near[0], int(left[fits].max()) + 1), max(near[1], int(right[fits].max()) + 1)
    beyond = max(1, placements(gap, (after[0], near[1]), far), placements(gap, (near[0], after[1]), far))
    assert found.beyond[0] == int(min(DEPTH[x >> 1], DEPTH[y >> 1])) * beyond // per_pair


@pytest.mark.parametrize("length", [100, 10])
def test_pairs_beyond_are_expected_of_mates_within_their_unitigs(length):
    """As if each unitig had no anchors within a read of its end: an end that no read crosses is no evidence."""
    inserts = replace(INSERTS, bases_per_pair=length)
    found, whole = (
        weigh_links(links_of([(52, 60), (55, 51)], 0, 2), GRAPH, SimpleNamespace(dead=dead), inserts)
        for dead in (DEAD, np.maximum(DEAD, length // 2 - ANCHOR_K))
    )
    assert found.beyond == whole.beyond
    assert (found.expected == whole.expected) == (length == 10)
