"""The first base of circular contigs: where reads are clipped, if more are than chance explains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.alignment import contig_alignment
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.options import rules_without
from gpuasm.assembly.verification.contig_checks import check_contigs
from gpuasm.assembly.verification.contig_splitting import best_start, find_circular_starts
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.samples import simulated_pairs, simulated_texts

N = 3000


def start(*place, n=N):
    return best_start(np.array(sorted(place), np.int64), n)


@pytest.mark.parametrize(
    ("place", "at"),
    [
        ((), None),
        ((7, 7, 7), None),  # chance explains three
        ((7, 7, 7, 7), 7),
        ((0, N - 9, N - 9, 0, 0), 0),  # nine bases are in both forms, across the origin
        ((100, 100, 120, 120, 120, 500), 120),
        ((500, 500, 500, 500, 100, 100, 100, 100), 100),  # of equals the first
        ((*range(0, N, 10), 1500, 1500, 1500), None),  # reads are clipped everywhere
        ((*range(0, N, 10), *[1500] * 12), 1500),
    ],
)
def test_start_is_where_more_are_clipped_than_chance_explains(place, at):
    assert start(*place) == at


@given(st.lists(st.integers(0, N - 1), max_size=40), st.integers(0, N - 1), st.integers(8, 20))
def test_origin_does_not_matter(place, by, many):
    place = [*place, *[1234] * many]
    first, second = start(*place), start(*((p + by) % N for p in place))
    assert first is not None
    assert second is not None
    assert place.count(first) == place.count((second - by) % N)


@pytest.fixture
def circle(rng):
    return rng.integers(0, 4, N).astype(np.uint8)


def reversed_text(text):
    return decode(reverse_complement(encode(text)))


def contig_of(codes, *, is_circular=True):
    return Contig("", codes, 60.0, 1, is_circular=is_circular, unitig=0)


def other_form(circle, at, n_shared, rng):
    """Return the circle with 500 more bases before ``at``, the first of which are those that follow there."""
    inserted = rng.integers(0, 4, 500).astype(np.uint8)
    inserted[:n_shared] = circle[at : at + n_shared]
    inserted[n_shared], inserted[-1] = 3 - circle[at + n_shared], 3 - circle[at - 1]
    return np.concatenate([circle[:at], inserted, circle[at:]])


@pytest.mark.parametrize("n_shared", [0, 9, 20])
@pytest.mark.parametrize("at", [30, 1700, 2990])
def test_circular_contig_starts_where_another_form_begins(circle, rng, at, n_shared):
    other = np.roll(other_form(circle, min(at, 2970), n_shared, rng), 1000)
    texts = simulated_pairs(circle, fold=60, circular=True, error_rate=0.003)
    texts += simulated_pairs(other, fold=15, circular=True, error_rate=0.003, seed=2)
    reads = Reads.from_strings(texts, paired=True)
    (contig,) = check_contigs([contig_of(circle)], reads, min_length=1).contigs
    assert contig.is_circular
    assert contig.sequence in decode(np.tile(circle, 2))
    first = int(decode(np.tile(circle, 2)).index(contig.sequence)) % N
    assert min(at, 2970) - 3 <= first <= min(at, 2970) + n_shared + 3
    (unchanged,) = check_contigs(
        [contig_of(circle)], reads, min_length=1, rules=rules_without(("circular-start",))
    ).contigs
    assert unchanged.sequence == decode(circle)


def test_depth_is_rotated_with_the_bases(circle, rng):
    texts = simulated_texts(circle, fold=40, circular=True)
    texts += simulated_texts(other_form(circle, 1700, 0, rng), fold=6) + [decode(circle[100:250])] * 50
    checked = check_contigs([contig_of(circle)], Reads.from_strings(texts), min_length=1)
    unchanged = check_contigs(
        [contig_of(circle)], Reads.from_strings(texts), min_length=1, rules=rules_without(("circular-start",))
    )
    at = decode(np.tile(circle, 2)).index(checked.contigs[0].sequence)
    assert abs(at - 1700) < 5
    assert np.array_equal(checked.depth, np.roll(unchanged.depth, -at))


def test_circular_contig_without_clipped_reads_keeps_its_start(circle):
    reads = Reads.from_strings(simulated_pairs(circle, fold=60, circular=True, error_rate=0.003), paired=True)
    (contig,) = check_contigs([contig_of(circle)], reads, min_length=1).contigs
    assert contig.sequence == decode(circle)


def test_fragment_counts_once(circle, rng):
    other = decode(other_form(circle, 1700, 0, rng)[1600:1800])
    two = [text for _ in range(2) for text in (other[:150], other[50:])]
    plain = simulated_texts(circle, fold=20, circular=True)
    for paired, found in ((False, 1), (True, 0)):
        reads = Reads.from_strings([*two, *plain[: len(plain) // 2 * 2]], paired=paired)
        assert len(find_circular_starts([contig_of(circle)], reads)) == found


def test_order_strand_batches_and_device_do_not_matter(circle, rng, xp, monkeypatch):
    texts = simulated_texts(circle, fold=30, circular=True) + simulated_texts(other_form(circle, 1700, 5, rng), fold=6)
    contigs = [contig_of(circle[:900], is_circular=False), contig_of(circle)]
    found = find_circular_starts(contigs, Reads.from_strings(texts))
    assert list(found) == [1]
    is_reversed = [reversed_text(text) for text in texts[::-1]]
    assert find_circular_starts(contigs, Reads.from_strings(is_reversed).moved_to(xp)) == found
    monkeypatch.setattr(contig_alignment, "_BATCH", len(texts) // 2)
    assert find_circular_starts(contigs, Reads.from_strings(texts)) == found
