"""Names of windows: the k-mer and strand at each position."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from gpuasm.arrays import to_host
from gpuasm.errors import ResourceError, UsageError
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.keys import NAME_BITS, check_k, doubling_chain
from gpuasm.kmers.names import Dictionary, name_windows, tally_by_doubling
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import canonical, count_kmers
from tests.unit.kmers.test_tally import kmer_texts, noisy_reads


def names_at(reads, k, min_count, xp):
    """Return the dictionary's k-mers as text on the strand of their keys, and the name at each text position."""
    names, k0 = None, 0
    for step in doubling_chain(k):
        tally = tally_kmers(reads, step, names, k0=k0, min_count=min_count)
        dictionary = Dictionary.of(tally.keys, k=step, k0=k0)
        names, k0 = name_windows(reads, dictionary, names), step
    return kmer_texts(tally, reads), to_host(names)


@pytest.mark.parametrize("min_count", [1, 3])
@pytest.mark.parametrize("k", [5, 31, 33, 61, 63, 121])
def test_names_are_numbers_and_strands_of_kmers(k, min_count, xp):
    texts = noisy_reads(k + 2, 80)
    reads = Reads.from_strings(texts).moved_to(xp)
    kmers, names = names_at(reads, k, min_count, xp)
    solid = {kmer for kmer, n in count_kmers(texts, k).items() if n >= min_count}
    assert {canonical(kmer) for kmer in kmers} == solid
    named = np.zeros(names.size, dtype=bool)
    for start, length in zip(to_host(reads.start).tolist(), to_host(reads.length).tolist(), strict=True):
        text = decode(unpack(to_host(reads.packed), start, length))
        for i in range(length - k + 1):
            window, name = text[i : i + k], int(names[start + i])
            named[start + i] = True
            assert (name >= 0) == (canonical(window) in solid)
            if name >= 0:
                kmer = kmers[name >> 1]
                assert window == (kmer if name & 1 == 0 else kmer.translate(str.maketrans("ACGT", "TGCA"))[::-1])
    assert (names[~named] == -1).all()


def test_doubling_chains():
    assert doubling_chain(5) == [5]
    assert doubling_chain(31) == [31]
    assert doubling_chain(33) == [31, 33]
    assert doubling_chain(61) == [31, 61]
    assert doubling_chain(63) == [31, 61, 63]
    assert doubling_chain(501) == [31, 61, 121, 241, 481, 501]
    for k in range(3, 700, 2):
        chain = doubling_chain(k)
        assert chain[-1] == k
        assert all(a < b <= 2 * a for a, b in itertools.pairwise(chain))
        assert all(step % 2 for step in chain)


@pytest.mark.parametrize("k", [-1, 0, 1, 2, 30, 64])
def test_an_even_or_tiny_k_is_refused(k):
    for function in (check_k, doubling_chain):
        with pytest.raises(UsageError, match="an odd k of at least 3"):
            function(k)


def test_more_kmers_than_names_are_refused():
    too_many = SimpleNamespace(size=1 << (NAME_BITS - 1))
    with pytest.raises(ResourceError, match="raise --min-count"):
        Dictionary.of(too_many, k=31, k0=0)


def test_a_long_k_without_names_is_refused():
    with pytest.raises(ValueError, match="needs the names"):
        tally_kmers(Reads.from_strings(["A" * 200]), 63)


def test_the_last_k_may_have_another_least_count(xp):
    texts = noisy_reads(3, 80)
    reads = Reads.from_strings(texts).moved_to(xp)
    tally, dictionaries = tally_by_doubling(reads, [31, 61, 63], min_count=1, last_min_count=3, with_followers=False)
    counts = count_kmers(texts, 63)
    assert tally.n == sum(n >= 3 for n in counts.values())
    assert tally.histogram.sum() == len(counts)
    assert [d.k for d in dictionaries] == [31, 61]
    assert dictionaries[0].keys.size == len(count_kmers(texts, 31))
