"""The walk that fragments support, against a plain sum over every position of every read."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuasm.assembly.ends.fragment_choice import choose_walk, mate_on
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.parameters import ENDS, FRAGMENTS
from gpuasm.sequence.encoding import encode
from tests.repeat_graphs import random_text

LENGTH, MEAN, SD = 100, 400, 30
FLANK = 4 * LENGTH
A, B, C = (random_text(1000, seed) for seed in range(50, 53))
UNIT = C[:60]
CONTIGS = (A + UNIT, UNIT + B)
"""A contig ends with the first unit of a tandem repeat, and the other contig begins with the last."""


def inserts_of(rng, n=4000):
    return np.clip(np.round(rng.normal(MEAN, SD, n)).astype(int), LENGTH, 2 * MEAN)


DENSITY = InsertSizes.of(np.bincount(inserts_of(np.random.default_rng(0))), bases_per_pair=200).log2_density()


class Candidate(NamedTuple):
    """A walk, with the sequences of both ends, and their bases."""

    text: bytes
    ends: tuple[int, int]


def candidate(between, ends=CONTIGS):
    source, target = ends
    return Candidate(encode(source + between + target).tobytes(), (len(source), len(target)))


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
    source = len(CONTIGS[0])
    return reads_of(CONTIGS[0] + units * UNIT + CONTIGS[1], source=source, target=source + units * len(UNIT), **options)


def choose(candidates, reads, *, flank=FLANK):
    texts, ends = [each.text for each in candidates], candidates[0].ends if candidates else (0, 0)
    return choose_walk(texts, ends, reads, density=DENSITY, length=LENGTH, flank=flank)


@pytest.mark.parametrize("n", range(4))
def test_fragments_determine_the_number_of_units(n):
    """Reads contain at most two units, so none distinguishes two from three."""
    reads = reads_over(n)
    assert choose([units(i) for i in range(6)], reads) == n
    assert choose([units(i) for i in reversed(range(6))], reads[::-1]) == 5 - n


def test_reads_with_errors_count():
    rng = np.random.default_rng(4)
    reads = []
    for read, before in reads_over(2):
        codes = np.frombuffer(read, np.uint8).copy()
        codes[rng.choice(LENGTH, 4, replace=False)] ^= 1
        reads.append((codes.tobytes(), before))
    candidates = [units(i) for i in range(6)]
    assert not any(read in each.text for read, _ in reads for each in candidates)
    assert choose(candidates, reads) == 2


def test_short_units_need_many_fragments():
    unit = C[:8]
    genome = [A + n * unit + B for n in range(4)]
    candidates = [candidate(n * unit, (A, B)) for n in range(4)]
    few, many = (reads_of(genome[2], source=1000, target=1000 + 2 * len(unit), n=n) for n in (12, 400))
    assert all(any(read in each.text for read, _ in few) for each in candidates)
    inside = [(read, before) for read, before in few if all(read in each.text for each in candidates)]
    assert len(inside) >= FRAGMENTS.sample_min_fragments
    assert choose(candidates, inside) is None
    inside = [(read, before) for read, before in many if all(read in each.text for each in candidates)]
    assert choose(candidates, inside) == 2


def with_mates_at_the_source(candidates):
    """Return reads on candidates whose mates are before the source's end."""
    return [
        (read, before) for read, before in reads_over(0) if before > 0 and any(read in each.text for each in candidates)
    ]


def test_a_fragment_across_the_gap_counts_once():
    candidates = [units(0), units(4)]
    source = len(CONTIGS[0])
    both = []
    for begin in range(source - 300, source - 300 + 9):
        left, right = (
            (CONTIGS[0] + CONTIGS[1])[begin : begin + LENGTH],
            (CONTIGS[0] + CONTIGS[1])[begin + 300 : begin + 400],
        )
        both += [(encode(right).tobytes(), source - begin), (encode(left).tobytes(), source - begin - 400)]
    assert choose(candidates, both) is None
    assert choose(candidates, [*both, both[0]]) == 0


@pytest.mark.parametrize(("n", "is_chosen"), [(5, False), (15, True)])
def test_few_fragments_choose_nothing(n, is_chosen):
    candidates = [units(0), units(4)]
    placed = with_mates_at_the_source(candidates)
    assert choose(candidates, placed[:n]) == (0 if is_chosen else None)


def test_reads_on_no_walk_do_not_count():
    candidates = [units(0), units(4)]
    placed = with_mates_at_the_source(candidates)
    strange = [(encode(C[500 + i : 600 + i]).tobytes(), 200) for i in range(200)]
    assert choose(candidates, placed) == choose(candidates, placed + strange) == 0
    assert choose(candidates, placed[:9] + strange) is None


@pytest.mark.parametrize("shift", [-100, 100])
def test_ends_that_are_no_neighbours_have_no_walk(shift):
    """Fragments fit one walk far better than the other, and yet neither well."""
    reads = reads_over(0, shift=shift)
    candidates = [units(i) for i in range(2)]
    _, bits = plainly(candidates, reads)
    assert abs(bits[0] - bits[1]) > ENDS.fragment_lead_bits
    assert choose(candidates, reads) is None


def test_a_repeat_longer_than_fragments_stays_open():
    """Six units and a read next to them are longer than any fragment."""
    assert choose([units(i) for i in range(6)], reads_over(5)) is None


def test_mates_in_ambiguous_units_do_not_count():
    """The source ends in two units that contain a read, so mates of the third and fourth align there too."""
    ends = (A + 2 * UNIT, UNIT + B)
    genome, source = A + 4 * UNIT + B, len(A) + 2 * len(UNIT)
    candidates = [candidate(n * UNIT, ends) for n in range(4)]
    right = reads_of(genome, source=source, target=source + len(UNIT))
    places = range(source - 110 + len(UNIT), source - 100 + len(UNIT))
    wrong = [(encode(genome[at + MEAN - LENGTH : at + MEAN]).tobytes(), 110) for at in [*places] * 5]
    assert all(read in each.text for read, _ in wrong for each in candidates)
    assert choose(candidates, right) == choose(candidates, right + wrong) == 1
    # If they counted, they would show fragments of another length.
    moved = [(read, before + 30) for read, before in wrong]
    assert choose(candidates, right + moved) != 1


def near(candidates, side):
    """Return the distance from which all mates of one side occur once on each candidate."""
    before = DENSITY.size
    while before and all(once(each, side * before) for each in candidates):
        before -= 1
    return before + 1


def once(each, before):
    return each.text.count(mate_on(*each, before, LENGTH)) == 1


def differences(text, read):
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(text, np.uint8), len(read))
    return (windows != np.frombuffer(read, np.uint8)).sum(axis=1)


def plainly(candidates, reads, *, flank=FLANK):
    """Return the number of fragments used, and their log2-likelihood on each candidate relative to the likeliest.

    Each is conditional on the lengths that count: those that end within the flank behind the target or, for a mate
    behind the target, those too short to reach a mate that counts from the source.
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
        for i, (text, (source_end, n_target)) in enumerate(candidates):
            target_start = len(text) - n_target
            if before > 0:
                begin, last = source_end - before, target_start + flank
                possible = range(1, last - begin + 1)
            else:
                end, first = target_start - before, source_end - source_near + 1
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
@given(n=st.integers(0, 3), seed=st.integers(0, 1000), few=st.integers(5, 20), flank=st.sampled_from([150, 400]))
@example(n=2, seed=1, few=20, flank=400)
@example(n=3, seed=3, few=6, flank=150)
def test_likelihoods_equal_the_plain_sum(n, seed, few, flank):
    candidates = [units(i) for i in range(4)]
    reads = reads_over(n, seed=seed, n=few)
    n_used, bits = plainly(candidates, reads, flank=flank)
    best = max(range(4), key=lambda i: bits[i])
    runner_up = max(bits[i] for i in range(4) if i != best)
    likely = 2.0 ** (DENSITY / 256)
    mean = float((likely * DENSITY).sum() / likely.sum()) / 256
    certain = n_used >= 10 and bits[best] - runner_up >= 6 and bits[best] >= n_used * (mean - 0.5)
    assert choose(candidates, reads, flank=flank) == (best if certain else None)


def test_without_walks_or_mates_nothing_is_chosen():
    assert choose([], reads_over(0)) is None
    assert choose([units(0), units(1)], []) is None
    assert choose([units(0), units(1)], [(read, 0) for read, _ in reads_over(0)]) is None


def test_mates_beyond_the_text_do_not_count():
    short = (A[-20:], B[:20])
    candidates = [candidate("", short), candidate(C[:100], short)]
    assert choose(candidates, [(encode(B[:20]).tobytes(), 300)] * 20) is None
