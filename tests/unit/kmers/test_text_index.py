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
from gpuasm.kmers.text_index import TextIndex
from gpuasm.sequence.encoding import decode, unpack
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
    names, text = to_host(index.find_windows(to_namespace(xp, keys))).tolist(), "".join(texts)
    firsts = [own[0] for own in expected.values()]
    assert names[:-1] == [2 * p + (text[p : p + k] != kmer) for p, kmer in zip(firsts, expected, strict=True)]
    return reads, index


@pytest.mark.parametrize("k", [9, 21, 31])
def test_windows_are_named_by_their_first_place(k, xp):
    genome = "".join(np.random.default_rng(k).choice(list("ACGT"), 500))
    texts = [genome[:300], genome[200:], genome[420:470], "ACGT", "T" * 60, "ACACACGT" * 9]
    _, index = assert_as_expected(texts, k, xp)
    expected, text = positions(texts, k), "".join(texts)
    others = Reads.from_strings([*noisy_reads(4, 10), reverse_complement(genome), "A" * 40]).moved_to(xp)
    names, n_named = to_host(index.name_windows(others)), 0
    for start, length in zip(to_host(others.start).tolist(), to_host(others.length).tolist(), strict=True):
        read = decode(unpack(to_host(others.packed), start, length))
        for i in range(length - k + 1):
            kmer, places = read[i : i + k], expected.get(canonical(read[i : i + k]))
            n_named += places is not None
            assert names[start + i] == (2 * places[0] + (text[places[0] : places[0] + k] != kmer) if places else -1)
    assert 0 < n_named == (names >= 0).sum()


@pytest.mark.parametrize("k", [9, 21, 31])
def test_windows_of_a_graph_are_numbered_through_its_unitigs(k, xp):
    genome = "".join(np.random.default_rng(k).choice(list("ACGT"), 700))
    texts = [genome[:200], genome[201 - k : 300], reverse_complement(genome[301 - k :])]  # k-mers that all differ
    reads = Reads.from_strings(texts).moved_to(xp)
    index = TextIndex.of(reads, k, overlap=k - 1)
    assert to_host(index.is_unique).size == 0
    names = to_host(index.name_windows(Reads.from_strings([genome, reverse_complement(genome)]).moved_to(xp)))
    n = [len(text) - k + 1 for text in texts]
    forward = np.concatenate([2 * np.arange(n[0] + n[1]), 2 * np.arange(sum(n), n[0] + n[1], -1) - 1])
    assert names[: sum(n)].tolist() == forward.tolist()
    assert names[700 : 700 + sum(n)].tolist() == (forward[::-1] ^ 1).tolist()


@given(
    texts=st.lists(st.text("ACGT", min_size=1, max_size=50) | st.text("AC", min_size=1, max_size=60), max_size=8),
    k=st.sampled_from([3, 5, 9, 21]),
)
def test_any_text(texts, k):
    assert_as_expected(texts, k, np)


def test_too_long_a_text_is_refused():
    reads = Reads.from_strings(["ACGT" * 20])
    packed = np.broadcast_to(reads.packed[:1], 1 << 26)
    with pytest.raises(ResourceError, match="bases of unitigs"):
        TextIndex.of(replace(reads, packed=packed), 31)
