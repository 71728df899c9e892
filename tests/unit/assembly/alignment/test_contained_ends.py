"""Contig ends that contigs contain, against a plain search of every place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.alignment.self_alignment import LEFT, RIGHT, ContainedEnd, find_contained_ends
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.sequence.encoding import NOT_A_BASE, reverse_complement
from tests.assembly_library import random_codes

LEAST_SHARED = ALIGNMENT.contained_end_min_bases


def contig(codes, *, free=(True, True), circular=False):
    return Contig("", codes, 40.0, 1, is_circular=circular, unitig=0, free_ends=free)


def plain_places(contigs):
    letters = ["".join("ACGTN"[code] for code in own.codes) for own in contigs]
    is_reversed = [text[::-1].translate(str.maketrans("ACGTN", "TGCAN")) for text in letters]
    bounds = np.cumsum([0, *map(len, letters)]).tolist()
    found = set()
    for i, own in enumerate(contigs):
        for side, end in ((RIGHT, letters[i]), (LEFT, is_reversed[i])):
            if not own.free_ends[side] or own.is_circular:
                continue
            for j, other in enumerate(contigs):
                for out, text in enumerate((letters[j], is_reversed[j])):
                    for last in range(LEAST_SHARED, len(text) + 1):
                        n = 0
                        while n < min(last, len(end)) and end[-n - 1] == text[last - n - 1] != "N":
                            n += 1
                        is_itself = i == j and last == len(text) and out == side
                        if n >= LEAST_SHARED and not is_itself and not other.is_circular and len(end) > LEAST_SHARED:
                            first = bounds[j] + (len(text) - last if out else last - n)
                            found.add(ContainedEnd(i, side, j, first, first + n, bool(out)))
    return found


@given(st.data())
def test_contained_ends_are_those_of_a_plain_search(data):
    """Contigs with parts of two texts, some reverse-complemented, some with a gap."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    texts = [random_codes(rng, 120) for _ in range(2)]
    contigs = []
    for number in data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=4)):
        low, n = data.draw(st.integers(0, 60)), data.draw(st.integers(45, 120))
        parts = [random_codes(rng, data.draw(st.sampled_from([0, 20]))), texts[number][low : low + n]]
        codes = np.concatenate([*parts, random_codes(rng, data.draw(st.sampled_from([0, 20])))])
        if data.draw(st.integers(0, 9)) == 9:
            codes[data.draw(st.integers(0, codes.size - 1))] = NOT_A_BASE
        codes = reverse_complement(codes) if data.draw(st.booleans()) else codes
        free = data.draw(st.sampled_from([(True, True), (True, True), (True, False), (False, True)]))
        contigs.append(contig(codes, free=free, circular=data.draw(st.integers(0, 9)) == 9))
    found = find_contained_ends(contigs)
    assert len(found) == len(set(found))
    assert set(found) == plain_places(contigs)


def test_end_contained_in_its_own_contig_is_found_on_both_strands(rng):
    end, sides = random_codes(rng, 80), [random_codes(rng, 300) for _ in range(3)]
    own = np.concatenate([sides[0], end, sides[1], reverse_complement(end), sides[2], end])
    low, is_reversed = 300, 300 + 80 + 300
    expected = [(low, low + 80, False), (is_reversed, is_reversed + 80, True)]
    assert [
        (p.begin, p.end, p.leaves_rightwards) for p in find_contained_ends([contig(own)]) if p.side == RIGHT
    ] == expected


def test_no_contigs_and_short_contigs_have_no_contained_ends():
    assert find_contained_ends([]) == []
    assert find_contained_ends([contig(np.full(60, NOT_A_BASE, np.uint8))]) == []
    assert find_contained_ends([contig(np.zeros(LEAST_SHARED, np.uint8))]) == []


@pytest.mark.parametrize(("n", "is_found"), [(50, True), (200, False)])
def test_end_of_very_many_copies_is_ignored(rng, n, is_found):
    """Another end, of two copies, is found in both cases."""
    many, two = random_codes(rng, 80), random_codes(rng, 80)
    contigs = [contig(np.concatenate([random_codes(rng, 60), many]), free=(True, False)) for _ in range(n)]
    contigs += [contig(np.concatenate([random_codes(rng, 60), two]), free=(True, False)) for _ in range(2)]
    owners = {place.owner for place in find_contained_ends(contigs)}
    assert owners == ({*range(n + 2)} if is_found else {n, n + 1})
