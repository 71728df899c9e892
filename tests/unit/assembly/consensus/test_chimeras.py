"""Chimeras: what two mates of one fragment show, and no other read, between what many show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.consensus.chimeras import CHIMERIC, count_chimeras
from gpuasm.assembly.consensus.merged_mates import overlapping_mates
from gpuasm.kmers import tally_kmers
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.oracles import chimeras as oracle
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_genome, simulated_pairs

TEXT = decode(simulated_genome(length=1000, seed=6))


def counted(texts: list[str], k: int = 31, overlap: int = 25) -> tuple[int, int]:
    reads = Reads.from_strings(texts, paired=True)
    return count_chimeras(reads, overlapping_mates(reads, overlap), tally_kmers(reads, k, min_count=2))


def whole(text: str) -> list[str]:
    return [text, reverse_complement(text)]


def test_a_fragment_that_joins_what_lies_apart_is_chimeric():
    deep = [mate for at in range(0, 801, 8) for mate in whole(TEXT[at : at + 120])]
    assert counted(deep) == (101, 0)
    joined = whole(TEXT[300:360] + TEXT[600:660])
    assert counted(deep + joined) == (102, 1)
    assert counted(deep + joined + joined)[1] == 0, "two fragments show it"
    tail = whole(TEXT[300:360] + decode(simulated_genome(length=1000, seed=7))[:60])
    assert counted(deep + tail) == (102, 0), "nothing is known beyond"
    wrong = TEXT[300:420]
    wrong = wrong[:60] + {"A": "C", "C": "G", "G": "T", "T": "A"}[wrong[60]] + wrong[61:]
    assert counted([*deep, wrong, reverse_complement(TEXT[300:420])])[1] == 0, "an error of one mate"
    assert counted(deep + whole(wrong))[1] == 1, "an error of its copy"


def test_what_is_thin_tells_nothing():
    assert counted([mate for at in range(0, 800, 80) for mate in whole(TEXT[at : at + 120])]) == (0, 0)
    assert counted([]) == counted(["ACGT", "A"]) == (0, 0)


@pytest.mark.parametrize("fold", [5, 15, 60])
def test_of_whole_molecules_hardly_any_seems_chimeric(fold):
    genome = simulated_genome(length=30_000, seed=9)
    texts = simulated_pairs(genome, fold=fold, length=150, insert=220, sd=40, error_rate=0.003, seed=fold)
    judged, chimeric = counted(texts)
    assert judged > 50
    assert chimeric < CHIMERIC / 4 * judged


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([9, 15, 31]))
def test_as_letter_by_letter(seed, k):
    rng = np.random.default_rng(seed)
    text = decode(rng.integers(0, 4, 200).astype(np.uint8))
    texts = []
    for _ in range(60):
        a, b = sorted(rng.integers(0, 200, 2).tolist())
        fragment = text[a : a + 70] + (text[b : b + 40] if rng.random() < 0.3 else text[a + 70 : a + 110])
        size = min(len(fragment), int(rng.integers(40, 110)))
        pair = [fragment[:size], reverse_complement(fragment)[: int(rng.integers(30, 110))]]
        wrong = int(rng.integers(len(pair[1])))
        texts += [pair[0], pair[1][:wrong] + "ACGT"[rng.integers(4)] + pair[1][wrong + 1 :]]
    reads = Reads.from_strings(texts, paired=True)
    mates = overlapping_mates(reads, 15)
    inserts = dict(zip(reads.read[mates.first].tolist(), mates.insert.tolist(), strict=True))
    found = count_chimeras(reads, mates, tally_kmers(reads, k, min_count=2))
    assert found == oracle.count_chimeras(texts, inserts, k)
