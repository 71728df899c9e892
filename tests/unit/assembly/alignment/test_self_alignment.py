"""Alignments of stretches to contigs, against a plain search of every diagonal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.alignment.self_alignment import SelfAlignment, find_self_alignments
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.sequence.encoding import NOT_A_BASE, reverse_complement
from tests.assembly_library import random_codes


def bounds_of(texts):
    return np.concatenate([[0], np.cumsum([text.size for text in texts])]).astype(np.int64)


def best_run(pairs):
    """Return the first of the runs with the highest sum: a match is 1, a mismatch -19."""
    best, run, begin = (0, 0, 0), 0, 0
    for i, (one, other) in enumerate(pairs):
        run += 1 if one == other and one < NOT_A_BASE else -19
        if run < 0:
            run, begin = 0, i + 1
        elif run > best[0]:
            best = run, begin, i + 1
    return best[1:]


def plain(texts, low, high):
    """Align a stretch to all contigs on every diagonal, on both strands, that has a shared 31-mer."""
    codes, bounds = np.concatenate(texts), bounds_of(texts)
    own, found = codes[low:high], set()
    for contig, (text, first) in enumerate(zip(texts, bounds.tolist(), strict=False)):
        for is_reversed in (False, True):
            other = reverse_complement(text) if is_reversed else text
            for shift in range(-own.size + 1, text.size):
                a, b = max(0, -shift), min(own.size, text.size - shift)
                faced = other[a + shift : b + shift]
                same = "".join("x" if x == y else " " for x, y in zip(own[a:b] & 3, faced & 3, strict=True))
                if "x" * MAX_PLAIN_K not in same:
                    continue
                one, two = (a + at for at in best_run(zip(own[a:b].tolist(), faced.tolist(), strict=True)))
                begin, end = one + shift, two + shift
                begin, end = (text.size - end, text.size - begin) if is_reversed else (begin, end)
                begin, end = first + begin, first + end
                if two - one >= ALIGNMENT.contained_end_min_bases and (end <= low or begin >= high):
                    found.add(SelfAlignment(contig, one, two, begin, end, is_reversed))
    return sorted(found, key=lambda own: (own.begin, own.end, own.is_reversed))


@given(st.integers(0, 10**9), st.integers(0, 12), st.booleans())
def test_alignments_are_those_of_a_plain_search(seed, n_changed, with_gap):
    rng = np.random.default_rng(seed)
    shared = random_codes(rng, int(rng.integers(40, 160)))
    texts = []
    for _ in range(3):
        own = shared.copy()
        changed = rng.choice(own.size, min(n_changed, own.size), replace=False)
        own[changed] = (own[changed] + 1) % 4
        own = reverse_complement(own) if rng.integers(2) else own
        own = own[: int(rng.integers(35, own.size + 1))]
        texts.append(np.concatenate([random_codes(rng, int(rng.integers(0, 40))), own, random_codes(rng, 20)]))
    if with_gap:
        texts[1][texts[1].size // 2] = NOT_A_BASE
    low, high = 0, texts[0].size
    if rng.integers(2):
        low, high = texts[0].size + 5, texts[0].size + texts[1].size
    assert find_self_alignments(np.concatenate(texts), bounds_of(texts), [(low, high)]) == [plain(texts, low, high)]


def test_copy_with_a_gap_has_two_alignments(rng):
    one, two = random_codes(rng, 200), random_codes(rng, 150)
    texts = [np.concatenate([one, two]), np.concatenate([one, random_codes(rng, 7), two])]
    (found,) = find_self_alignments(np.concatenate(texts), bounds_of(texts), [(0, 350)])
    assert [(own.high - own.low) for own in found] == pytest.approx([200, 150], abs=3)


def test_short_stretches_and_kmers_of_many_places_have_no_alignments(rng):
    assert find_self_alignments(np.empty(0, np.uint8), np.zeros(1, np.int64), []) == []
    short = random_codes(rng, 20)
    assert find_self_alignments(short, bounds_of([short]), [(0, 20)]) == [[]]
    unit = random_codes(rng, 60)
    texts = [unit for _ in range(200)]
    assert find_self_alignments(np.concatenate(texts), bounds_of(texts), [(0, 60)]) == [[]]
    assert len(find_self_alignments(np.concatenate(texts[:50]), bounds_of(texts[:50]), [(0, 60)])[0]) == 49
