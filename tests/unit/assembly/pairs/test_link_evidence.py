"""How many pairs should link unitigs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.pairs.anchors import ANCHOR_K
from gpuasm.assembly.pairs.link_evidence import _lengths, expected_pairs

INSERTS = SimpleNamespace(histogram=np.array([0] * 90 + [3, 5, 9, 20, 40, 22, 8, 5, 1]), longest=98, bases_per_pair=37)
SCALED = INSERTS.histogram * (1 << 16) // (1 << 16)
START, DEPTH, DEAD = np.array([0, 120, 260, 300]), np.array([40, 900, 33]), np.array([0, 3, 17, 0, 9, 1])


def ways(gap: int, near: tuple[int, int], far: tuple[int, int]) -> int:
    """Count fragments by where they begin and end: from the least to the most reach on both sides of the gap."""
    return sum(
        count
        for size, count in enumerate(SCALED.tolist())
        if count
        for before in range(near[0], far[0] + 1)
        if near[1] <= size - gap - before <= far[1]
    )


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-20, 60)), max_size=6))
def test_expected_pairs_are_those_counted_one_by_one(joins):
    graph, reaches = SimpleNamespace(start=START, depth=DEPTH), SimpleNamespace(dead=DEAD)
    _, per_pair = _lengths(INSERTS)
    reach, length = DEAD + ANCHOR_K, np.diff(START)
    expected = []
    for x, y, gap in joins:
        near = int(reach[x]), int(reach[y ^ 1])
        far = max(near[0], int(length[x >> 1])), max(near[1], int(length[y >> 1]))
        expected.append(int(min(DEPTH[x >> 1], DEPTH[y >> 1])) * max(1, ways(gap, near, far)) // per_pair)
    assert expected_pairs(joins, graph, reaches, INSERTS) == expected
