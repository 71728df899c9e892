"""Walks through the k-mers of a few reads, against plain searches."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuasm.assembly.ends.local_walks import LocalKmers
from gpuasm.assembly.parameters import ENDS

M = 3


def every_walk(kmers, ends, size):
    """Return every text in a length range with given first and last k bases whose k-mers are all present."""
    (start, goal), k = ends, len(ends[0])
    known = {*kmers, start, goal}
    found = []
    for n in range(max(0, size[0]), size[1] + 1):
        for more in itertools.product(range(4), repeat=n):
            text = start + bytes(more)
            windows = [text[i : i + k] for i in range(n + 1)]
            if windows[-1] == goal and known.issuperset(windows):
                found.append(text)
    return sorted(found)


def plain_walks(reads, ends, size, least):
    """Extend walks from the first k-mer base by base, through k-mers with enough occurrences."""
    (start, goal), k = ends, len(ends[0])
    counts = Counter(read[i : i + k] for read in reads for i in range(len(read) - k + 1))
    kmers = {kmer for kmer, n in counts.items() if n >= least} | {start, goal}
    texts, found = [start], []
    for n in range(size[1] + 1):
        found += [text for text in texts if text.endswith(goal) and n >= size[0]]
        longer = [text + bytes([base]) for text in texts for base in range(4)]
        texts = [text for text in longer if text[-k:] in kmers]
    return sorted(found)


three_mers = st.binary(min_size=M, max_size=M).map(lambda kmer: bytes(base % 4 for base in kmer))
reads_of_few_bases = st.lists(st.text("\0\1\2", max_size=12).map(str.encode), max_size=8)


@settings(max_examples=60, deadline=None)
@given(
    kmers=st.sets(three_mers, max_size=24),
    ends=st.tuples(three_mers, three_mers),
    size=st.tuples(st.integers(-2, 4), st.integers(0, 5)),
)
@example(kmers={b"\0\0\0", b"\0\0\1", b"\0\1\0", b"\1\0\0"}, ends=(b"\0\0\0", b"\0\1\0"), size=(0, 5))
@example(kmers=set(), ends=(b"\0\0\0", b"\0\0\0"), size=(0, 3))
def test_all_walks_are_found(kmers, ends, size):
    found = LocalKmers.of(sorted(kmers), M).walks(ends, size)
    assert found is not None
    assert sorted(found) == every_walk(kmers, ends, size)


@settings(max_examples=200, deadline=None)
@given(
    reads=reads_of_few_bases,
    text=st.text("\0\1\2", min_size=14, max_size=20).map(str.encode),
    k=st.integers(M, 7),
    size=st.tuples(st.integers(0, 6), st.integers(0, 9)),
    least=st.integers(1, 3),
)
def test_kmers_need_enough_occurrences(reads, text, k, size, least):
    reads = [*reads, text, text[2:], text[:-2]]
    ends = text[:k], text[-k:]
    found = LocalKmers.of(reads, M).walks(ends, size, least=least)
    expected = plain_walks(reads, ends, size, least)
    is_too_many = len(expected) > ENDS.local_search_limits[0]
    assert (None if found is None else sorted(found)) == (None if is_too_many else expected)


@pytest.mark.parametrize("k", [21, 22, 60, 97])
def test_reads_of_one_sequence_have_one_walk(k):
    text = np.random.default_rng(k).integers(0, 4, 400, dtype=np.uint8).tobytes()
    reads = [text[i : i + 100] for i in range(0, 301, 3)]
    kmers = LocalKmers.of([*reads, b"", *reads, text[:20]], 21)
    assert kmers.walks((text[:k], text[-k:]), (0, 400)) == [text]
    assert kmers.walks((text[:k], text[-k:]), (0, 399 - k)) == []
    assert kmers.walks((text[:k], text[-k:]), (0, 400), least=2) == [text]


@pytest.mark.parametrize("m", [1, 2, 3])
def test_no_kmer_spans_two_reads(m):
    reads = [b"\0\1\2", b"\3\0\1"]
    assert LocalKmers.of(reads, m).walks((b"\0\1\2", b"\2\3\0"), (0, 9)) == []


def test_too_many_walks_return_none():
    kmers = LocalKmers.of([bytes(kmer) for kmer in itertools.product(range(4), repeat=M)], M)
    assert kmers.walks((b"\0\0\0", b"\1\1\1"), (0, 12)) is None


def test_a_frequent_kmer_is_searched_once():
    """Else each of some thousand steps would read 20,000 positions."""
    unit = b"\0\1\2\1\3" * 4
    kmers = LocalKmers.of([unit * 20] * 50, 5)
    found = kmers.walks((unit[:20], unit[:20]), (0, 300))
    assert found is not None
    assert len(found) == 61


def test_without_reads_only_the_given_kmers_are_walked():
    kmers = LocalKmers.of([], M)
    assert kmers.walks((b"\0\1\2", b"\1\2\3"), (0, 5)) == [b"\0\1\2\3"]
    assert kmers.walks((b"\0\1\2", b"\2\2\3"), (0, 5)) == []
