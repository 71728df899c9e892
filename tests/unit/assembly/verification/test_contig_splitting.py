"""Parts of split contigs: each kept base is in one part, and each part keeps its own graph ends."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.contig import Contig
from gpuasm.assembly.verification.contig_splitting import Cuts, Parts, split_contigs

LEAST = 20


def contig(rng, length, *, number=0, circular=False):
    ends = (-1, -1) if circular else (2 * number, 2 * number + 1)
    return Contig("", rng.integers(0, 4, length).astype(np.uint8), 9.0, 1, circular, number, ends=ends)


def parts_of(contigs, *, breaks=(), excluded=(), first_base=None, min_length=LEAST) -> Parts:
    codes = np.concatenate([own.codes for own in contigs] or [np.empty(0, np.uint8)])
    is_excluded = np.zeros(codes.size, bool)
    for low, high in excluded:
        is_excluded[low:high] = True
    stretches = np.array(excluded, np.int64).reshape(-1, 2)
    cuts = Cuts.of(np.array(breaks, np.int64), stretches)
    return split_contigs(
        contigs, codes, cuts, is_excluded=is_excluded, first_base=first_base or {}, min_length=min_length
    )


def facts_of(parts):
    return [(own.length, own.unitig, own.ends, own.extended) for own in parts.contigs]


@pytest.mark.parametrize(
    ("breaks", "excluded", "expected"),
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
        # what remains between two excluded stretches, or next to a break, and is too short is excluded with them
        ([], [(0, 40), (50, 90)], [(210, 0, (0, 1), (0, -90))]),
        ([10], [], [(290, -1, (0, -1), (0, 0))]),
        ([290], [(270, 290)], [(270, -1, (-1, 1), (0, 0))]),
    ],
)
def test_parts_keep_graph_ends_up_to_a_break(rng, breaks, excluded, expected):
    parts = parts_of([contig(rng, 300)], breaks=breaks, excluded=excluded)
    assert sorted(facts_of(parts), reverse=True) == sorted(expected, reverse=True)


def test_extension_of_a_part_is_that_of_its_contig_less_excluded_bases(rng):
    own = contig(rng, 300)
    extended = Contig("", own.codes, 9.0, 1, False, 0, extended=(30, 10), ends=(0, 1))
    assert facts_of(parts_of([extended], excluded=[(280, 300)])) == [(280, 0, (0, 1), (10, 10))]


def test_circular_contigs_are_rotated_or_split_without_graph_ends(rng):
    circle = contig(rng, 300, circular=True)
    (whole,) = parts_of([circle], first_base={0: 70}).contigs
    assert whole.is_circular
    assert np.array_equal(whole.codes, np.roll(circle.codes, -70))
    broken = parts_of([circle], breaks=[100])
    assert [(own.length, own.is_circular, own.unitig, own.ends) for own in broken.contigs] == [
        (200, False, -1, (-1, -1)),
        (100, False, -1, (-1, -1)),
    ]


def test_parts_name_the_unitig_of_the_whole(rng):
    parts = parts_of(
        [replace(contig(rng, 300), source=4), replace(contig(rng, 280, circular=True), source=7)], breaks=[100, 390]
    )
    assert [(own.length, own.source) for own in parts.contigs] == [(200, 4), (190, 7), (100, 4), (90, 7)]


def test_no_contigs_have_no_parts():
    parts = parts_of([])
    assert (parts.contigs, parts.stretches) == ([], [])


@given(st.data())
def test_each_kept_base_is_in_one_part(data):
    lengths = data.draw(st.lists(st.integers(1, 90), min_size=1, max_size=5))
    contigs = [contig(np.random.default_rng(n), length, number=n) for n, length in enumerate(lengths)]
    size = sum(lengths)
    breaks = sorted(data.draw(st.sets(st.integers(0, size - 1), max_size=6)))
    low = data.draw(st.integers(0, size))
    excluded = [(low, data.draw(st.integers(low, size)))]
    min_length = data.draw(st.integers(1, 30))
    parts = parts_of(contigs, breaks=breaks, excluded=excluded, min_length=min_length)

    starts = np.cumsum([0, *lengths]).tolist()
    edges = sorted({*breaks, *excluded[0], *starts})
    stays = [(a, b) for a, b in pairwise(edges) if b - a >= min_length]
    stays = [(a, b) for a, b in stays if not excluded[0][0] <= a < excluded[0][1]]
    codes = np.concatenate([own.codes for own in contigs])
    taken = parts.take(np.arange(size)).tolist()
    assert sorted(taken) == [place for a, b in stays for place in range(a, b)]
    assert b"".join(own.codes.tobytes() for own in parts.contigs) == parts.take(codes).tobytes()
    assert [own.length for own in parts.contigs] == sorted((b - a for a, b in stays), reverse=True)
    given_ends = [end for own in parts.contigs for end in own.ends if end >= 0]
    assert len(given_ends) == len(set(given_ends))
