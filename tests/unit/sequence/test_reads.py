"""Reads as arrays: splitting at letters that are not bases, selecting, moving."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import array_namespace, to_host
from gpuasm.sequence import reads as reads_module
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from gpuasm.sequence.reads import Reads, first_of_mates
from tests.oracles.reads import pieces_of_reads, pieces_of_sequence

texts = st.lists(st.text("ACGTacgtNnUu-", max_size=70), max_size=10)


@given(texts)
def test_segments_are_those_of_the_texts(texts):
    reads = Reads.from_strings(texts)
    assert pieces_of_reads(reads) == [(i, piece) for i, text in enumerate(texts) for piece in pieces_of_sequence(text)]
    assert reads.n_reads == len(texts)
    assert reads.n_bases == sum(len(piece) for text in texts for piece in pieces_of_sequence(text))
    assert (reads.length > 0).all()


@given(texts, st.data(), st.sampled_from([2, 1 << 13]))
def test_stretches_of_segments_are_read_on_either_strand(texts, data, batch):
    reads, pieces = Reads.from_strings(texts), [p for text in texts for p in pieces_of_sequence(text)]
    rows = (
        data.draw(st.lists(st.tuples(st.sampled_from(range(len(pieces))), st.booleans()), max_size=5)) if pieces else []
    )
    expected, stretches = "", []
    for segment, is_reversed in rows:
        own = pieces[segment]
        own = decode(reverse_complement(encode(own))) if is_reversed else own
        first = data.draw(st.integers(0, len(own)))
        length = data.draw(st.integers(0, len(own) - first))
        expected += own[first : first + length]
        stretches.append((segment, first, length, is_reversed))
    segment, first, length, is_reversed = np.array(stretches, np.int64).reshape(-1, 4).T
    with mock.patch.object(reads_module, "_BATCH", batch):
        assert decode(reads.codes_of(segment, first, length, is_reversed=is_reversed == 1)) == expected


@given(st.lists(st.integers(0, 12)).map(sorted))
def test_first_rows_of_mates(numbers):
    first, second = first_of_mates(np.array(numbers, np.int64))
    pairs = [n for n in range(0, 12, 2) if n in numbers and n + 1 in numbers]
    assert first.tolist() == [numbers.index(n) for n in pairs]
    assert second.tolist() == [numbers.index(n + 1) for n in pairs]


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
