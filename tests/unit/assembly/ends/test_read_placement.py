"""Placement of reads on candidate walks, against every position of every text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.ends.fragment_choice import places_on
from gpuasm.assembly.parameters import ENDS

CODES = st.binary(max_size=40).map(lambda text: bytes(code % 2 for code in text))
"""Codes of two letters, so that k-mers occur several times."""


def plainly(texts, read):
    """Return the places of a read, by comparing it with every place."""
    found = {
        (i, at): sum(x != y for x, y in zip(text[at:], read, strict=False))
        for i, text in enumerate(texts)
        for at in range(len(text) - len(read) + 1)
    }
    least = min(found.values(), default=0)
    return [place for place, n in found.items() if n == least <= len(read) // ENDS.fragment_bases_per_difference]


def placed(texts, read):
    ((text, at),) = places_on(texts, [read])
    return list(zip(text.tolist(), at.tolist(), strict=True))


@settings(max_examples=200)
@given(texts=st.lists(CODES, max_size=4), read=CODES.filter(len))
def test_places_are_those_of_every_text(texts, read):
    assert placed(texts, read) == plainly(texts, read)


@settings(max_examples=50)
@given(seed=st.integers(0, 1000), n_errors=st.integers(0, 6))
def test_places_of_reads_with_errors(seed, n_errors):
    rng = np.random.default_rng(seed)
    unit = rng.integers(0, 4, 30, dtype=np.uint8)
    texts = [np.concatenate([rng.integers(0, 4, 80, dtype=np.uint8), np.tile(unit, n)]).tobytes() for n in (0, 3, 5)]
    read = np.frombuffer(texts[1], np.uint8)[60:160].copy()
    wrong = rng.choice(100, n_errors, replace=False)
    read[wrong] = (read[wrong] + 1) % 4
    assert placed(texts, read.tobytes()) == plainly(texts, read.tobytes())


@pytest.mark.parametrize(("n_errors", "is_placed"), [(0, True), (3, True), (8, False)])
def test_few_bases_may_differ(n_errors, is_placed):
    text = np.random.default_rng(1).integers(0, 4, 300, dtype=np.uint8)
    read = text[120:220].copy()
    read[10 : 10 + n_errors] ^= 1
    assert placed([text.tobytes()], read.tobytes()) == ([(0, 120)] if is_placed else [])


def test_several_reads_and_none():
    texts = [bytes([0, 1, 2, 3, 0, 1]), bytes([1, 2])]
    (one, at), (other, there) = places_on(texts, [bytes([0, 1]), bytes([1, 2])])
    assert (one.tolist(), at.tolist()) == ([0, 0], [0, 4])
    assert (other.tolist(), there.tolist()) == ([0, 1], [1, 0])
    assert places_on(texts, []) == []
    ((none, nowhere),) = places_on([], [bytes([0])])
    assert none.size == nowhere.size == 0
