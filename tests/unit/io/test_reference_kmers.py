"""Reads of any reference: found by the 21-mers that they share with it, mates together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.errors import DataError, ResourceError
from gpuasm.io import reference_kmers
from gpuasm.io.reference_kmers import K, ReferenceKmers, read_reference, reads_of_reference
from gpuasm.resources import limited_memory, resident_bytes
from gpuasm.sequence.reads import Reads
from gpuasm.threads import set_threads
from tests.oracles.read_through import reverse_complement
from tests.oracles.reads import fasta, pieces_of_sequence, random_sequences

SEQUENCES = random_sequences(1, 6, 700)
OTHERS = random_sequences(2, 30, 150)


def windows(text: str) -> set[str]:
    return {piece[i : i + K] for piece in pieces_of_sequence(text) for i in range(len(piece) - K + 1)}


def surplus(text: str, kmers: set[str]) -> int:
    """Return twice the bases in the k-mers less all bases of a read."""
    n = 0
    for piece in pieces_of_sequence(text):
        covered = {j for i in range(len(piece) - K + 1) if piece[i : i + K] in kmers for j in range(i, i + K)}
        n += 2 * len(covered) - len(piece)
    return n


@pytest.fixture
def threads():
    yield set_threads
    set_threads(None)


@given(
    st.lists(st.text("ACGTN", min_size=K, max_size=60), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 60), st.text("ACGTN", max_size=30))),
    st.integers(0, 2),
)
def test_it_is_the_rule(sequences, parts, n_pairs):
    sequences = [*sequences, SEQUENCES[0]]
    kmers = {kmer for text in sequences for strand in (text, reverse_complement(text)) for kmer in windows(strand)}
    texts = [sequences[at % len(sequences)][start : start + n] + tail for at, start, n, tail in parts]
    n_pairs = min(n_pairs, len(texts) // 2)
    values = [surplus(text, kmers) for text in texts]
    values[: 2 * n_pairs] = [values[i & ~1] + values[i | 1] for i in range(2 * n_pairs)]
    table = ReferenceKmers.of(Reads.from_strings(sequences))
    assert reads_of_reference(Reads.from_strings(texts), n_pairs, table).tolist() == [value > 0 for value in values]


@pytest.mark.parametrize("n", [1, 3])
def test_threads_and_repeats_change_nothing(threads, n):
    reference = Reads.from_strings([*SEQUENCES, *SEQUENCES[:2] * 20, "ACGTACG" * 300])
    texts = [SEQUENCES[5][500:650], reverse_complement(SEQUENCES[0][:150]), "GTACGAC" * 20, *OTHERS]
    threads(n)
    table = ReferenceKmers.of(reference)
    assert reads_of_reference(Reads.from_strings(texts), 0, table).tolist() == [True] * 3 + [False] * 30
    distinct = {min(kmer, reverse_complement(kmer)) for text in [*SEQUENCES, "ACGTACG" * 6] for kmer in windows(text)}
    assert (table.rest != reference_kmers._FREE).sum() == len(distinct)


def test_different_kmers_have_different_hashes():
    kmers = np.random.default_rng(3).integers(0, 1 << 2 * K, 3000, dtype=np.uint64)
    bases = (kmers[:, None] >> np.arange(0, 2 * K, 2, dtype=np.uint64)) & np.uint64(3)  # the last first
    other = ((np.uint64(3) - bases) << np.arange(2 * K - 2, -1, -2, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    hashes = [int(reference_kmers._hashed(kmer)) for kmer in kmers]
    assert [int(reference_kmers._hashed(kmer)) for kmer in other[:50]] == hashes[:50]
    assert len(set(hashes)) == np.unique(np.minimum(kmers, other)).size
    assert max(hashes) < 1 << 2 * K


def test_of_a_large_reference_some_kmers_are_kept(monkeypatch):
    reference, texts = Reads.from_strings(SEQUENCES), [SEQUENCES[0][i : i + 150] for i in range(0, 550, 5)]
    whole = ReferenceKmers.of(reference)
    monkeypatch.setattr(reference_kmers, "_LARGE", 1000)
    some = ReferenceKmers.of(reference)
    assert 0.15 < some.rest.size / whole.rest.size < 0.35
    assert reads_of_reference(Reads.from_strings([*texts, *OTHERS]), 0, some).tolist() == [True] * 110 + [False] * 30


def test_a_file_of_a_reference(tmp_path):
    path = tmp_path / "host.fasta"
    path.write_text(fasta(SEQUENCES))
    table, checksum = read_reference(path)
    assert (len(checksum), (table.rest != reference_kmers._FREE).sum()) == (64, 6 * (700 - K + 1))


def test_a_reference_without_kmers_is_refused(tmp_path):
    path = tmp_path / "short.fasta"
    path.write_text(">a\nACGTACGTACGTACGTACGT\n")
    with pytest.raises(DataError, match="a sequence of at least 21 bases"):
        read_reference(path)


def test_a_reference_keeps_within_the_memory():
    reference = Reads(
        np.zeros(1 << 20, np.uint64), np.zeros(1, np.int64), np.array([1 << 24], np.int32), np.zeros(1), 1
    )
    with limited_memory(resident_bytes() + (8 << 20)), pytest.raises(ResourceError, match=r"host\.fasta"):
        ReferenceKmers.of(reference, path="host.fasta")
