"""Joins that no fragment spans: planted between two copies of a repeat, and against a plain search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.assembly.consensus.consensus import check_contigs
from gpuasm.assembly.consensus.fragments import find_fragments, find_strays
from gpuasm.assembly.consensus.laying import lay_reads
from gpuasm.assembly.consensus.targets import Targets, index_seeds
from gpuasm.assembly.consensus.unspanned import Spans, window_of, without_any
from gpuasm.assembly.contigs import Contig
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.unit.assembly.consensus.library import INSERT, READ, pairs_from, random_codes

NO_PLACE = np.empty(0, np.int64)
SIDE = 3000


@pytest.fixture
def planted(rng):
    """A transposon between two long terminal repeats, and a genome's sides: what is assembled, and what is true."""
    left, right, inner = (random_codes(rng, size) for size in (SIDE, SIDE, 2000))

    def make(n_repeat):
        repeat = random_codes(rng, n_repeat)
        return np.concatenate([left, repeat, right]), np.concatenate([left, repeat, inner, repeat, right])

    return make


def checked(codes, texts, *, without=(), paired=True, circular=False):
    contigs = [Contig("", own, 40.0, 1, is_circular=circular, unitig=0) for own in codes]
    return check_contigs(contigs, Reads.from_strings(texts, paired=paired), min_length=1, without=without)


@pytest.mark.parametrize(("n_repeat", "is_broken"), [(20, True), (150, True), (200, True), (380, False), (800, False)])
def test_copies_of_a_repeat_that_became_one_are_broken_where_fragments_should_span_it(
    rng, planted, n_repeat, is_broken
):
    joined, truth = planted(n_repeat)
    texts = pairs_from(truth, fold=60, rng=rng)
    found = checked([joined], texts, without=("departures",))
    assert found.counts["unspanned"] == found.counts["joins_broken"] == int(is_broken)
    if is_broken:
        sizes = [contig.length for contig in found.contigs]
        assert len(sizes) == 2
        assert all(SIDE - 30 <= size <= SIDE + n_repeat + 30 for size in sizes)
        assert checked([joined], texts, without=("departures", "unspanned")).counts["joins_broken"] == 0


def test_a_join_that_reads_leave_is_broken_once(rng, planted):
    (joined, truth), other = planted(45), random_codes(rng, 60_000)  # among so many few leave
    texts = pairs_from(truth, fold=60, rng=rng) + pairs_from(other, fold=60, rng=rng)
    apart, both = (checked([joined, other], texts, without=without) for without in (("unspanned",), ()))
    assert apart.counts["joins_broken"] == both.counts["joins_broken"] == 1
    assert both.counts["unspanned"] == 0
    assert [contig.length for contig in apart.contigs] == [contig.length for contig in both.contigs]


def test_what_is_true_stays(rng, planted):
    _, truth = planted(250)
    assert checked([truth], pairs_from(truth, fold=60, rng=rng)).counts["unspanned"] == 0


@pytest.mark.parametrize(("fold", "is_broken"), [(6, False), (60, True)])
def test_where_fragments_are_few_their_absence_says_nothing(rng, planted, fold, is_broken):
    joined, truth = planted(200)
    texts = pairs_from(truth, fold=fold, rng=rng)
    assert checked([joined], texts, without=("departures",)).counts["unspanned"] == int(is_broken)


def test_reads_without_mates_say_nothing(rng, planted):
    joined, truth = planted(200)
    texts = pairs_from(truth, fold=60, rng=rng)
    assert checked([joined], texts, paired=False, without=("departures",)).counts["unspanned"] == 0


def test_a_few_fragments_across_are_enough(rng, planted):
    """The sample may hold both: with the transposon, and without it."""
    joined, truth = planted(200)
    texts = pairs_from(truth, fold=60, rng=rng) + pairs_from(joined, fold=4, rng=rng)
    assert checked([joined], texts, without=("departures",)).counts["unspanned"] == 0


def test_amplicons_that_end_are_no_false_join(rng):
    """No fragment lies across, but none that begins on either side lacks its mate."""
    genome = random_codes(rng, 6000)
    halves = pairs_from(genome[:3050], fold=60, rng=rng) + pairs_from(genome[2950:], fold=60, rng=rng)
    assert checked([genome], halves).counts["unspanned"] == 0


def test_a_circle_is_not_judged(rng, planted):
    joined, truth = planted(200)
    texts = pairs_from(truth, fold=60, rng=rng)
    found = checked([joined], texts, circular=True, without=("departures", "circle-cuts"))
    assert found.counts["unspanned"] == 0


@pytest.mark.parametrize(("before", "is_broken"), [(150, False), (700, False), (1500, True)])
def test_near_the_end_of_a_contig_nothing_is_told(rng, planted, before, is_broken):
    """Its end may be bases of several copies, whose reads lie there all together."""
    joined, truth = planted(150)
    texts = pairs_from(truth, fold=60, rng=rng)
    found = checked([joined[SIDE - before :], joined[: SIDE - before]], texts, without=("departures",))
    assert found.counts["unspanned"] == int(is_broken)


@pytest.mark.parametrize(("times", "is_broken"), [(0, True), (2, False)])
def test_more_reads_than_one_copy_has_say_nothing(rng, planted, times, is_broken):
    """Beside a repeat of many copies that is told once, most mates lie elsewhere."""
    joined, truth = planted(100)
    texts = pairs_from(truth, fold=60, rng=rng)
    for start in [*range(SIDE - 600, SIDE - READ, 3)] * times:
        texts += [decode(joined[start : start + READ]), decode(random_codes(rng, READ))]
    assert checked([joined], texts, without=("departures",)).counts["unspanned"] == int(is_broken)


@given(st.lists(st.integers(0, 60), max_size=40), st.integers(1, 30))
def test_the_window_is_as_long_as_enough_fragments_allow(lengths, n_bases):
    of_length = np.bincount(np.array(lengths, np.int64), minlength=1)
    fits = [
        window
        for window in range(of_length.size)
        if sum(max(0, length - window + 1) for length in lengths) >= 24 * n_bases
        and 2 * sum(length >= window for length in lengths) >= len(lengths) > 0
    ]
    assert window_of(of_length, n_bases) == max(fits, default=0)


def slow_runs(begin, end, targets, window):
    """Return the runs of windows without a fragment, by looking at each window."""
    bare = [
        p
        for first, size, closed in zip(targets.start[:-1], targets.size, targets.is_circular, strict=True)
        for p in range(int(first), int(first + size) - window + 1)
        if not closed and not any(b <= p and p + window <= e for b, e in zip(begin, end, strict=True))
    ]
    return [p for p in bare if p - 1 not in bare], [p for p in bare if p + 1 not in bare]


@given(
    st.lists(st.tuples(st.integers(0, 90), st.booleans()), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60)), max_size=15),
    st.integers(2, 40),
)
def test_runs_of_windows_against_a_plain_search(made, stretches, window):
    sizes, closed = zip(*made, strict=True)
    targets = Targets.of([np.zeros(size, np.uint8) for size in sizes], closed, reach=5, xp=np)
    total = int(targets.start[-1])
    begin = np.array([min(at, total) for at, _ in stretches], np.int64)
    end = np.array([min(at + n, total) for at, n in stretches], np.int64)
    low, high = without_any(begin, end, targets, window)
    assert (low.tolist(), high.tolist()) == slow_runs(begin.tolist(), end.tolist(), targets, window)


def test_the_same_on_every_device_and_in_any_number_of_batches(rng, planted, xp):
    joined, truth = planted(200)
    reads = Reads.from_strings(pairs_from(truth, fold=60, rng=rng), paired=True)

    def found(space, parts):
        spans, targets = Spans(), Targets.of([joined], [False], reach=READ, xp=space)
        index, own = index_seeds(targets, READ), reads.moved_to(space)
        pairs = np.arange(reads.n_pieces // 2)
        for part in np.array_split(pairs, parts):
            batch = own.select(space.asarray((2 * part[:, None] + np.arange(2)).ravel()))
            first, _ = lay_reads(batch, targets, index)
            strays = find_strays(batch, first, targets, longest=2 * INSERT)
            spans.add(first, find_fragments(batch, first, targets), strays, targets)
        return spans, spans.missing(targets, NO_PLACE).tolist()

    spans, place = found(np, 1)
    assert len(place) == 1
    for parts in (1, 3):
        other, other_place = found(xp, parts)
        assert other_place == place
        assert np.array_equal(to_host(other.rightwards), spans.rightwards)
        assert np.array_equal(to_host(other.leftwards), spans.leftwards)
        own, others = (np.concatenate(found.strays, axis=1) for found in (spans, other))
        assert np.array_equal(own[:, np.lexsort(own)], others[:, np.lexsort(others)])


def test_nothing_is_missing_where_nothing_was_laid():
    targets = Targets.of([np.zeros(50, np.uint8)], [False], reach=5, xp=np)
    assert Spans().missing(targets, NO_PLACE).tolist() == []
    empty = replace(Spans(), begin=[np.empty(0, np.int64)], end=[np.empty(0, np.int64)])
    assert empty.missing(targets, NO_PLACE).tolist() == []
