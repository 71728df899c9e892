"""Buckets of k-mers by minimizer: every window in one of them, and counted there as among all reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import array_namespace, to_host
from gpuasm.device_group import DeviceGroup
from gpuasm.kmers.buckets import cut_buckets, tally_buckets
from gpuasm.kmers.counting import count_followers, tally_kmers
from gpuasm.kmers.windows import FOLLOWED, PRECEDED
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import canonical
from tests.unit.kmers.test_tally import noisy_reads


def columns_by_key(tallies, *names):
    """Return the columns of all k-mers of some tallies by their keys; each k-mer is in one of them."""
    found = {}
    for tally in tallies:
        rows = zip(*(to_host(getattr(tally, name)).tolist() for name in ("keys", *names)), strict=True)
        for key, *row in rows:
            assert key not in found
            found[key] = row
    return found


@given(
    texts=st.lists(st.text("ACGTN", max_size=120), max_size=6),
    k=st.sampled_from([3, 11, 13, 31]),
    n_buckets=st.integers(1, 7),
)
def test_every_window_is_in_the_bucket_of_its_kmer(texts, k, n_buckets):
    reads = Reads.from_strings(texts)
    bucket, number = cut_buckets(reads, k, range(n_buckets), n_buckets=n_buckets)
    buckets, flanks_of = {}, {}
    for start, length, flanks, own in zip(
        bucket.reads.start.tolist(), bucket.reads.length.tolist(), bucket.flanks.tolist(), number.tolist(), strict=True
    ):
        text = decode(unpack(reads.packed, start, length))
        for i in range(length - k + 1):
            assert buckets.setdefault(canonical(text[i : i + k]), own) == own
            assert start + i not in flanks_of
            flanks_of[start + i] = i > 0 or bool(flanks & PRECEDED), i < length - k or bool(flanks & FOLLOWED)
    expected = {}
    for start, length in zip(reads.start.tolist(), reads.length.tolist(), strict=True):
        expected |= {start + i: (i > 0, i < length - k) for i in range(length - k + 1)}
    assert flanks_of == expected


@pytest.mark.parametrize(("k", "n_buckets"), [(11, 2), (21, 5), (31, 16)])
def test_counts_of_buckets_are_those_of_all_reads(xp, k, n_buckets):
    reads, least = Reads.from_strings(noisy_reads(k, 90)).moved_to(xp), {"min_count": 2, "min_follow": 2}
    whole = tally_kmers(reads, k, **least)
    buckets = [cut_buckets(reads, k, range(i, i + 1), n_buckets=n_buckets)[0] for i in range(n_buckets)]
    tallies = [bucket.tally(**least) for bucket in buckets]
    assert columns_by_key(tallies, "count", "edges") == columns_by_key([whole], "count", "edges")
    assert np.array_equal(sum(tally.histogram for tally in tallies), whole.histogram)
    assert sum(tally.n > 0 for tally in tallies) > 1
    for bucket, tally in zip(buckets, tallies, strict=True):
        followers = bucket.followers(tally.keys)
        assert np.array_equal(to_host(followers), to_host(count_followers(reads, k, tally.keys)))


def test_consecutive_buckets_are_cut_together(xp):
    reads = Reads.from_strings(noisy_reads(1, 60)).moved_to(xp)
    both, number = cut_buckets(reads, 31, range(2, 4), n_buckets=5)
    apart = [cut_buckets(reads, 31, range(i, i + 1), n_buckets=5) for i in (2, 3)]
    assert set(to_host(number).tolist()) == {2, 3}
    assert both.reads.n_segments == sum(bucket.reads.n_segments for bucket, _ in apart)
    tallies = [bucket.tally(min_count=1, min_follow=1) for bucket in (both, *(bucket for bucket, _ in apart))]
    assert columns_by_key(tallies[:1], "count", "edges") == columns_by_key(tallies[1:], "count", "edges")


@pytest.mark.parametrize(("n_buckets", "n_devices"), [(1, 1), (2, 2), (6, 2), (8, 8), (3, 1)])
def test_buckets_of_several_devices_are_counted_as_those_of_one(xp, n_buckets, n_devices):
    reads, least = Reads.from_strings(noisy_reads(21, 90)).moved_to(xp), {"min_count": 2, "min_follow": 2}
    devices, done = DeviceGroup((None if xp is np else 0,) * n_devices), []
    tallies = tally_buckets(reads, 21, n_buckets, **least, progress=done.append, devices=devices)
    whole = tally_kmers(reads, 21, **least)
    assert len(tallies) == n_buckets
    assert columns_by_key(tallies, "count", "edges") == columns_by_key([whole], "count", "edges")
    assert {array_namespace(tally.keys) for tally in tallies} == {xp if n_buckets <= n_devices else np}
    assert sum(done) == 2 * int(np.maximum(to_host(reads.length) - 20, 0).sum())
    assert np.array_equal(sum(tally.histogram for tally in tallies), whole.histogram)
