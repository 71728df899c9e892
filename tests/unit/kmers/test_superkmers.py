"""Super-k-mers: every window once, all occurrences of a k-mer in one bucket."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.kmers import superkmers
from gpuasm.kmers.superkmers import HAS_NEXT, HAS_PREVIOUS, START_SHIFT, cut_superkmers
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import canonical
from tests.unit.kmers.test_tally import noisy_reads

_MOST = (1 << 14) - 1


def runs_of(cut):
    """Return bucket, first window, windows, and whether a base of the read comes before and after each run."""
    buckets = np.repeat(np.arange(cut.n_windows.size), np.diff(cut.bucket_start))
    for bucket, record in zip(buckets.tolist(), cut.records.tolist(), strict=True):
        yield bucket, record >> START_SHIFT, record & _MOST, bool(record & HAS_PREVIOUS), bool(record & HAS_NEXT)


def assert_whole(reads, k, cut):
    windows, per_bucket = [], np.zeros(cut.n_windows.size, np.int64)
    edges = {}
    for start, length in zip(reads.start.tolist(), reads.length.tolist(), strict=True):
        for i in range(length - k + 1):
            edges[start + i] = (i > 0, i < length - k)
    for bucket, first, n, has_previous, has_next in runs_of(cut):
        assert n > 0
        windows += range(first, first + n)
        per_bucket[bucket] += n
        assert has_previous == edges[first][0]
        assert has_next == edges[first + n - 1][1]
    assert sorted(windows) == sorted(edges)
    assert np.array_equal(per_bucket, cut.n_windows)


@given(texts=st.lists(st.text("ACGTN", max_size=60), max_size=10), k=st.sampled_from([3, 5, 11, 13, 31, 41]))
def test_every_window_is_in_one_run(texts, k):
    reads = Reads.from_strings(texts)
    assert_whole(reads, k, cut_superkmers(reads, k))


@pytest.mark.parametrize("k", [11, 21, 31, 63])
def test_all_occurrences_of_a_kmer_are_in_one_bucket(k, monkeypatch, threads):
    monkeypatch.setattr(superkmers, "_WINDOWS_PER_BUCKET", 50)
    monkeypatch.setattr(superkmers, "_WINDOWS_PER_CHUNK", 700)
    reads = Reads.from_strings(noisy_reads(k, 150))
    cut = cut_superkmers(reads, k)
    assert cut.n_windows.size > 32
    assert_whole(reads, k, cut)
    buckets = defaultdict(set)
    for bucket, first, n, _, _ in runs_of(cut):
        text = decode(unpack(reads.packed, first, n + k - 1))
        for i in range(n):
            buckets[canonical(text[i : i + k])].add(bucket)
    assert {len(found) for found in buckets.values()} == {1}
    assert (cut.n_windows > 0).sum() > 16


def test_a_run_longer_than_its_field_is_cut():
    reads = Reads.from_strings(["A" * 40_000])
    cut = cut_superkmers(reads, 31)
    assert [n for _, _, n, _, _ in runs_of(cut)] == [_MOST, _MOST, 40_000 - 30 - 2 * _MOST]
    assert_whole(reads, 31, cut)


def test_progress_adds_up_to_all_windows():
    reads, seen = Reads.from_strings(noisy_reads(1, 100)), []
    cut = cut_superkmers(reads, 31, seen.append)
    assert sum(seen) == cut.n_windows.sum()
