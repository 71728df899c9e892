"""Unspanned repeats with four sides, of which two were joined; and against a plain search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.alignment.self_alignment import find_contained_ends
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.options import rules_without
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.assembly.verification.contig_checks import check_contigs
from gpuasm.assembly.verification.unspanned_joins import find_unspanned_repeats
from gpuasm.sequence.encoding import NOT_A_BASE, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.assembly_library import READ, pairs_from, random_codes

SIDE, REPEAT, LEAST_SHARED = 3000, 700, ALIGNMENT.contained_end_min_bases
OTHERS = ("end-extension", "discordant-pairs", "redundant-ends")


def stretches_of(contigs, depth=None):
    """Return the stretches entered and left by contig ends; by default all bases have the depth of one copy."""
    depth = np.full(sum(own.length for own in contigs), 40, np.int32) if depth is None else depth
    return find_unspanned_repeats(contigs, find_contained_ends(contigs), depth, read_length=READ, spread=1.0)


def contig(codes, *, free=(True, True), depth=40.0, circular=False):
    return Contig("", codes, depth, 1, is_circular=circular, unitig=0, free_ends=free)


@pytest.fixture
def sides(rng):
    """Four sides of a repeat: before its two copies, and behind them."""
    return [random_codes(rng, SIDE) for _ in range(4)]


def pairs_over(repeat, *sides, rng):
    """Return pairs from copies of a repeat, each between two sides."""
    genomes = [np.concatenate([left, repeat, right]) for left, right in sides]
    return [text for genome in genomes for text in pairs_from(genome, fold=60, rng=rng)]


def joined_and_loose(sides, repeat, *, free=(True, True), depth=40.0):
    """Return a contig over the repeat, and the two that end in it, one of them reverse-complemented."""
    a, b, c, d = sides
    n = repeat.size * 3 // 5
    return [
        contig(np.concatenate([a, repeat, d])),
        contig(np.concatenate([b, repeat[:n]]), free=free, depth=depth),
        contig(reverse_complement(np.concatenate([repeat[-n:], c])), free=free, depth=depth),
    ]


def checked(contigs, texts, *, without=OTHERS):
    return check_contigs(contigs, Reads.from_strings(texts, paired=True), min_length=1, rules=rules_without(without))


@pytest.mark.parametrize(("n_repeat", "is_broken"), [(150, False), (300, False), (REPEAT, True), (1500, True)])
def test_join_over_an_unspanned_repeat_is_broken(rng, sides, n_repeat, is_broken):
    """The join is true, but no fragment supports it where the repeat is longer than fragments."""
    a, b, c, d = sides
    repeat = random_codes(rng, n_repeat)
    texts = pairs_over(repeat, (a, d), (b, c), rng=rng)
    found = checked(joined_and_loose(sides, repeat), texts)
    assert found.counts["unspanned_repeats"] == found.counts["joins_broken"] == int(is_broken)
    assert len(found.contigs) == 3 + is_broken
    if is_broken:
        assert sorted(own.length for own in found.contigs)[:2] == pytest.approx(2 * [SIDE + n_repeat // 2], abs=5)
        left_out = checked(joined_and_loose(sides, repeat), texts, without=("unspanned-repeats", *OTHERS))
        assert left_out.counts["joins_broken"] == 0


def test_false_join_of_two_sides_is_broken(rng, sides):
    a, b, c, d = sides
    repeat = random_codes(rng, REPEAT)
    texts = pairs_over(repeat, (a, c), (b, d), rng=rng)
    assert checked(joined_and_loose(sides, repeat), texts).counts["unspanned_repeats"] == 1


@pytest.mark.parametrize("changed", ["one end", "not free", "few reads", "reads without mates"], ids=lambda name: name)
def test_supported_join_is_kept(rng, sides, changed):
    repeat = random_codes(rng, REPEAT)
    texts = pairs_over(repeat, (sides[0], sides[3]), (sides[1], sides[2]), rng=rng)
    contigs = joined_and_loose(sides, repeat)
    match changed:
        case "one end":
            contigs = contigs[:2]
        case "not free":
            contigs = joined_and_loose(sides, repeat, free=(False, False))
        case "few reads":
            contigs = joined_and_loose(sides, repeat, depth=15.0)
    reads = Reads.from_strings(texts, paired=changed != "reads without mates")
    found = check_contigs(contigs, reads, min_length=1, rules=rules_without(OTHERS))
    assert found.counts["unspanned_repeats"] == 0


@pytest.mark.parametrize(("n_copies", "is_broken"), [(2, True), (1, False)])
def test_ends_that_do_not_overlap_need_two_copies_between_them(rng, sides, n_copies, is_broken):
    """Bases of one copy between the ends mean two short repeats, not one long one."""
    a, b, c, d = sides
    repeat, n = random_codes(rng, REPEAT), REPEAT // 3
    others = [np.concatenate([b, repeat[:n]]), np.concatenate([repeat[-n:], c])]
    genomes = [np.concatenate([a, repeat, d])]
    genomes += [np.concatenate([b, repeat, c])] if n_copies == 2 else [*others]
    texts = [text for genome in genomes for text in pairs_from(genome, fold=60, rng=rng)]
    assert checked([contig(genomes[0]), *map(contig, others)], texts).counts["unspanned_repeats"] == int(is_broken)


@pytest.mark.parametrize(
    ("between", "is_found"),
    [
        ((80, 80, 80), True),
        ((56, 80, 80), True),
        ((50, 100, 100), False),
        ((70, 40, 70), False),
        ((54, 54, 54), False),
        ((40, *8 * [400], 40), False),
    ],
)
def test_all_bases_between_the_ends_must_be_of_two_copies(rng, sides, between, is_found):
    a, b, c, d = sides
    repeat, n = random_codes(rng, REPEAT), 200
    contigs = [
        contig(np.concatenate([a, repeat, d])),
        contig(np.concatenate([b, repeat[:n]])),
        contig(np.concatenate([repeat[-n:], c])),
    ]
    depth = np.full(sum(own.length for own in contigs), 40, np.int32)
    depth[SIDE + n : SIDE + REPEAT - n] = np.repeat(np.array(between, np.int32), 3 * READ // len(between))
    assert len(stretches_of(contigs, depth)) == int(is_found)


def test_stretch_longer_than_the_rest_of_its_contig_is_kept(rng, sides):
    a, b, c, d = sides
    repeat, n = random_codes(rng, REPEAT), 200
    others = [contig(np.concatenate([b, repeat[:n]])), contig(np.concatenate([repeat[-n:], c]))]
    for rest, n_found in ((REPEAT // 2 + 5, 1), (REPEAT // 2 - 5, 0)):  # sides may begin or end alike
        contigs = [contig(np.concatenate([a[-rest:], repeat, d[:rest]])), *others]
        depth = np.full(sum(own.length for own in contigs), 40, np.int32)
        depth[rest : rest + REPEAT] = 80
        assert len(stretches_of(contigs, depth)) == n_found


def test_unspanned_repeat_near_a_contig_end_is_kept(rng, sides):
    """Where the contig continues for less than a fragment, the lack of spanning fragments is no evidence."""
    a, b, c, d = sides
    repeat = random_codes(rng, REPEAT)
    texts = [text for own in (a, b, c, d) for text in pairs_from(np.concatenate([own, repeat]), fold=60, rng=rng)]
    contigs = joined_and_loose([a, b, c, d[:200]], repeat)
    assert checked(contigs, texts).counts["unspanned_repeats"] == 0


def plain_stretches(contigs):
    """Find the same stretches by comparing every end with every place."""
    shared = {0: set(), 1: set()}
    offset, letters = 0, ["".join("ACGTN"[code] for code in own.codes) for own in contigs]
    is_reversed = [text[::-1].translate(str.maketrans("ACGTN", "TGCAN")) for text in letters]
    bounds = []
    for text in letters:
        bounds.append(offset)
        offset += len(text)
    for i, own in enumerate(contigs):
        for side, end in enumerate((letters[i], is_reversed[i])):
            if not own.free_ends[side] or own.is_circular:
                continue
            for j, other in enumerate(contigs):
                if other.is_circular or own.depth < other.depth / 2:
                    continue
                for out, text in enumerate((letters[j], is_reversed[j])):
                    for last in range(LEAST_SHARED, len(text)):
                        n = 0
                        while n < min(last, len(end)) and end[-n - 1] == text[last - n - 1] != "N":
                            n += 1
                        if LEAST_SHARED <= n < min(last, len(end)):
                            first = len(text) - last if out else last - n
                            shared[out].add((j, bounds[j] + first, bounds[j] + first + n))
    rows = {(x[1], y[2]) for x in shared[0] for y in shared[1] if x[0] == y[0] and x[1] < y[1] < x[2] < y[2]}
    return sorted(rows, key=lambda row: (row[1] - row[0], row))


@given(st.data())
def test_stretches_are_those_of_a_plain_search(data):
    """Contigs over one of two repeats, or both, or that begin or end in one; some are reverse-complemented."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    repeats = [random_codes(rng, data.draw(st.integers(90, 110))) for _ in range(2)]
    kinds = data.draw(st.lists(st.sampled_from(["over", "ends", "begins", "both"]), max_size=3))
    contigs = []
    for kind in ["over", "ends", "begins", *kinds]:
        repeat, n = repeats[data.draw(st.integers(0, 4)) // 4], data.draw(st.integers(45, 88))
        side, other = random_codes(rng, data.draw(st.integers(0, 30))), random_codes(rng, 20)
        parts = {
            "over": [other, repeat, random_codes(rng, 20)],
            "ends": [side, repeat[:n]],
            "begins": [repeat[-n:], side],
            "both": [other, repeats[0], side, reverse_complement(repeats[1]), other],
        }
        codes = np.concatenate(parts[kind])
        if data.draw(st.integers(0, 19)) == 19:
            codes[data.draw(st.integers(0, codes.size - 1))] = NOT_A_BASE
        codes = reverse_complement(codes) if data.draw(st.booleans()) else codes
        free = data.draw(st.sampled_from([(True, True), (True, True), (True, True), (True, False), (False, True)]))
        contigs.append(contig(codes, free=free, depth=data.draw(st.sampled_from([40.0, 30.0, 10.0]))))
    assert [tuple(row) for row in stretches_of(contigs).tolist()] == plain_stretches(contigs)


def test_stretches_are_found_on_either_strand(rng, sides):
    contigs = joined_and_loose(sides, random_codes(rng, REPEAT))
    is_reversed = [contig(reverse_complement(own.codes)) for own in contigs]
    size = contigs[0].length
    ((low, high),) = stretches_of(contigs).tolist()
    assert (low, high) == pytest.approx((SIDE, SIDE + REPEAT), abs=5)  # sides may begin or end alike
    assert stretches_of([is_reversed[0], *contigs[1:]]).tolist() == [[size - high, size - low]]
    assert stretches_of([contigs[0], *is_reversed[1:]]).tolist() == [[low, high]]
    assert stretches_of([contig(contigs[0].codes, circular=True), *contigs[1:]]).tolist() == []


def test_no_contigs():
    assert stretches_of([]).shape == (0, 2)
    assert stretches_of([contig(np.full(60, NOT_A_BASE, np.uint8))]).shape == (0, 2)
