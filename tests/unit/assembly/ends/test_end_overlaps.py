"""Overlaps of all ends, against every pair and every size in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import namespace_of
from gpuasm.assembly.ends.dead_ends import EndSequences
from gpuasm.assembly.ends.end_overlaps import find_overlaps
from gpuasm.assembly.parameters import ENDS
from gpuasm.sequence.encoding import encode
from tests.oracles.kmers import reverse_complement
from tests.repeat_graphs import random_text

LEAST = 12
SEED = LEAST * (ENDS.overlap_mismatch_cost - 1) // ENDS.overlap_mismatch_cost


def sequences_of(texts: list[str], beyond: list[int], k: int) -> EndSequences:
    start = np.cumsum([0, *map(len, texts)])
    return EndSequences(3 * np.arange(len(texts)), encode("".join(texts)), start, np.array(beyond, np.int64), k)


def rows_of(texts: list[str], beyond: list[int], k: int, xp) -> list[tuple[int, ...]]:
    found = find_overlaps(sequences_of(texts, beyond, k), LEAST, xp=xp)
    return list(zip(*(column.tolist() for column in vars(found).values()), strict=True))


def plain_overlaps(texts: list[str], beyond: list[int], k: int) -> list[tuple[int, ...]]:
    """Return end, other end, size, gap and score of all overlaps that contain a seed."""
    outer = [min(len(text), own + k) for text, own in zip(texts, beyond, strict=True)]
    times = Counter(
        text[i : i + SEED]
        for text, n in zip(texts, outer, strict=True)
        for i in range(len(text) - n, len(text) - SEED + 1)
    )
    found = []
    for a, one in enumerate(texts):
        for b, other in enumerate(texts):
            for n in range(1, min(len(one), len(other)) + 1) if a != b else ():
                own, towards = one[len(one) - n :], reverse_complement(other)[:n]
                score = n - ENDS.overlap_mismatch_cost * sum(x != y for x, y in zip(own, towards, strict=True))
                inside = range(max(0, n - outer[a]), min(n, outer[b]) - SEED + 1)
                seeds = [own[i : i + SEED] for i in inside if own[i : i + SEED] == towards[i : i + SEED]]
                has_seed = any(times[seed] <= ENDS.overlap_seed_max_ends for seed in seeds)
                if has_seed and score >= LEAST:
                    found.append((3 * a, 3 * b, n, beyond[a] + beyond[b] - n, score))
    return found


BLOCKS = [random_text(n, 50 + n) for n in (9, 14, 23, 40)]
BLOCKS += ["A" * 11, "AT" * 8, "ACGT" * 5, *map(reverse_complement, BLOCKS)]


@st.composite
def ends_of_blocks(draw):
    texts = []
    for _ in range(draw(st.integers(0, 7))):
        text = list("".join(draw(st.lists(st.sampled_from(BLOCKS), max_size=4))))
        for place in draw(st.lists(st.integers(0, 99), max_size=3)):
            if text:
                text[place % len(text)] = draw(st.sampled_from("ACGT"))
        texts.append("".join(text))
    return texts, [draw(st.integers(0, len(text))) for text in texts], draw(st.sampled_from([5, 21, 200]))


@given(ends_of_blocks())
def test_overlaps_equal_those_of_every_size(made):
    assert rows_of(*made, namespace_of("cpu")) == plain_overlaps(*made)


@pytest.mark.parametrize("n_ends", [5, 20])
def test_devices_and_threads_find_the_same_overlaps(xp, threads, n_ends):
    genome = random_text(2000, 3)
    texts = [genome[67 * i : 67 * i + 150] for i in range(n_ends)]
    texts[::2] = map(reverse_complement, texts[::2])
    made = texts, [0] * n_ends, 1000
    assert rows_of(*made, xp) == plain_overlaps(*made)


def test_frequent_seeds_are_not_used(xp):
    shared = random_text(30, 4)
    for n in (ENDS.overlap_seed_max_ends, ENDS.overlap_seed_max_ends + 1):
        texts = [random_text(60, 100 + i) + shared for i in range(n)]
        texts.append(random_text(60, 99) + reverse_complement(shared))
        found = [row for row in rows_of(texts, [0] * (n + 1), 100, xp) if row[1] == 3 * n]
        assert len(found) == (n if n <= ENDS.overlap_seed_max_ends else 0)
