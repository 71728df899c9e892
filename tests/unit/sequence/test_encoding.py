"""Two bits a base: codes, packing, the other strand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.parallel import compiled
from gpuasm.sequence.encoding import (
    BASES_PER_WORD,
    NOT_A_BASE,
    ONE_OF_TWO,
    base_at,
    decode,
    encode,
    pack,
    reverse_complement,
    unpack,
)

bases = st.text("ACGT", max_size=200)


def test_codes_of_letters():
    assert encode("ACGTacgtUu").tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 3, 3]
    every = bytes(range(256))
    assert [byte for byte in every if encode(bytes([byte]))[0] != NOT_A_BASE] == sorted(b"ACGTURYKMSWacgturykmsw")
    assert decode(encode("RYKMSWrykmsw")) == "ATGCCA" * 2


def test_one_of_two_bases_is_the_same_on_both_strands():
    assert decode(reverse_complement(encode("RYKM"))) == decode(encode("KMRY"))
    meant = {"R": "AG", "Y": "CT", "K": "GT", "M": "AC", "S": "CG", "W": "AT"}
    assert all(ONE_OF_TWO[code] in bases for code, bases in meant.items())


@given(st.text("ACGTN", max_size=100))
def test_decoding_undoes_encoding(text):
    assert decode(encode(text)) == text


@given(st.text("ACGTN", max_size=100))
def test_reverse_complement(text):
    assert decode(reverse_complement(encode(text))) == text[::-1].translate(str.maketrans("ACGTN", "TGCAN"))


@given(bases)
def test_packed_elements_are_bits_of_the_text(text):
    packed = pack(encode(text))
    assert packed.size == len(text) // BASES_PER_WORD + 2
    bits = "".join(f"{element:064b}" for element in packed.tolist())
    assert bits == "".join(f"{'ACGT'.index(base):02b}" for base in text).ljust(len(bits), "0")


@given(bases, st.data())
def test_any_part_is_unpacked(text, data):
    start = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, len(text) - start))
    assert decode(unpack(pack(encode(text)), start, length)) == text[start : start + length]


@given(st.lists(st.text("ACGT", min_size=32, max_size=32), min_size=2, max_size=2))
def test_packed_elements_compare_as_texts(pair):
    first, second = (int(pack(encode(text))[0]) for text in pair)
    assert (first < second) == (pair[0] < pair[1])


def test_bases_are_read_one_by_one_in_compiled_loops():
    @compiled(cache=False)
    def spell(packed, codes):
        for i in range(codes.size):
            codes[i] = base_at(packed, i)

    text = "ACGTTGCAACGT" * 9
    codes = np.empty(len(text), dtype=np.uint8)
    spell(pack(encode(text)), codes)
    assert decode(codes) == text


def test_letters_beyond_ascii_are_refused():
    with pytest.raises(UnicodeEncodeError):
        encode("ACGÜ")
