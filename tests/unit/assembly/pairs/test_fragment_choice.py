"""The walk that fragments tell from all others, against a plain sum over every place of every read."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.pairs import fragment_choice
from gpuasm.assembly.pairs.fragment_choice import Candidate, choose_walk
from gpuasm.sequence.encoding import encode
from tests.unit.assembly.pairs.test_resolving import random_text

LENGTH, MEAN, SD = 100, 400, 30
BESIDE = 4 * LENGTH
A, B, C = (random_text(1000, seed) for seed in range(50, 53))
UNIT = C[:60]
ENDS = (A + UNIT, UNIT + B)
"""A contig holds the first unit of a tandem repeat, and the other contig the last."""


def inserts_of(rng, n=4000):
    return np.clip(np.round(rng.normal(MEAN, SD, n)).astype(int), LENGTH, 2 * MEAN)


DENSITY = InsertSizes.of(np.bincount(inserts_of(np.random.default_rng(0))), bases_per_pair=200).log2_density()


def candidate(between, ends=ENDS):
    source, target = ends
    text = encode(source + between + target).tobytes()
    return Candidate(text, len(source), len(source) + len(between))


def units(n):
    return candidate(n * UNIT)


def reads_of(genome, *, source, target, n=30, seed=1, shift=0):
    """Return reads whose mates begin before ``source`` and face them, and those with mates behind ``target``."""
    rng = np.random.default_rng(seed)
    found = []
    for insert in inserts_of(rng, n).tolist():
        begin = int(rng.integers(source - insert + LENGTH // 2, source - LENGTH))
        found.append((encode(genome[begin + insert - LENGTH : begin + insert]).tobytes(), source - begin + shift))
        end = int(rng.integers(target + LENGTH, target + insert - LENGTH // 2))
        found.append((encode(genome[end - insert : end - insert + LENGTH]).tobytes(), target - end - shift))
    return found


def reads_over(units, **options):
    """Return the reads of a genome with n units between its ends."""
    source = len(ENDS[0])
    return reads_of(ENDS[0] + units * UNIT + ENDS[1], source=source, target=source + units * len(UNIT), **options)


def choose(candidates, reads, *, beside=BESIDE):
    return choose_walk(candidates, reads, density=DENSITY, length=LENGTH, beside=beside)


@pytest.mark.parametrize("n", range(4))
def test_fragments_tell_how_many_units_there_are(n):
    """Reads hold two units at most, so that none tells two from three."""
    reads = reads_over(n)
    assert choose([units(i) for i in range(6)], reads) == n
    assert choose([units(i) for i in reversed(range(6))], reads[::-1]) == 5 - n


def test_reads_with_errors_have_a_say():
    rng = np.random.default_rng(4)
    reads = []
    for read, before in reads_over(2):
        codes = np.frombuffer(read, np.uint8).copy()
        codes[rng.choice(LENGTH, 4, replace=False)] ^= 1
        reads.append((codes.tobytes(), before))
    candidates = [units(i) for i in range(6)]
    assert not any(read in each.text for read, _ in reads for each in candidates)
    assert choose(candidates, reads) == 2


def test_units_that_differ_by_less_than_fragments_tell():
    unit = C[:8]
    genome = [A + n * unit + B for n in range(4)]
    candidates = [candidate(n * unit, (A, B)) for n in range(4)]
    few, many = (reads_of(genome[2], source=1000, target=1000 + 2 * len(unit), n=n) for n in (12, 400))
    told = [any(read[0] in each.text for read in few) for each in candidates]
    assert all(told)
    inside = [(read, before) for read, before in few if all(read in each.text for each in candidates)]
    assert len(inside) >= fragment_choice.LEAST_FRAGMENTS
    assert choose(candidates, inside) is None
    inside = [(read, before) for read, before in many if all(read in each.text for each in candidates)]
    assert choose(candidates, inside) == 2


def told_from_the_source(candidates):
    """Return reads that lie on candidates and whose mates stand before the source's end."""
    return [
        (read, before) for read, before in reads_over(0) if before > 0 and any(read in each.text for each in candidates)
    ]


def test_a_fragment_from_one_side_to_the_other_is_asked_once():
    candidates = [units(0), units(4)]
    source = len(ENDS[0])
    both = []
    for begin in range(source - 300, source - 300 + 9):
        left, right = (ENDS[0] + ENDS[1])[begin : begin + LENGTH], (ENDS[0] + ENDS[1])[begin + 300 : begin + 400]
        both += [(encode(right).tobytes(), source - begin), (encode(left).tobytes(), source - begin - 400)]
    assert choose(candidates, both) is None
    assert choose(candidates, [*both, both[0]]) == 0


@pytest.mark.parametrize(("n", "is_told"), [(9, False), (10, True)])
def test_ten_fragments_at_least(n, is_told):
    candidates = [units(0), units(4)]
    placed = told_from_the_source(candidates)
    assert choose(candidates, placed[:n]) == (0 if is_told else None)


def test_what_lies_on_no_walk_says_nothing():
    candidates = [units(0), units(4)]
    placed = told_from_the_source(candidates)
    strange = [(encode(C[500 + i : 600 + i]).tobytes(), 200) for i in range(200)]
    assert choose(candidates, placed) == choose(candidates, placed + strange) == 0
    assert choose(candidates, placed[:9] + strange) is None


@pytest.mark.parametrize("shift", [-100, 100])
def test_ends_that_are_no_neighbours(shift):
    """Fragments go with one walk far better than with the other, and yet with neither."""
    reads = reads_over(0, shift=shift)
    candidates = [units(i) for i in range(2)]
    _, bits = plainly(candidates, reads)
    assert abs(bits[0] - bits[1]) > fragment_choice.LEAST_BITS
    assert choose(candidates, reads) is None


def test_what_no_fragment_spans_is_not_told():
    """Of six units and a read beside them fragments have more bases than any."""
    assert choose([units(i) for i in range(6)], reads_over(5)) is None


def test_mates_of_another_unit_are_not_asked():
    """The source ends in two units that hold a read, so that those of the third and fourth stand there too."""
    ends = (A + 2 * UNIT, UNIT + B)
    genome, source = A + 4 * UNIT + B, len(A) + 2 * len(UNIT)
    candidates = [candidate(n * UNIT, ends) for n in range(4)]
    right = reads_of(genome, source=source, target=source + len(UNIT))
    places = range(source - 110 + len(UNIT), source - 100 + len(UNIT))
    wrong = [(encode(genome[at + MEAN - LENGTH : at + MEAN]).tobytes(), 110) for at in [*places] * 5]
    assert all(read in each.text for read, _ in wrong for each in candidates)
    assert choose(candidates, right) == choose(candidates, right + wrong) == 1
    # Were they asked, they would tell of a fragment of another length.
    moved = [(read, before + 30) for read, before in wrong]
    assert choose(candidates, right + moved) != 1


def near(candidates, side):
    """Return from where on all mates of one side stand once on each candidate."""
    before = DENSITY.size
    while before and all(once(each, side * before) for each in candidates):
        before -= 1
    return before + 1


def once(each, before):
    own = each.mate(before, LENGTH)
    return each.text.count(own) == 1


def differences(text, read):
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(text, np.uint8), len(read))
    return (windows != np.frombuffer(read, np.uint8)).sum(axis=1)


def plainly(candidates, reads, *, beside=BESIDE):
    """Return how many fragments tell, and log2 of how likely each candidate makes them, beside the likeliest length.

    Each is one of those that would be asked: of all lengths that end no farther behind the target than reads are
    looked for, or, where it is known from the target, of those too short to reach a mate that is known from the source.
    """
    density = [2.0 ** (value / 256) for value in DENSITY.tolist()]
    rows, source_near, target_near = [], near(candidates, 1), near(candidates, -1)
    for read, before in reads:
        if not (before >= source_near or -before >= target_near):
            continue
        distance = {
            (i, at): int(differing)
            for i, each in enumerate(candidates)
            for at, differing in enumerate(differences(each.text, read))
        }
        least = min(distance.values())
        row = []
        for i, each in enumerate(candidates):
            if before > 0:
                begin, last = each.source_end - before, each.target_start + beside
                possible = range(1, last - begin + 1)
            else:
                end, first = each.target_start - before, each.source_end - source_near + 1
                possible = range(1, end - first + 1)
            lengths = [
                at + len(read) - begin if before > 0 else end - at
                for (j, at), differing in distance.items()
                if j == i and differing == least <= len(read) // 25
            ]
            all_of_them = sum(density[n] for n in possible if n < len(density)) + density[0]
            row.append(sum(density[n] for n in lengths if n in possible and n < len(density)) / all_of_them)
        if any(row):
            rows.append([value * sum(density) for value in row])
    floor = min(density)
    return len(rows), [sum(math.log2(max(floor, row[i])) for row in rows) for i in range(len(candidates))]


@settings(max_examples=10, deadline=None)
@given(n=st.integers(0, 3), seed=st.integers(0, 1000), few=st.integers(5, 20), beside=st.sampled_from([150, 400]))
@example(n=2, seed=1, few=20, beside=400)
@example(n=3, seed=3, few=6, beside=150)
def test_as_the_plain_sum(n, seed, few, beside):
    candidates = [units(i) for i in range(4)]
    reads = reads_over(n, seed=seed, n=few)
    told, bits = plainly(candidates, reads, beside=beside)
    best = max(range(4), key=lambda i: bits[i])
    runner_up = max(bits[i] for i in range(4) if i != best)
    likely = 2.0 ** (DENSITY / 256)
    mean = float((likely * DENSITY).sum() / likely.sum()) / 256
    certain = told >= 10 and bits[best] - runner_up >= 6 and bits[best] >= told * (mean - 0.5)
    assert choose(candidates, reads, beside=beside) == (best if certain else None)


def test_no_walks_and_no_mates():
    assert choose([], reads_over(0)) is None
    assert choose([units(0), units(1)], []) is None
    assert choose([units(0), units(1)], [(read, 0) for read, _ in reads_over(0)]) is None


def test_mates_beyond_the_text_say_nothing():
    short = (A[-20:], B[:20])
    candidates = [candidate("", short), candidate(C[:100], short)]
    assert choose(candidates, [(encode(B[:20]).tobytes(), 300)] * 20) is None
