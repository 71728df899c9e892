"""Parts of counting on CUDA, on numpy arrays: keys of windows, run lengths, and counting in parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.kmers import tally_cuda
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.keys import NO_KEY
from gpuasm.kmers.names import Dictionary, name_windows
from gpuasm.kmers.tally_cuda import _count, _keys_of_part, _part_of, _run_lengths, _window_keys
from gpuasm.kmers.windows import tile_windows
from gpuasm.primitives.hashing import build_index
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import canonical, windows
from tests.unit.kmers.test_tally import noisy_reads

KEYS = st.lists(st.integers(0, 40), max_size=80)


def as_key(kmer):
    key = 0
    for base in kmer:
        key = key << 2 | "ACGT".index(base)
    return key


def named(texts, k0):
    reads = Reads.from_strings(texts)
    tally = tally_kmers(reads, k0, min_count=2)
    return reads, name_windows(reads, Dictionary.of(tally.keys, k=k0, k0=0))


def keys_of(reads, names, k, k0):
    tiles = tile_windows(reads, k)
    return _window_keys(reads, (tiles.position, tiles.count), names, k=k, k0=k0)


@given(texts=st.lists(st.text("ACGTN", max_size=120), min_size=1, max_size=6), k=st.sampled_from([3, 5, 31]))
def test_plain_keys_are_the_lesser_strand_of_each_window(texts, k):
    reads = Reads.from_strings(texts)
    expected_keys = [as_key(canonical(window)) for window in windows(texts, k)]
    if expected_keys:
        assert keys_of(reads, np.empty(0, np.int32), k, 0).tolist() == expected_keys


@pytest.mark.parametrize("k", [33, 47, 61])
def test_pair_keys_are_those_of_the_cpu(k):
    reads, names = named(noisy_reads(k, 80), 31)
    keys = keys_of(reads, names, k, 31)
    expected = tally_kmers(reads, k, names, k0=31)
    distinct, count = np.unique(keys[keys != NO_KEY], return_counts=True)
    order = np.argsort(expected.keys)
    assert np.array_equal(distinct, expected.keys[order])
    assert np.array_equal(count, expected.count[order])
    assert (keys == NO_KEY).any()  # windows that begin or end with a rare k0-mer


@given(values=KEYS)
def test_run_lengths_equal_unique(values):
    keys = np.sort(np.array(values, np.uint64))
    distinct, count = _run_lengths(keys)
    expected = np.unique(keys, return_counts=True)
    assert np.array_equal(distinct, expected[0])
    assert np.array_equal(count, expected[1])
    assert (distinct.dtype, count.dtype) == (np.uint64, np.int64)


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("least", [1 << 20, 500, 100])
@pytest.mark.parametrize("k", [21, 31, 45])
def test_counts_in_parts_are_those_of_the_cpu(k, least, min_count, monkeypatch):
    monkeypatch.setattr(tally_cuda, "_LEAST_PART", least)
    monkeypatch.setattr(tally_cuda, "free_device_memory", lambda: 0)
    reads, names = named(noisy_reads(k, 80), 31)
    if k <= 31:
        names = np.empty(0, np.int32)
    k0 = 31 if k > 31 else 0
    keys, count, histogram, bounds = _count(reads, tile_windows(reads, k), names, k=k, k0=k0, min_count=min_count)
    expected = tally_kmers(reads, k, names if k > 31 else None, k0=k0, min_count=min_count)
    order = np.argsort(expected.keys)
    found = np.argsort(keys)
    assert np.array_equal(keys[found], expected.keys[order])
    assert np.array_equal(count[found], expected.count[order])
    assert np.array_equal(histogram, expected.histogram)
    n_parts = np.uint64(bounds.size - 1)
    own = np.array([_part_of(key, n_parts) for key in keys])
    assert np.array_equal(own, np.repeat(np.arange(bounds.size - 1), np.diff(bounds)))


def test_keys_of_a_part_have_slots_of_the_whole_index():
    keys = np.arange(1, 20_001, dtype=np.uint64)
    own = keys[np.array([_part_of(key, np.uint64(40)) for key in keys]) < 5]
    slots, n_slots = build_index(own)
    assert n_slots == 3 * own.size
    eighths = np.bincount(np.flatnonzero(slots >= 0) * 8 // slots.size)
    assert eighths.size == 8
    assert eighths.min() > 0.8 * eighths.max()


@pytest.mark.parametrize("k", [31, 45])
def test_each_window_is_of_one_part(k):
    reads, names = named(noisy_reads(k, 80), 31)
    tiles, k0 = tile_windows(reads, k), 31 if k > 31 else 0
    where = (tiles.position, tiles.count)
    parts = [_keys_of_part(reads, where, names, k=k, k0=k0, part=(number, 3)) for number in range(3)]
    whole = _window_keys(reads, where, names, k=k, k0=k0)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.sort(whole[whole != NO_KEY]))
    distinct = [np.unique(part).size for part in parts]
    assert sum(distinct) == np.unique(whole[whole != NO_KEY]).size
    assert min(distinct) > 0.8 * sum(distinct) / 3
