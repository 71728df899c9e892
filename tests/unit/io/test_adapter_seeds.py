"""The sieve before cutadapt: no read in which it finds an adapter is held back, and few others pass."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from cutadapt.adapters import BackAdapter
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuasm.io import trimming
from gpuasm.io.adapter_seeds import Seeds, may_contain_adapter
from gpuasm.io.adapters import ADAPTERS
from gpuasm.sequence.reads import Reads
from tests.oracles.reads import random_sequences

SHORTEST, ERRORS = trimming._LEAST_MATCH, trimming._ERRORS
TEXTS = [text for kit in ADAPTERS.values() for text in kit] + ["ACGTTGCATG", "CATTGCGGCATACTTGAGGACCATAGTTCAGG"]


def passing(texts: list[str], adapters: list[str]) -> list[bool]:
    return may_contain_adapter(
        Reads.from_strings(texts), Seeds.of(adapters, error_rate=ERRORS, shortest=SHORTEST)
    ).tolist()


def found(text: str, adapters: list[str]) -> bool:
    return any(match_by(one)(text) is not None for one in adapters)


@functools.cache
def match_by(adapter: str):
    return BackAdapter(adapter, max_errors=ERRORS, min_overlap=SHORTEST).match_to


edits = st.lists(st.tuples(st.integers(0, 41), st.sampled_from(["", *"ACGT", "AC", "TG"])), max_size=4)


@given(
    st.text("ACGT", max_size=90), st.sampled_from(TEXTS), st.integers(1, 42), edits, st.text("ACGT", max_size=6),
    st.sets(st.sampled_from(TEXTS), max_size=2),
)  # fmt: skip
@example("A" * 30, TEXTS[0], 9, [], "", set())
@example("A" * 30, TEXTS[0], 19, [(2, ""), (12, "G")], "", set())
@settings(max_examples=300)
def test_what_cutadapt_finds_passes(before, adapter, size, changes, after, others):
    """The beginning of an adapter, anywhere in a read, with some bases changed, deleted or duplicated."""
    letters = list(adapter[:size])
    for place, letter in changes:
        if place < len(letters):
            letters[place] = letter
    text = before + "".join(letters) + after
    adapters = [adapter, *sorted(others - {adapter})]
    if found(text, adapters):
        assert passing([text], adapters) == [True]


@pytest.mark.parametrize("adapter", TEXTS)
def test_errors_at_any_place_pass(adapter):
    """Each one base changed, lost and added, in each beginning of the adapter that ends a read."""
    lead = "ACCAGATTTACAGGA"
    made = {lead + adapter[:n] for n in range(SHORTEST, len(adapter) + 1)}
    for at in range(len(adapter)):
        for other in ("", "A", "C", "G", "T", adapter[at] + "A", adapter[at] + "C"):
            changed = adapter[:at] + other + adapter[at + 1 :]
            made |= {lead + changed[:n] for n in range(SHORTEST, len(changed) + 1)}
    texts = sorted(text for text in made if found(text, [adapter]))
    assert len(texts) > len(adapter)
    assert all(passing(texts, [adapter]))


def test_few_reads_without_an_adapter_pass():
    texts = random_sequences(3, 4000, 150)
    adapters = [*ADAPTERS["Illumina Nextera"], "CTGTCTCTTATACACATCTCCGAGCCCACGAG"]
    with_one = np.array([found(text, adapters) for text in texts])
    passed = np.array(passing(texts, adapters))
    assert not (with_one & ~passed).any()
    assert passed.mean() < 0.07


def test_pieces_and_nothing():
    texts = ["", "N", "ACG", "TTTTTTNTTTTTT", "TTTTTTTTTTTTT"]
    assert passing(texts, [TEXTS[0]]) == [False, False, False, True, False]
    assert passing([], [TEXTS[0]]) == []
    assert passing(["ACGTACGTACGT"], []) == [False]
