from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.kmers.rolling import all_but_last, rolled
from gpuasm.sequence.encoding import base_at, encode, pack
from tests.oracles.kmers import reverse_complement


def as_number(kmer: str) -> int:
    return sum(int(code) << (2 * i) for i, code in enumerate(reversed(encode(kmer))))


@given(text=st.text("ACGT", min_size=71, max_size=90), k=st.integers(1, 31), start=st.integers(0, 40))
def test_both_strands_of_every_window(text, k, start):
    packed = pack(encode(text))
    strands = all_but_last(packed, start, k)
    for end in range(start + k, len(text) + 1):
        strands = rolled(*strands, base_at(packed, end - 1), k)
        window = text[end - k : end]
        assert [int(kmer) for kmer in strands] == [as_number(window), as_number(reverse_complement(window))]


@given(text=st.text("ACGT", min_size=31, max_size=60), k=st.integers(1, 31))
def test_strands_swap_when_read_from_the_other_end(text, k):
    packed = pack(encode(text))
    backward = forward = np.uint64(0)
    for position in reversed(range(len(text))):
        backward, forward = rolled(backward, forward, np.uint64(3) - base_at(packed, position), k)
        if position <= len(text) - k:
            window = text[position : position + k]
            assert [int(forward), int(backward)] == [as_number(window), as_number(reverse_complement(window))]
