"""Parts of contigs: each base that stays is in one part, and parts keep the ends that are theirs, and no others."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.consensus.compressed import Lack
from gpuasm.assembly.consensus.parts import Cuts, Join, Parts, cut_contigs
from gpuasm.assembly.contigs import Contig

LEAST = 20
LACK = Lack(60, 2.5, 30)


def contig(rng, length, *, number=0, circular=False):
    ends = (-1, -1) if circular else (2 * number, 2 * number + 1)
    return Contig("", rng.integers(0, 4, length).astype(np.uint8), 9.0, 1, circular, number, ends=ends)


def parts_of(contigs, *, breaks=(), left=(), lacking=None, opened=None, min_length=LEAST) -> Parts:
    codes = np.concatenate([own.codes for own in contigs] or [np.empty(0, np.uint8)])
    is_left = np.zeros(codes.size, bool)
    for low, high in left:
        is_left[low:high] = True
    stretches = np.array(left, np.int64).reshape(-1, 2)
    cuts = Cuts.of(np.array(breaks, np.int64), stretches, lacking or {})
    return cut_contigs(contigs, codes, cuts, is_left=is_left, opened=opened or {}, min_length=min_length)


def told(parts):
    return [(own.length, own.unitig, own.ends, own.extended) for own in parts.contigs]


@pytest.mark.parametrize(
    ("breaks", "left", "expected"),
    [
        ([], [], [(300, 0, (0, 1), (0, 0))]),
        ([], [(0, 50)], [(250, 0, (0, 1), (0, -50))]),
        ([], [(260, 300)], [(260, 0, (0, 1), (-40, 0))]),
        ([], [(0, 50), (260, 300)], [(210, 0, (0, 1), (-40, -50))]),
        ([], [(0, 300)], []),
        ([100], [], [(200, -1, (0, -1), (0, 0)), (100, -1, (-1, 1), (0, 0))]),
        ([100], [(100, 300)], [(100, -1, (-1, 1), (0, 0))]),
        ([100], [(0, 100)], [(200, -1, (0, -1), (0, 0))]),
        ([100], [(0, 150)], [(150, -1, (0, -1), (0, 0))]),
        ([100], [(250, 300)], [(150, -1, (0, -1), (-50, 0)), (100, -1, (-1, 1), (0, 0))]),
        ([100, 200], [], [(100, -1, (0, -1), (0, 0)), (100, -1, (-1, -1), (0, 0)), (100, -1, (-1, 1), (0, 0))]),
        # what is left between two stretches, or beside a break, and too short is left out with them
        ([], [(0, 40), (50, 90)], [(210, 0, (0, 1), (0, -90))]),
        ([10], [], [(290, -1, (0, -1), (0, 0))]),
        ([290], [(270, 290)], [(270, -1, (-1, 1), (0, 0))]),
    ],
)
def test_parts_keep_the_ends_that_nothing_broken_is_before(rng, breaks, left, expected):
    parts = parts_of([contig(rng, 300)], breaks=breaks, left=left)
    assert sorted(told(parts), reverse=True) == sorted(expected, reverse=True)


def test_a_part_ends_as_far_from_the_unitig_as_its_contig_less_what_is_left_out(rng):
    own = contig(rng, 300)
    longer = Contig("", own.codes, 9.0, 1, False, 0, extended=(30, 10), ends=(0, 1))
    assert told(parts_of([longer], left=[(280, 300)])) == [(280, 0, (0, 1), (10, 10))]


def test_the_two_sides_of_a_break_that_lacks_bases_are_joined(rng):
    contigs = [contig(rng, 100), contig(rng, 300, number=1), contig(rng, 250, number=2)]
    parts = parts_of(contigs, breaks=[200, 500], lacking={200: LACK})
    assert [own.length for own in parts.contigs] == [200, 150, 100, 100, 100]
    (join,) = parts.joins
    assert join == Join(join.source, join.target, LACK)
    sides = [parts.contigs[end >> 1].codes for end in (join.source, join.target)]
    assert (join.source & 1, join.target & 1) == (0, 0)
    assert np.array_equal(np.concatenate(sides), contigs[1].codes)


@pytest.mark.parametrize(
    ("breaks", "left"), [([100], [(100, 150)]), ([100, 110], []), ([10], []), ([100], [(50, 100)])]
)
def test_nothing_is_joined_where_more_is_missing_than_the_break_says(rng, breaks, left):
    parts = parts_of([contig(rng, 300)], breaks=breaks, left=left, lacking={breaks[0]: LACK})
    assert parts.joins == []


def test_circles_begin_where_they_are_opened_and_have_no_ends_when_broken(rng):
    circle = contig(rng, 300, circular=True)
    (whole,) = parts_of([circle], opened={0: 70}).contigs
    assert whole.is_circular
    assert np.array_equal(whole.codes, np.roll(circle.codes, -70))
    broken = parts_of([circle], breaks=[100])
    assert [(own.length, own.is_circular, own.unitig, own.ends) for own in broken.contigs] == [
        (200, False, -1, (-1, -1)),
        (100, False, -1, (-1, -1)),
    ]


def test_nothing_has_no_parts():
    parts = parts_of([])
    assert (parts.contigs, parts.places.tolist(), parts.joins) == ([], [], [])


@given(st.data())
def test_each_base_that_stays_is_in_one_part(data):
    lengths = data.draw(st.lists(st.integers(1, 90), min_size=1, max_size=5))
    contigs = [contig(np.random.default_rng(n), length, number=n) for n, length in enumerate(lengths)]
    size = sum(lengths)
    breaks = sorted(data.draw(st.sets(st.integers(0, size - 1), max_size=6)))
    low = data.draw(st.integers(0, size))
    left = [(low, data.draw(st.integers(low, size)))]
    min_length = data.draw(st.integers(1, 30))
    parts = parts_of(contigs, breaks=breaks, left=left, min_length=min_length)

    starts = np.cumsum([0, *lengths]).tolist()
    edges = sorted({*breaks, *left[0], *starts})
    stays = [(a, b) for a, b in pairwise(edges) if b - a >= min_length]
    stays = [(a, b) for a, b in stays if not left[0][0] <= a < left[0][1]]
    assert sorted(parts.places.tolist()) == [place for a, b in stays for place in range(a, b)]
    codes = np.concatenate([own.codes for own in contigs])
    assert b"".join(own.codes.tobytes() for own in parts.contigs) == codes[parts.places].tobytes()
    assert [own.length for own in parts.contigs] == sorted((b - a for a, b in stays), reverse=True)
    given_ends = [end for own in parts.contigs for end in own.ends if end >= 0]
    assert len(given_ends) == len(set(given_ends))
