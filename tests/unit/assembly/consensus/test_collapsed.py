"""Collapsed repeats: units of a tandem repeat that were left once, and stretches against a plain search."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.consensus.collapsed import find_deep
from gpuasm.assembly.consensus.consensus import check_contigs
from gpuasm.assembly.contigs import Contig
from gpuasm.sequence.reads import Reads
from tests.unit.assembly.consensus.library import pairs_from, random_codes

SIDE, OTHERS = 3000, ("end-extension", "departures", "unspanned", "rival-ends", "compressed")


def contigs_of(*texts, circular=False):
    return [Contig("", codes, 40.0, 1, is_circular=circular, unitig=0) for codes in texts]


def checked(codes, texts, *, without=OTHERS, circular=False):
    contigs = contigs_of(codes, circular=circular)
    return check_contigs(contigs, Reads.from_strings(texts, paired=True), min_length=1, without=without)


@pytest.mark.parametrize(("unit", "n_units", "is_broken"), [(550, 8, True), (550, 2, False), (250, 30, True)])
def test_units_of_a_tandem_repeat_that_were_left_once_are_broken(rng, unit, n_units, is_broken):
    """Reads of two copies are not so many that they say it."""
    left, right, own = (random_codes(rng, size) for size in (SIDE, SIDE, unit))
    texts = pairs_from(np.concatenate([left, *n_units * [own], right]), fold=40, rng=rng)
    joined = np.concatenate([left, own, right])
    found = checked(joined, texts)
    assert found.counts["collapsed"] == found.counts["joins_broken"] == int(is_broken)
    assert checked(joined, texts, without=(*OTHERS, "collapsed")).counts["joins_broken"] == 0
    if is_broken:
        assert [own.length for own in found.contigs] == pytest.approx(2 * [SIDE + unit // 2], abs=60)


def test_a_deep_stretch_that_fragments_span_stays(rng):
    """A motif stands in many places; here its sides are known."""
    left, right, motif = (random_codes(rng, size) for size in (SIDE, SIDE, 150))
    elsewhere = np.concatenate([part for _ in range(8) for part in (random_codes(rng, 400), motif)])
    texts = pairs_from(np.concatenate([left, motif, right]), fold=40, rng=rng)
    texts += pairs_from(elsewhere, fold=40, rng=rng)
    joined = np.concatenate([left, motif, right])
    depth = checked(joined, texts).depth
    assert find_deep(contigs_of(joined), depth, np.array([0, joined.size])).shape == (1, 2)
    assert checked(joined, texts).counts["collapsed"] == 0


@pytest.mark.parametrize("side", [200, SIDE])
def test_near_the_end_of_a_contig_and_on_circles_nothing_is_told(rng, side):
    left, right, own = (random_codes(rng, size) for size in (SIDE, side, 550))
    texts = pairs_from(np.concatenate([left, *8 * [own], right]), fold=40, rng=rng)
    joined = np.concatenate([left, own, right])
    assert checked(joined, texts).counts["collapsed"] == int(side == SIDE)
    assert checked(joined, texts, without=(*OTHERS, "circle-cuts"), circular=True).counts["collapsed"] == 0


def test_two_units_of_many_are_broken_where_depth_falls_gently(rng):
    """The outer units differ from those between, as in *V. cholerae*: reads of these leave them bit by bit."""
    left, right, own = (random_codes(rng, size) for size in (SIDE, SIDE, 600))
    first, last = own.copy(), own.copy()
    first[20:110:30] ^= 1
    last[490:580:30] ^= 2
    texts = pairs_from(np.concatenate([left, first, *8 * [own], last, right]), fold=40, rng=rng)
    joined = np.concatenate([left, first, last, right])
    assert checked(joined, texts).counts["collapsed"] == 1
    depth = checked(joined, texts, without=(*OTHERS, "collapsed")).depth
    assert find_deep(contigs_of(random_codes(rng, joined.size)), depth, np.array([0, joined.size])).size == 0


@pytest.mark.parametrize(
    ("width", "is_tandem", "n_found"), [(1, False, 1), (200, False, 0), (1, True, 1), (200, True, 1)]
)
def test_depth_that_rises_gently_is_no_repeat_but_in_units(rng, width, is_tandem, n_found):
    """It does in captured samples."""
    ramp = np.linspace(20, 200, width).astype(np.int32)
    depth = np.concatenate([np.full(3000, 20), ramp, np.full(400, 200), ramp[::-1], np.full(3000, 20)]).astype(np.int32)
    codes = np.resize(random_codes(rng, 150), depth.size) if is_tandem else random_codes(rng, depth.size)
    assert len(find_deep(contigs_of(codes), depth, np.array([0, depth.size]))) == n_found


@pytest.mark.parametrize(("unit", "is_tandem"), [(150, True), (230, True), (270, False), (310, False), (1000, False)])
def test_units_are_told_where_half_of_the_words_stand_again(rng, unit, is_tandem):
    """Of 1.5 units two thirds do, of little more than one hardly any."""
    depth = np.concatenate([np.full(2000, 20), np.arange(20, 220), np.full(34, 220)]).astype(np.int32)
    depth = np.concatenate([depth, depth[::-1]])
    codes, bounds = np.resize(random_codes(rng, 40), depth.size), np.array([0, depth.size])
    ((low, high),) = find_deep(contigs_of(codes), depth, bounds)
    codes = random_codes(rng, depth.size)
    codes[low:high] = np.resize(random_codes(rng, unit), high - low)
    assert len(find_deep(contigs_of(codes), depth, bounds)) == int(is_tandem)


def plain_stretches(depth, bounds):
    found = []
    for low, high in pairwise(bounds):
        deep = [
            at for at in range(low, high) if depth[at] * (high - low) > 2.5 * sum(depth[low:high]) >= 25 * (high - low)
        ]
        runs = []
        for at in deep:
            if runs and at - runs[-1][1] < 100:
                runs[-1][1] = at + 1
            else:
                runs.append([at, at + 1])
        for begin, end in runs:
            if end - begin >= 100 and begin - 10 >= low and end + 10 <= high:
                is_steep = 2 * depth[begin - 10] <= depth[begin + 10] and 2 * depth[end + 9] <= depth[end - 11]
                found += [(begin, end)] if is_steep else []
    return found


@given(st.lists(st.lists(st.tuples(st.integers(0, 150), st.sampled_from([0, 10, 30, 90])), max_size=6), max_size=4))
def test_stretches_are_those_of_a_plain_search(contigs):
    parts = [[np.full(n, depth, np.int32) for n, depth in own] for own in contigs]
    whole = [np.concatenate([*own, np.empty(0, np.int32)]) for own in parts]
    bounds = [0, *np.cumsum([own.size for own in whole]).tolist()]
    depth = np.concatenate([*whole, np.empty(0, np.int32)]).astype(np.int32)
    texts = [random_codes(np.random.default_rng(i), own.size) for i, own in enumerate(whole)]
    found = find_deep(contigs_of(*texts), depth, np.array(bounds))
    assert [tuple(row) for row in found.tolist()] == plain_stretches(depth.tolist(), bounds)
