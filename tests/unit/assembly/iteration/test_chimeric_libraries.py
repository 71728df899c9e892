"""Chimeric fragments: k-mers of both mates and no other read, between k-mers of many reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.iteration.chimeric_libraries import count_chimeric_fragments
from gpuasm.assembly.iteration.merged_mates import overlapping_mates
from gpuasm.assembly.parameters import ITERATION
from gpuasm.kmers import tally_kmers
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.oracles import chimeras as oracle
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_genome, simulated_pairs

TEXT = decode(simulated_genome(length=1000, seed=6))


def counted(texts: list[str], k: int = 31, overlap: int = 25) -> tuple[int, int]:
    reads = Reads.from_strings(texts, paired=True)
    return count_chimeric_fragments(reads, overlapping_mates(reads, overlap), tally_kmers(reads, k, min_count=2))


def whole(text: str) -> list[str]:
    return [text, reverse_complement(text)]


def test_fragment_of_two_distant_places_is_chimeric():
    covered = [mate for at in range(0, 801, 8) for mate in whole(TEXT[at : at + 120])]
    assert counted(covered) == (101, 0)
    joined = whole(TEXT[300:360] + TEXT[600:660])
    assert counted(covered + joined) == (102, 1)
    assert counted(covered + joined + joined)[1] == 0, "two fragments contain it"
    tail = whole(TEXT[300:360] + decode(simulated_genome(length=1000, seed=7))[:60])
    assert counted(covered + tail) == (102, 0), "no k-mer of many reads follows"
    wrong = TEXT[300:420]
    wrong = wrong[:60] + {"A": "C", "C": "G", "G": "T", "T": "A"}[wrong[60]] + wrong[61:]
    assert counted([*covered, wrong, reverse_complement(TEXT[300:420])])[1] == 0, "an error of one mate"
    assert counted(covered + whole(wrong))[1] == 1, "an error of its copy"


def test_low_coverage_counts_no_fragment():
    assert counted([mate for at in range(0, 800, 80) for mate in whole(TEXT[at : at + 120])]) == (0, 0)
    assert counted([]) == counted(["ACGT", "A"]) == (0, 0)


@pytest.mark.parametrize("fold", [5, 15, 60])
def test_simulated_reads_have_few_chimeric_fragments(fold):
    genome = simulated_genome(length=30_000, seed=9)
    texts = simulated_pairs(genome, fold=fold, length=150, insert=220, sd=40, error_rate=0.003, seed=fold)
    judged, chimeric = counted(texts)
    assert judged > 50
    assert chimeric < ITERATION.chimeric_share / 4 * judged


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([9, 15, 31]))
def test_counts_equal_the_oracle(seed, k):
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
    found = count_chimeric_fragments(reads, mates, tally_kmers(reads, k, min_count=2))
    assert found == oracle.count_chimeric_fragments(texts, inserts, k)
