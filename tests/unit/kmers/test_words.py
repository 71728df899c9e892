"""Keys of all 31-mers of a text, beside one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.kmers.words import words_of
from gpuasm.sequence.encoding import decode
from tests.oracles.kmers import reverse_complement


def key(text):
    return int("".join(str("ACGT".index(letter)) for letter in text), 4)


def test_words_are_those_of_the_text_and_of_its_other_strand(rng, xp):
    for n in (0, 1, 30, 31, 32, 100):
        codes = rng.integers(0, 4, n).astype(np.uint8)
        text = decode(codes)
        forward, backward = (to_host(a).tolist() for a in words_of(to_namespace(xp, codes)))
        words = [text[i : i + 31] for i in range(n - 30)]
        assert forward == [key(word) for word in words]
        assert backward == [key(reverse_complement(word)) for word in words]


@given(st.lists(st.integers(0, 3), min_size=31, max_size=60))
def test_turned_round_a_text_has_the_same_words(bases):
    codes = np.array(bases, np.uint8)
    forward, backward = words_of(codes)
    turned = words_of(3 - codes[::-1])
    assert np.array_equal(turned[0], backward[::-1])
    assert np.array_equal(turned[1], forward[::-1])
