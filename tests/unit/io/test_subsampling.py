"""A share of the reads: mates together, the same in any order, copies of a pair each by themselves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gpuasm.io.subsampling import choose_reads
from gpuasm.sequence.reads import Reads
from gpuasm.threads import set_threads
from tests.oracles.reads import random_sequences

TEXTS = random_sequences(1, 4000, 80)


def chosen(texts: list[str], n_pairs: int, share: float) -> list[str]:
    reads = Reads.from_strings(texts, paired=2 * n_pairs == len(texts))
    return [text for text, is_in in zip(texts, choose_reads(reads, n_pairs, share), strict=True) if is_in]


def test_mates_stay_together_and_the_share_is_kept():
    mask = choose_reads(Reads.from_strings(TEXTS), 1500, 0.3)
    assert (mask[:3000:2] == mask[1:3000:2]).all()
    assert 0.27 < mask[:3000].mean() < 0.33
    assert 0.26 < mask[3000:].mean() < 0.34


def test_the_order_of_reads_and_mates_changes_nothing():
    found = chosen(TEXTS, 2000, 0.4)
    order = np.random.default_rng(2).permutation(2000)
    shuffled = [TEXTS[2 * pair + mate] for pair in order for mate in (1, 0)]
    assert sorted(chosen(shuffled, 2000, 0.4)) == sorted(found)


def test_more_are_kept_of_a_larger_share():
    assert set(chosen(TEXTS, 2000, 0.1)) < set(chosen(TEXTS, 2000, 0.2))


@pytest.mark.parametrize("threads", [1, 2])
def test_of_copies_the_share_is_kept_too(threads):
    """Few different reads at high depth: each is kept as often as the share says, whatever the order."""
    texts = TEXTS[:20] * 200
    set_threads(threads)
    found = Counter(chosen(texts, 0, 0.25))
    set_threads(None)
    assert len(found) == 20
    assert all(20 < n < 85 for n in found.values())
    assert Counter(chosen(texts[::-1], 0, 0.25)) == found


@pytest.mark.parametrize(("share", "n"), [(0.0, 0), (1.0, 10)])
def test_nothing_and_all(share, n):
    assert len(chosen(TEXTS[:10], 5, share)) == n


def test_no_reads_at_all():
    assert choose_reads(Reads.from_strings([]), 0, 0.5).tolist() == []


def test_reads_without_bases():
    assert choose_reads(Reads.from_strings(["", "N"] * 400), 0, 0.5).sum() == pytest.approx(400, abs=80)
