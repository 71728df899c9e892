"""Collapsed repeats: too short spanning fragments break contigs, and give the number of missing bases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.options import rules_without
from gpuasm.assembly.parameters import VERIFICATION
from gpuasm.assembly.verification.contig_checks import check_contigs
from gpuasm.assembly.verification.unsupported_joins import FragmentLengths, find_collapsed_repeats
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.assembly_library import INSERT, pairs_from, random_codes

SIDE, FOLD, FLANK = 3000, 20, VERIFICATION.cover_beyond
OTHERS = ("end-extension", "clipping-breaks", "discordant-pairs", "redundant-ends", "polishing")


def checked(codes, texts, *, without=OTHERS, circular=False):
    contigs = [Contig("", own, 40.0, 1, is_circular=circular, unitig=0) for own in codes]
    return check_contigs(contigs, Reads.from_strings(texts, paired=True), min_length=1, rules=rules_without(without))


@pytest.mark.parametrize(("unit", "lost", "is_broken"), [(60, 1, True), (60, 2, True), (60, 0, False), (20, 1, False)])
def test_contig_is_broken_where_tandem_repeat_units_are_missing(rng, unit, lost, is_broken):
    """The standard deviation of fragments is 30 bases: fewer missing bases are not found."""
    left, right, own = (random_codes(rng, size) for size in (SIDE, SIDE, unit))
    texts = pairs_from(np.concatenate([left, *4 * [own], right]), fold=FOLD, rng=rng)
    joined = np.concatenate([left, *(4 - lost) * [own], right])
    found = checked([joined], texts)
    assert found.counts["collapsed_repeats"] == found.counts["joins_broken"] == int(is_broken)
    if is_broken:
        middle = SIDE + unit * (4 - lost) // 2
        assert found.contigs[0].length == pytest.approx(max(middle, joined.size - middle), abs=unit * 2)
        assert sum(own.length for own in found.contigs) == joined.size
    assert checked([joined], texts, without=(*OTHERS, "collapsed-repeats")).counts["joins_broken"] == 0


@pytest.mark.parametrize("changed", ["near an end", "a circle", "few fragments", "broken already"])
def test_unsure_places_are_not_broken(rng, changed):
    side = INSERT // 2 if changed == "near an end" else SIDE
    left, right, own = (random_codes(rng, size) for size in (SIDE, side, 60))
    genome = np.concatenate([left, *4 * [own], right])
    texts = pairs_from(genome, fold=2 if changed == "few fragments" else FOLD, rng=rng)
    joined = np.concatenate([left, *2 * [own], right])
    if changed == "broken already":
        targets = Targets.of([joined], [False], reach=100, xp=np)
        begin = np.repeat(np.arange(SIDE - 300, SIDE - 100), 3).astype(np.int64)
        elsewhere = np.repeat(np.arange(0, SIDE - INSERT), 3).astype(np.int64)
        begin, end = np.concatenate([elsewhere, begin]), np.concatenate([elsewhere + INSERT, begin + INSERT // 2])
        order = np.argsort(begin, kind="stable")
        none = np.empty(0, np.int64)
        (place,) = find_collapsed_repeats(begin[order], end[order], targets, none)
        for at in (place - INSERT // 4, place, place + INSERT // 4):
            assert find_collapsed_repeats(begin[order], end[order], targets, np.array([at])) == {}
        assert [*find_collapsed_repeats(begin[order], end[order], targets, np.array([at - INSERT]))] == [place]
        return
    assert checked([joined], texts, circular=changed == "a circle").counts["collapsed_repeats"] == 0


def test_biased_sample_between_repeats_is_no_break(rng):
    """Between two repeats, only short fragments have two uniquely aligned mates; they are few."""
    left, middle, right, repeat = (random_codes(rng, size) for size in (SIDE, 260, SIDE, 500))
    genome = np.concatenate([left, repeat, middle, repeat, right])
    found = checked([genome], pairs_from(genome, fold=4 * FOLD, rng=rng))
    assert found.counts["collapsed_repeats"] == 0


def test_no_fragments():
    none = np.empty(0, np.int64)
    targets = Targets.of([], [], reach=0, xp=np)
    assert find_collapsed_repeats(none, none, targets, none) == {}


@pytest.mark.parametrize("is_near", [False, True])
@pytest.mark.parametrize("share", [0.4, 0.7, 1.0])
def test_near_an_end_nearly_all_expected_fragments_must_span(is_near, share):
    """Of the expected fragments of a 6,000-base contig, a share spans a place, 80 bases too short."""
    size, length, at = 6000, 400, 420 if is_near else 3000
    targets = Targets.of([np.zeros(size, np.uint8)], [False], reach=100, xp=np)
    rng = np.random.default_rng(1)
    begin = np.repeat(np.arange(size - length), 4)
    end = begin + rng.integers(length - 40, length + 40, begin.size)
    is_across = (begin <= at) & (end > at)
    kept = ~is_across | (rng.random(begin.size) < share)
    end = np.where(is_across, np.maximum(at + FLANK, end - 80), end)
    begin, end = begin[kept].astype(np.int64), end[kept].astype(np.int64)
    found = find_collapsed_repeats(begin, end, targets, np.empty(0, np.int64))
    assert [at - 100 < place < at + 100 for place in found] == [True] * (share >= (0.9 if is_near else 0.5))


@given(st.integers(250, 400), st.integers(5, 30), st.floats(2.5, 5), st.sampled_from([0.4, 0.7, 1.0]))
@settings(max_examples=30)
def test_most_likely_missing_bases_and_share_of_fragments(typical, deviation, times, share):
    histogram = np.rint(2000 * np.exp(-(((np.arange(700) - typical) / deviation) ** 2) / 2)).astype(np.int64)
    missing, length = min(round(times * deviation), typical // 2), np.arange(700)
    rng = np.random.default_rng(typical)

    def lengths(n, less):
        weight = np.roll(histogram, -less) * np.maximum(0, length - 2 * FLANK + 1)
        return rng.choice(length, n, p=weight / weight.sum())

    across = np.concatenate([lengths(round(400 * share), missing), lengths(round(400 * (1 - share)), 0)])
    found, found_share = FragmentLengths(histogram, 1000, typical).most_likely_missing(across)
    assert found == pytest.approx(missing, abs=1 + deviation / 2)
    assert found_share == pytest.approx(share, abs=0.2)


@pytest.mark.parametrize("lost", [1, 2])
def test_sides_are_joined_by_a_gap_of_the_missing_bases(rng, lost):
    left, right, own = (random_codes(rng, size) for size in (SIDE, SIDE + 500, 60))
    texts = pairs_from(np.concatenate([left, *4 * [own], right]), fold=2 * FOLD, rng=rng)
    joined = np.concatenate([left, *(4 - lost) * [own], right])
    found = checked([joined], texts)
    (join,) = found.joins
    assert join.size == pytest.approx(60 * lost, abs=5 + 4 * join.sd)
    assert join.n_pairs >= 20
    sides = [found.contigs[end >> 1].sequence for end in (join.source, join.target)]
    assert "".join(sides) == decode(joined)


@pytest.mark.parametrize(("before", "behind"), [(500, 500), (25, 500), (60, 30), (5, 100), (100, 12)])
def test_expected_spanning_fragments_are_those_of_all_positions(rng, before, behind):
    histogram = rng.integers(0, 5, 90)
    lengths = [
        length
        for length, times in enumerate(histogram.tolist())
        for begin in range(before + behind - length + 1)
        for _ in range(times)
        if begin <= before - FLANK and begin + length >= before + FLANK
    ]
    n, mean, deviation = FragmentLengths(histogram.astype(np.int64), 1000, 60).across(before, behind)
    assert n == len(lengths) / 1000
    if lengths:
        assert (mean, deviation) == pytest.approx((np.mean(lengths), np.std(lengths)))
