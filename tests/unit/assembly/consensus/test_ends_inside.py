"""Where ends of contigs stand within contigs, against a plain search of every place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.consensus.ends_inside import LEAST_SHARED, LEFT, MOST_PLACES, RIGHT, Inside, ends_inside
from gpuasm.assembly.contigs import Contig
from gpuasm.sequence.encoding import NOT_A_BASE, reverse_complement
from tests.unit.assembly.consensus.library import random_codes


def contig(codes, *, free=(True, True), circular=False):
    return Contig("", codes, 40.0, 1, is_circular=circular, unitig=0, free_ends=free)


def plain_places(contigs):
    letters = ["".join("ACGTN"[code] for code in own.codes) for own in contigs]
    turned = [text[::-1].translate(str.maketrans("ACGTN", "TGCAN")) for text in letters]
    bounds = np.cumsum([0, *map(len, letters)]).tolist()
    found = set()
    for i, own in enumerate(contigs):
        for side, end in ((RIGHT, letters[i]), (LEFT, turned[i])):
            if not own.free_ends[side] or own.is_circular:
                continue
            for j, other in enumerate(contigs):
                for out, text in enumerate((letters[j], turned[j])):
                    for last in range(LEAST_SHARED, len(text) + 1):
                        n = 0
                        while n < min(last, len(end)) and end[-n - 1] == text[last - n - 1] != "N":
                            n += 1
                        is_itself = i == j and last == len(text) and out == side
                        if n >= LEAST_SHARED and not is_itself and not other.is_circular and len(end) > LEAST_SHARED:
                            first = bounds[j] + (len(text) - last if out else last - n)
                            found.add(Inside(i, side, j, first, first + n, bool(out)))
    return found


@given(st.data())
def test_places_are_those_of_a_plain_search(data):
    """Contigs of parts of two texts, some turned round, some with a gap."""
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
    found = ends_inside(contigs)
    assert len(found) == len(set(found))
    assert set(found) == plain_places(contigs)


def test_an_end_in_its_own_contig_and_its_copy_on_the_other_strand_are_told(rng):
    end, sides = random_codes(rng, 80), [random_codes(rng, 300) for _ in range(3)]
    own = np.concatenate([sides[0], end, sides[1], reverse_complement(end), sides[2], end])
    low, turned = 300, 300 + 80 + 300
    expected = [(low, low + 80, False), (turned, turned + 80, True)]
    assert [(p.begin, p.end, p.goes_out) for p in ends_inside([contig(own)]) if p.side == RIGHT] == expected


def test_no_contigs_have_no_ends():
    assert ends_inside([]) == []
    assert ends_inside([contig(np.full(60, NOT_A_BASE, np.uint8))]) == []
    assert ends_inside([contig(np.zeros(LEAST_SHARED, np.uint8))]) == []


@pytest.mark.parametrize(("n", "is_told"), [(MOST_PLACES, True), (MOST_PLACES + 1, False)])
def test_an_end_of_very_many_copies_tells_nothing(rng, n, is_told):
    """Beside another end, of two copies, which is told as ever."""
    many, two = random_codes(rng, 80), random_codes(rng, 80)
    contigs = [contig(np.concatenate([random_codes(rng, 60), many]), free=(True, False)) for _ in range(n)]
    contigs += [contig(np.concatenate([random_codes(rng, 60), two]), free=(True, False)) for _ in range(2)]
    owners = {place.owner for place in ends_inside(contigs)}
    assert owners == ({*range(n + 2)} if is_told else {n, n + 1})
