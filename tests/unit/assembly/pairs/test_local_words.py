"""Walks through the words of a few reads, beside plain searches for them."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuasm.assembly.pairs.local_words import MOST_WALKS, LocalWords

M = 3


def every_walk(words, ends, size):
    """Every text of a length whose first and last k bases are given and all of whose k-mers are there."""
    (start, goal), k = ends, len(ends[0])
    known = {*words, start, goal}
    found = []
    for n in range(max(0, size[0]), size[1] + 1):
        for more in itertools.product(range(4), repeat=n):
            text = start + bytes(more)
            windows = [text[i : i + k] for i in range(n + 1)]
            if windows[-1] == goal and known.issuperset(windows):
                found.append(text)
    return sorted(found)


def plain_walks(reads, ends, size, least):
    """Walks from the first word on, one base after the other, through words that stand in so many places."""
    (start, goal), k = ends, len(ends[0])
    counts = Counter(read[i : i + k] for read in reads for i in range(len(read) - k + 1))
    words = {word for word, n in counts.items() if n >= least} | {start, goal}
    texts, found = [start], []
    for n in range(size[1] + 1):
        found += [text for text in texts if text.endswith(goal) and n >= size[0]]
        longer = [text + bytes([base]) for text in texts for base in range(4)]
        texts = [text for text in longer if text[-k:] in words]
    return sorted(found)


words_of_three = st.binary(min_size=M, max_size=M).map(lambda word: bytes(base % 4 for base in word))
reads_of_few_bases = st.lists(st.text("\0\1\2", max_size=12).map(str.encode), max_size=8)


@settings(max_examples=60, deadline=None)
@given(
    words=st.sets(words_of_three, max_size=24),
    ends=st.tuples(words_of_three, words_of_three),
    size=st.tuples(st.integers(-2, 4), st.integers(0, 5)),
)
@example(words={b"\0\0\0", b"\0\0\1", b"\0\1\0", b"\1\0\0"}, ends=(b"\0\0\0", b"\0\1\0"), size=(0, 5))
@example(words=set(), ends=(b"\0\0\0", b"\0\0\0"), size=(0, 3))
def test_all_walks_are_found(words, ends, size):
    found = LocalWords.of(sorted(words), M).walks(ends, size)
    assert found is not None
    assert sorted(found) == every_walk(words, ends, size)


@settings(max_examples=200, deadline=None)
@given(
    reads=reads_of_few_bases,
    text=st.text("\0\1\2", min_size=14, max_size=20).map(str.encode),
    k=st.integers(M, 7),
    size=st.tuples(st.integers(0, 6), st.integers(0, 9)),
    least=st.integers(1, 3),
)
def test_words_stand_in_so_many_places(reads, text, k, size, least):
    reads = [*reads, text, text[2:], text[:-2]]
    ends = text[:k], text[-k:]
    found = LocalWords.of(reads, M).walks(ends, size, least=least)
    expected = plain_walks(reads, ends, size, least)
    assert (None if found is None else sorted(found)) == (None if len(expected) > MOST_WALKS else expected)


@pytest.mark.parametrize("k", [21, 22, 60, 97])
def test_reads_of_a_stretch_have_one_walk(k):
    text = np.random.default_rng(k).integers(0, 4, 400, dtype=np.uint8).tobytes()
    reads = [text[i : i + 100] for i in range(0, 301, 3)]
    words = LocalWords.of([*reads, b"", *reads, text[:20]], 21)
    assert words.walks((text[:k], text[-k:]), (0, 400)) == [text]
    assert words.walks((text[:k], text[-k:]), (0, 399 - k)) == []
    assert words.walks((text[:k], text[-k:]), (0, 400), least=2) == [text]


@pytest.mark.parametrize("m", [1, 2, 3])
def test_a_word_at_a_bound_of_two_reads_is_none(m):
    reads = [b"\0\1\2", b"\3\0\1"]
    assert LocalWords.of(reads, m).walks((b"\0\1\2", b"\2\3\0"), (0, 9)) == []


def test_too_many_walks_are_told():
    words = LocalWords.of([bytes(word) for word in itertools.product(range(4), repeat=M)], M)
    assert words.walks((b"\0\0\0", b"\1\1\1"), (0, 12)) is None


def test_a_word_that_stands_in_many_places_is_looked_for_once():
    """Without that, each of some thousand steps would go over 20,000 places."""
    unit = b"\0\1\2\1\3" * 4
    words = LocalWords.of([unit * 20] * 50, 5)
    found = words.walks((unit[:20], unit[:20]), (0, 300))
    assert found is not None
    assert len(found) == 61


def test_no_reads():
    words = LocalWords.of([], M)
    assert words.walks((b"\0\1\2", b"\1\2\3"), (0, 5)) == [b"\0\1\2\3"]
    assert words.walks((b"\0\1\2", b"\2\2\3"), (0, 5)) == []
