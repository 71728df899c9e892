"""Merged mates: one segment for the fragment of two mates with one overlap, with the better of two bases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.iteration.merged_mates import merge_mates, overlapping_mates
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.oracles.merged_mates import fragment
from tests.samples import simulated_genome

K = 25
TEXT = decode(simulated_genome(length=1700, seed=5))


def merged(texts: list[str], k: int = K) -> list[tuple[int, str]]:
    reads = Reads.from_strings(texts, paired=True)
    reads = merge_mates(reads, overlapping_mates(reads, k))
    rows = zip(reads.read.tolist(), reads.start.tolist(), reads.length.tolist(), strict=True)
    return [(number, decode(unpack(reads.packed, start, length))) for number, start, length in rows]


def mates(text: str, first: int = 100, second: int = 100) -> list[str]:
    return [text[:first], reverse_complement(text[-second:])]


@pytest.mark.parametrize("size", [40, 100, 101, 130, 150, 175])
def test_overlapping_pair_becomes_its_fragment(size):
    assert merged(mates(TEXT[:size])) == [(0, TEXT[:size])]


@pytest.mark.parametrize("size", [176, 300])
def test_overlap_below_k_is_not_merged(size):
    pair = mates(TEXT[:size])
    assert merged(pair) == list(enumerate(pair))


@pytest.mark.parametrize(("first", "second"), [(37, 131), (131, 37)])
def test_mates_of_other_lengths(first, second):
    assert merged(mates(TEXT[:140], first, second)) == [(0, TEXT[:140])]


def test_base_nearer_to_the_read_start_is_used():
    other = {"A": "C", "C": "G", "G": "T", "T": "A"}
    text = TEXT[:120]
    wrong_end = text[:95] + other[text[95]] + text[96:100]
    wrong_end_of_second = text[20:24] + other[text[24]] + text[25:]
    assert merged([wrong_end, reverse_complement(wrong_end_of_second)]) == [(0, text)]


def test_differing_mates_are_not_merged():
    first, second = mates(TEXT[:120])
    wrong = "".join("ACGT"["ACGT".index(base) ^ (i % 10 == 0)] for i, base in enumerate(first))
    assert merged([wrong, second]) == [(0, wrong), (1, second)]


def test_mates_in_a_tandem_repeat_are_not_merged():
    pair = mates((TEXT[:30] * 10)[:150])
    assert merged(pair) == list(enumerate(pair))


def test_pairs_with_n_are_not_merged():
    """The second pair has three segments, the third lacks a mate; order and numbers are those of the reads."""
    cut = mates(TEXT[200:320])
    cut[0] = cut[0][:50] + "N" + cut[0][51:]
    segments = [(2, cut[0][:50]), (2, cut[0][51:]), (3, cut[1])]
    found = merged([*mates(TEXT[:130]), *cut, TEXT[:90], "NNN", *mates(TEXT[300:430])])
    assert found == [(0, TEXT[:130]), *segments, (4, TEXT[:90]), (6, TEXT[300:430])]


def test_nothing_to_merge():
    assert merged([]) == []
    assert merged(["ACGT", "A"]) == [(0, "ACGT"), (1, "A")]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([9, 25]))
def test_merged_reads_equal_the_oracle(seed, k):
    rng = np.random.default_rng(seed)
    texts, expected = [], []
    for i in range(5):
        text = decode(rng.integers(0, 4 if rng.random() < 0.7 else 2, rng.integers(30, 250)).astype(np.uint8))
        pair = mates(text, *np.minimum(rng.integers(20, 140, 2), len(text)).tolist())
        at = rng.integers(len(pair[0]))
        pair[0] = pair[0][:at] + "ACGT"[rng.integers(4)] + pair[0][at + 1 :]
        found = fragment(*pair, k)
        expected += [(2 * i, found)] if found else [(2 * i, pair[0]), (2 * i + 1, pair[1])]
        texts += pair
    assert merged(texts, k) == expected


@pytest.mark.parametrize(("n_chimeras", "is_merged"), [(1, False), (4, False), (5, True)])
def test_chimeric_fragment_hides_no_end_once_merged(n_chimeras, is_merged):
    """One chimeric molecule continues wrongly where the others end; a single read continues rightly to the next ones.

    Where fewer than two in a hundred fragments are chimeric, mates are not merged and count as two reads.
    """
    text, end = decode(simulated_genome(length=3000, seed=8)), 1500
    texts = []
    for part in (text[:end], text[end:]):
        for at in [*range(0, len(part) - 130, 16), len(part) - 130]:
            texts += mates(part[at : at + 130])
    for at in range(end, end - 200 * n_chimeras, -200):
        texts += mates(text[at - 70 : at] + reverse_complement(text[at - 1000 : at - 940]), 130, 130)
    texts += mates(text[end - 60 : end + 150])
    reads, stages = Reads.from_strings(texts, paired=True), Stages()
    found = assemble(reads, AssemblyOptions(), stages=stages)
    apart = assemble(reads, AssemblyOptions(without=("merged-mates",)))
    (record,) = (record for record in stages.records if record.name == "merge mates")
    assert record.counts["judged"] > 160
    assert record.counts["chimeric"] == n_chimeras - 1, "after the last one no k-mer of many reads follows"
    assert record.counts["pairs"] == (record.counts["overlapping"] if is_merged else 0)
    assert apart.contigs[0].length < 1700
    assert (found.contigs[0].length > 2950) == is_merged
    assert is_in(found.contigs[0].sequence, text) or not is_merged


def is_in(contig: str, text: str) -> bool:
    return contig in text or reverse_complement(contig) in text
