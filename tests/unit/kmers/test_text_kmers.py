"""Keys of all 31-mers of a text, compared with those computed one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.kmers.text_kmers import kmers_of, places_of
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.encoding import reverse_complement as reverse_complement_of
from tests.oracles.kmers import reverse_complement


def key(text):
    return int("".join(str("ACGT".index(letter)) for letter in text), 4)


def test_keys_are_those_of_the_text_and_its_reverse_complement(rng, xp):
    for n in (0, 1, 30, 31, 32, 100):
        codes = rng.integers(0, 4, n).astype(np.uint8)
        text = decode(codes)
        forward, backward = (to_host(a).tolist() for a in kmers_of(to_namespace(xp, codes)))
        kmers = [text[i : i + 31] for i in range(n - 30)]
        assert forward == [key(kmer) for kmer in kmers]
        assert backward == [key(reverse_complement(kmer)) for kmer in kmers]


@given(st.lists(st.integers(0, 3), min_size=31, max_size=60))
def test_a_reverse_complemented_text_has_the_same_keys(bases):
    codes = np.array(bases, np.uint8)
    forward, backward = kmers_of(codes)
    turned = kmers_of(3 - codes[::-1])
    assert np.array_equal(turned[0], backward[::-1])
    assert np.array_equal(turned[1], forward[::-1])


@pytest.mark.parametrize("n_others", [0, 1 << 21])
def test_kmers_are_found_on_either_strand(rng, n_others):
    """Also with so many other queries that half of all 31-mers pass the table."""
    others = rng.integers(0, 1 << 62, n_others).astype(np.uint64)
    half = rng.integers(0, 4, 200).astype(np.uint8)
    bases = np.concatenate([half, reverse_complement_of(half)])
    forward, backward = kmers_of(bases)
    keys = np.minimum(forward, backward)[[0, 56, 57, 169]]
    each = zip(np.minimum(forward, backward).tolist(), forward < backward, strict=True)
    expected = [(i, key, bool(is_forward)) for i, (key, is_forward) in enumerate(each) if key in keys.tolist()]
    assert list(zip(*(found.tolist() for found in places_of(bases, np.append(keys, others))), strict=True)) == expected
    assert len(expected) == 8
    assert [found.size for found in places_of(bases, keys[:0])] == [0, 0, 0]


def test_a_text_shorter_than_31_bases_has_no_keys():
    assert [found.size for found in places_of(np.zeros(30, np.uint8), np.zeros(1, np.uint64))] == [0, 0, 0]
