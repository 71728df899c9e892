"""The index of k-mers by their places, compared with plain Python."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.errors import ResourceError
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.names import Dictionary, name_windows
from gpuasm.kmers.text_index import TextIndex
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import canonical, reverse_complement
from tests.unit.kmers.test_tally import noisy_reads


def positions(texts, k):
    """Return the text positions of each canonical k-mer."""
    found, start = defaultdict(list), 0
    for text in texts:
        for i in range(len(text) - k + 1):
            found[canonical(text[i : i + k])].append(start + i)
        start += len(text)
    return found


def key_of(kmer):
    return int(kmer.translate(str.maketrans("ACGT", "0123")), 4)


def assert_as_expected(texts, k, xp):
    reads = Reads.from_strings(texts).moved_to(xp)
    index, expected = TextIndex.of(reads, k), positions(texts, k)
    unique = {own[0] for own in expected.values() if len(own) == 1}
    assert set(np.flatnonzero(to_host(index.is_unique)).tolist()) == unique
    keys = np.array([key_of(kmer) for kmer in expected] + [key_of("ACG" * k) % 4**k], np.uint64)
    found = to_host(index.unique_positions(to_namespace(xp, keys))).tolist()
    assert found[:-1] == [own[0] if len(own) == 1 else -1 for own in expected.values()]
    return reads, index


@pytest.mark.parametrize("k", [9, 21, 31])
def test_windows_that_occur_once(k, xp):
    genome = "".join(np.random.default_rng(k).choice(list("ACGT"), 500))
    text = [genome[:300], genome[200:], genome[420:470], "ACGT", "T" * 60]
    reads, index = assert_as_expected(text, k, xp)
    dictionary = Dictionary.of(tally_kmers(reads, k).keys, k=k, k0=0)
    others = Reads.from_strings([*noisy_reads(4, 10), reverse_complement(genome), "A" * 40]).moved_to(xp)
    expected, names = to_host(name_windows(others, dictionary)), to_host(index.name_windows(others))
    assert np.array_equal(names < 0, expected < 0)
    rows = np.flatnonzero(names >= 0)
    assert rows.size > 0
    assert np.array_equal(names[rows] & 1, expected[rows] & 1)
    pairs = set(zip((names[rows] >> 1).tolist(), (expected[rows] >> 1).tolist(), strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


@given(texts=st.lists(st.text("ACGT", min_size=1, max_size=50), max_size=8), k=st.sampled_from([3, 5, 9]))
def test_any_text(texts, k):
    assert_as_expected(texts, k, np)


def test_too_long_a_text_is_refused():
    reads = Reads.from_strings(["ACGT" * 20])
    packed = np.broadcast_to(reads.packed[:1], 1 << 26)
    with pytest.raises(ResourceError, match="bases of unitigs"):
        TextIndex.of(replace(reads, packed=packed), 31)
