"""Tetranucleotides of windows, against the plain count of texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.kmers.composition import N_COLUMNS, count_tetramers, tetramers
from gpuasm.sequence.encoding import encode
from tests.oracles.composition import COLUMNS, tetramer_counts
from tests.oracles.kmers import reverse_complement

TEXT = st.text("ACGTN", max_size=200)


def counts_of(text, begin=(0,), end=None, xp=np):
    arrays = encode(text), np.array(begin, np.int64), np.array([len(text)] if end is None else end, np.int64)
    return to_host(count_tetramers(*(to_namespace(xp, array) for array in arrays)))


def test_columns_are_the_136_tetranucleotides_in_order():
    assert list(tetramers()) == COLUMNS
    assert len(COLUMNS) == N_COLUMNS


def test_counts_are_those_of_the_texts(xp, rng):
    text = "".join(rng.choice(list("ACGTacgtNRU"), 20_000, p=[0.2, 0.2, 0.2, 0.2, *[0.04] * 4, 0.02, 0.01, 0.01]))
    cuts = np.sort(rng.integers(0, len(text), (300, 2)), axis=1)
    found = counts_of(text, cuts[:, 0], cuts[:, 1], xp)
    assert found.dtype == np.int32
    # R is one of two bases: A is taken.
    plain = text.upper().replace("R", "A")
    assert found.tolist() == [tetramer_counts(plain[a:b]) for a, b in cuts.tolist()]


def test_threads_do_not_matter(threads, rng):
    codes, begin = rng.integers(0, 5, 50_000, np.uint8), np.arange(0, 49_000, 10)
    found = count_tetramers(codes, begin, begin + 1000)
    alone = np.concatenate([count_tetramers(codes, begin[i : i + 100], begin[i : i + 100] + 1000) for i in (0, 4800)])
    assert np.array_equal(np.concatenate([found[:100], found[4800:]]), alone)


@given(text=TEXT)
def test_both_strands_count_the_same(text):
    assert np.array_equal(counts_of(text), counts_of(reverse_complement(text)))


@given(text=TEXT, cut=st.integers(0, 200))
def test_counts_of_windows_with_overlaps_of_three_bases_add_up(text, cut):
    cut = min(cut, max(0, len(text) - 3))
    assert np.array_equal(counts_of(text, (0, cut), (min(cut + 3, len(text)), len(text))).sum(0), counts_of(text)[0])


@given(text=TEXT)
def test_counts_add_up_to_the_windows_without_n(text):
    assert counts_of(text).sum() == sum(max(0, len(part) - 3) for part in text.split("N"))


def test_no_windows_and_empty_windows_have_no_counts():
    assert counts_of("ACGT", (), ()).shape == (0, N_COLUMNS)
    assert counts_of("ACGT", (2, 0), (2, 3)).sum() == 0


@pytest.mark.parametrize(("begin", "end"), [((-1,), (3,)), ((0,), (5,)), ((0, 1), (3,))])
def test_windows_outside_the_codes_are_refused(begin, end):
    with pytest.raises(ValueError, match=r"outside|begins"):
        counts_of("ACGT", begin, end)
