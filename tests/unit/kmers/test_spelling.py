"""k-mers spelled out, in order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.kmers.keys import doubling_chain
from gpuasm.kmers.names import tally_by_doubling
from gpuasm.kmers.spelling import spell_kmers
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import count_kmers
from tests.unit.kmers.test_tally import noisy_reads


def spelled(texts, k, xp=np):
    reads = Reads.from_strings(texts).moved_to(xp)
    tally, _ = tally_by_doubling(reads, doubling_chain(k), min_count=1, with_followers=False)
    kmers, counts = spell_kmers(reads.packed, tally)
    assert (kmers.dtype, counts.dtype) == (np.uint64, np.uint32)
    assert kmers.shape == (tally.n, -(-k // 32))
    full = ["".join("ACGT"[int(bits) >> (62 - 2 * i) & 3] for bits in row for i in range(32)) for row in kmers]
    assert all(set(text[k:]) <= {"A"} for text in full)
    return list(zip([text[:k] for text in full], counts.tolist(), strict=True))


@pytest.mark.parametrize("k", [3, 31, 33, 63, 65, 95, 127])
def test_sorted_text_of_the_lesser_strand(k, xp):
    texts = noisy_reads(k, 60)
    assert spelled(texts, k, xp) == sorted(count_kmers(texts, k).items())


@given(texts=st.lists(st.text("ACGTN", max_size=60), max_size=6), k=st.sampled_from([3, 7, 31, 33, 35]))
def test_any_reads(texts, k):
    assert spelled(texts, k) == sorted(count_kmers(texts, k).items())
