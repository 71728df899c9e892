"""Reads as arrays: splitting at letters that are not bases, selecting, moving."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import array_namespace, to_host
from gpuasm.sequence.reads import Reads
from tests.oracles.reads import pieces_of_reads, pieces_of_sequence

texts = st.lists(st.text("ACGTacgtNnUu-", max_size=70), max_size=10)


@given(texts)
def test_segments_are_those_of_the_texts(texts):
    reads = Reads.from_strings(texts)
    assert pieces_of_reads(reads) == [(i, piece) for i, text in enumerate(texts) for piece in pieces_of_sequence(text)]
    assert reads.n_reads == len(texts)
    assert reads.n_bases == sum(len(piece) for text in texts for piece in pieces_of_sequence(text))
    assert (reads.length > 0).all()


@given(texts)
def test_arrays_are_as_documented(texts):
    reads = Reads.from_strings(texts)
    assert [array.dtype.name for array in (reads.packed, reads.start, reads.length, reads.read)] == [
        "uint64",
        "int64",
        "int32",
        "int64",
    ]
    assert reads.n_segments == reads.start.size == reads.length.size == reads.read.size
    assert (np.diff(reads.read) >= 0).all()
    if reads.n_segments:
        assert (reads.start + reads.length).max() <= 32 * (reads.packed.size - 1)


def test_selection_by_mask_and_by_index():
    reads = Reads.from_strings(["ACGTNAC", "GGG", "TTTT"], paired=False)
    assert pieces_of_reads(reads.select(reads.length > 2)) == [(0, "ACGT"), (1, "GGG"), (2, "TTTT")]
    assert pieces_of_reads(reads.select(np.array([3, 1]))) == [(2, "TTTT"), (0, "AC")]
    assert reads.select(reads.length > 9).n_bases == 0


def test_pairing_is_kept():
    reads = Reads.from_strings(["AC", "GT"], paired=True)
    assert reads.paired
    assert reads.select(np.array([0])).paired
    assert not Reads.from_strings([]).paired


def test_moving(xp):
    reads = Reads.from_strings(["ACGT", "GGNC"], paired=True)
    moved = reads.moved_to(xp)
    assert all(array_namespace(array) is xp for array in (moved.packed, moved.start, moved.length, moved.read))
    assert moved.moved_to(xp) is moved
    back = moved.moved_to(np)
    assert pieces_of_reads(back) == pieces_of_reads(reads)
    np.testing.assert_array_equal(to_host(moved.packed), reads.packed)
    assert (back.n_reads, back.paired) == (2, True)
