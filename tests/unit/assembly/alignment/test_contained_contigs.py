"""Contigs that other contigs contain whole, against a plain search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.alignment.self_alignment import find_contained_contigs
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.sequence.encoding import NOT_A_BASE, reverse_complement
from tests.assembly_library import random_codes

LEAST = ALIGNMENT.contained_end_min_bases


def contig(codes, *, free=(True, True), circular=False):
    return Contig("", codes, 40.0, 1, is_circular=circular, unitig=0, free_ends=free)


def numbers_of(contigs):
    begins = np.cumsum([0, *(own.length for own in contigs)]).tolist()
    found = find_contained_contigs(contigs).tolist()
    assert all(end - begin == contigs[begins.index(begin)].length for begin, end in found)
    return [begins.index(begin) for begin, _ in found]


def plainly_contained(contigs):
    letters = ["".join("ACGTN"[code] for code in own.codes) for own in contigs]
    found = []
    for i, own in enumerate(contigs):
        either = letters[i], letters[i][::-1].translate(str.maketrans("ACGT", "TGCA"))
        others = [j for j, other in enumerate(contigs) if j != i and not other.is_circular]
        if any(own.free_ends) and not own.is_circular and own.length > LEAST and "N" not in letters[i]:
            found += [i] * any(
                text in letters[j] and (own.length < contigs[j].length or j < i) for text in either for j in others
            )
    return found


@given(st.data())
def test_contained_contigs_are_those_of_a_plain_search(data):
    """Contigs with parts of two texts, some reverse-complemented, some with a gap."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    texts = [random_codes(rng, 120) for _ in range(2)]
    contigs = []
    for number in data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=4)):
        low, n = data.draw(st.sampled_from([0, 20, 60])), data.draw(st.sampled_from([45, 51, 60, 120]))
        parts = [random_codes(rng, data.draw(st.sampled_from([0, 0, 20]))), texts[number][low : low + n]]
        codes = np.concatenate([*parts, random_codes(rng, data.draw(st.sampled_from([0, 0, 20])))])
        if data.draw(st.integers(0, 9)) == 9:
            codes[data.draw(st.integers(0, codes.size - 1))] = NOT_A_BASE
        codes = reverse_complement(codes) if data.draw(st.booleans()) else codes
        free = data.draw(st.sampled_from([(True, True), (True, False), (False, True), (False, False)]))
        contigs.append(contig(codes, free=free, circular=data.draw(st.integers(0, 9)) == 9))
    assert numbers_of(contigs) == plainly_contained(contigs)


def test_no_contigs_and_gaps_are_not_contained():
    assert numbers_of([]) == []
    assert numbers_of([contig(np.full(60, NOT_A_BASE, np.uint8))] * 2) == []
    assert numbers_of([contig(np.zeros(LEAST, np.uint8))] * 2) == []


@pytest.mark.parametrize(("n", "is_found"), [(50, True), (200, False)])
def test_contigs_of_very_many_copies_are_kept(rng, n, is_found):
    """Another contig, of two copies, is found in both cases."""
    many, two = random_codes(rng, 80), random_codes(rng, 80)
    contigs = [contig(own) for own in [two, *n * [many], two]]
    assert numbers_of(contigs) == [*(range(2, n + 1) if is_found else ()), n + 1]
