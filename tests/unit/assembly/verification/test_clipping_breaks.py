"""Read-clipping breakpoints that nothing covers: against a plain search, and in planted false joins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.assembly.alignment.contig_alignment import align_reads
from gpuasm.assembly.alignment.seed_index import Targets, index_seeds
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.options import rules_without
from gpuasm.assembly.verification.contig_checks import check_contigs
from gpuasm.assembly.verification.read_evidence import ClippingBreakpoints, spaced_apart
from gpuasm.sequence.encoding import decode, encode, reverse_complement, unpack
from gpuasm.sequence.reads import Reads


def random_codes(rng, length):
    return rng.integers(0, 4, length).astype(np.uint8)


@pytest.fixture
def places(rng):
    """A and B, and the true sequence after A and before B, 1,000 bases each."""
    found = {name: random_codes(rng, 1000) for name in ("a", "after_a", "before_b", "b")}
    found["after_a"][0], found["before_b"][-1] = 3 - found["b"][0], 3 - found["a"][-1]
    return found


def low_coverage_reads(places, shared, *, clipped, others=()):
    """Return reads that end within the shared bases of A and B, clipped reads, and others, and the joined contig."""
    join = np.concatenate([places["a"], shared, places["b"]])
    first, last = places["a"].size, places["a"].size + shared.size
    starts = [*range(0, first - 149, 15), first - 150 + shared.size // 2]
    starts += [first + shared.size // 2, *range(last, join.size - 149, 15)]
    texts = [decode(join[start : start + 150]) for start in starts]
    around = {
        "right": np.concatenate([places["a"][shared.size - 110 :], shared, places["after_a"][:40]]),
        "left": np.concatenate([places["before_b"][-40:], shared, places["b"][: 110 - shared.size]]),
    }
    texts += [decode(reverse_complement(around[side])) for side in clipped]
    texts += [
        decode(join[start : start + 150]) for start in range(600) for _ in range(2)
    ]  # so that few of all reads are clipped
    return Reads.from_strings([*texts, *others]), Contig("", join, 4.0, 1, is_circular=False, unitig=0)


@pytest.mark.parametrize(
    ("n_shared", "clipped", "is_broken"),
    [
        (25, ("right",), True),
        (25, ("left",), True),
        (25, ("right", "left"), True),
        (25, (), False),
        (60, ("right",), False),
        (60, ("right", "left"), True),
    ],
)
def test_false_join_over_shared_bases_is_broken(rng, places, n_shared, clipped, is_broken):
    """One clipped read suffices for few shared bases; for more, reads may be missing, and two are needed."""
    shared = random_codes(rng, n_shared)
    reads, joined = low_coverage_reads(places, shared, clipped=clipped)
    checked = check_contigs([joined], reads, min_length=1, rules=rules_without(("end-extension",)))
    assert checked.counts["joins_broken"] == int(is_broken)
    left_out = check_contigs([joined], reads, min_length=1, rules=rules_without(("breaks",)))
    assert left_out.counts["joins_broken"] == 0
    if is_broken:
        lengths = sorted(contig.length for contig in checked.contigs)
        assert sum(lengths) == joined.length
        assert 1000 <= lengths[0] <= 1000 + n_shared


@pytest.mark.parametrize("n_shared", [25, 60])
def test_join_covered_by_one_read_is_kept(rng, places, n_shared):
    shared = random_codes(rng, n_shared)
    through = decode(np.concatenate([places["a"][-40:], shared, places["b"][:40]]))
    reads, joined = low_coverage_reads(places, shared, clipped=("right", "left"), others=[through])
    assert check_contigs([joined], reads, min_length=1).counts["joins_broken"] == 0


def test_join_covered_by_a_fragment_is_kept(rng, places):
    shared = random_codes(rng, 60)
    reads, joined = low_coverage_reads(places, shared, clipped=("right", "left"))
    texts = [decode(joined.codes[800:950]), decode(reverse_complement(joined.codes[1080:1230]))] * 40
    pairs = [text for start in range(0, 500, 5) for text in mates(joined.codes, start)]
    texts = [*pairs, *texts, *[decode(joined.codes[i : i + 150]) for i in (100, 200)]]
    alone = texts_of(reads)
    both = Reads.from_strings([*texts, *alone, *(alone[-1:] if len(alone) % 2 else [])], paired=True)
    assert check_contigs([joined], both, min_length=1).counts["joins_broken"] == 0
    assert check_contigs([joined], replace(both, paired=False), min_length=1).counts["joins_broken"] == 1


def mates(codes, start, insert=430):
    fragment = codes[start : start + insert]
    return decode(fragment[:150]), decode(reverse_complement(fragment[-150:]))


def texts_of(reads):
    return [decode(unpack(reads.packed, int(s), int(n))) for s, n in zip(reads.start, reads.length, strict=True)]


@pytest.mark.parametrize(("n_reads", "is_found"), [(100, False), (400, True)])
def test_library_with_many_clipped_reads_has_no_breaks(n_reads, is_found):
    """Of an amplified library with chimeric molecules, two in five reads are clipped."""
    place = np.array([500], np.int64)
    found = ClippingBreakpoints([place], [place + 100], n_reads=n_reads)
    assert found.unsupported(targets_of([np.zeros(2000, np.uint8)])).tolist() == ([500, 600] if is_found else [])


def test_errors_at_the_end_of_a_read_are_no_breakpoint(rng):
    genome = random_codes(rng, 2000)
    text = decode(genome[500:650])
    wrong = text[:135] + decode(3 - encode(text[135:]))
    reads = Reads.from_strings([decode(genome[i : i + 150]) for i in range(0, 500, 50)] + [wrong])
    assert (
        check_contigs([Contig("", genome, 3.0, 1, is_circular=False, unitig=0)], reads, min_length=1).counts[
            "joins_broken"
        ]
        == 0
    )


@pytest.mark.parametrize("end", [12, 30])
def test_few_clipped_bases_are_no_breakpoint(rng, end):
    """A read may differ in few bases by its errors, or because the contig ends."""
    genome, other = random_codes(rng, 2000), random_codes(rng, 150)
    other[99] = 3 - genome[499 + end]
    text = decode(np.concatenate([other[:100], genome[500 + end : 550 + end]]))
    reads = Reads.from_strings([text, *[decode(genome[i : i + 150]) for i in range(550, 1500, 50)]])
    contig = Contig("", genome[500:], 3.0, 1, is_circular=False, unitig=0)
    found = replace(breakpoints(reads, [contig.codes]), n_reads=100).unsupported(targets_of([contig.codes]))
    assert found.tolist() == ([] if end == 12 else [end])


@given(gaps=st.lists(st.integers(1, 100), max_size=20), read_length=st.integers(0, 150))
def test_breaks_are_a_read_length_apart(gaps, read_length):
    place = np.cumsum(np.array(gaps, np.int64))
    expected: list[int] = []
    for own in place.tolist():
        if all(abs(own - other) >= 20 + read_length for other in expected):
            expected.append(own)
    assert spaced_apart(place, read_length=read_length).tolist() == expected


def targets_of(codes, xp=np):
    return Targets.of(codes, [False] * len(codes), reach=150, xp=xp)


def breakpoints(reads, codes, xp=np):
    targets = targets_of(codes, xp)
    first, second = align_reads(reads.moved_to(xp), targets, index_seeds(targets, 150))
    found = ClippingBreakpoints()
    for aligned in (first, second):
        found.add(reads.moved_to(xp), aligned, targets)
        found.covered.append((aligned.begin, aligned.end))
    return found


@given(data=st.data())
def test_uncovered_breakpoints_are_those_of_a_plain_search(data):
    """Random breakpoints and covered stretches on three targets of 300 bases, 1,000 from each other."""
    spots = st.tuples(st.integers(0, 2), st.integers(0, 300)).map(lambda at: 1000 * at[0] + at[1])
    right, left = (sorted(data.draw(st.sets(spots, max_size=8))) for _ in range(2))
    stretches = data.draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 250), st.integers(1, 200)), max_size=12))
    begin = np.array([1000 * t + at for t, at, _ in stretches], np.int64)
    end = np.array([1000 * t + min(300, at + n) for t, at, n in stretches], np.int64)
    targets = replace(
        targets_of([np.zeros(300, np.uint8)] * 3),
        start=np.array([0, 1000, 2000, 3000]),
        size=np.full(3, 300),
        offset=np.array([0, 300, 600]),
    )
    half = len(stretches) // 2
    found = ClippingBreakpoints([np.array(right, np.int64)], [np.array(left, np.int64)], n_reads=2000)
    found.covered.append((begin[:half], end[:half]))
    found.covered.append((begin[half:], end[half:]))
    windows = [(p, p - 30, p + 10) for p in right] + [(p, p - 10, p + 30) for p in left]
    windows += [(p, min(p, q) - 5, max(p, q) + 5) for p in right for q in left if abs(p - q) <= 200]
    expected = set()
    for place, low, high in windows:
        first = place // 1000 * 1000
        covered = any(b <= low and high <= e for b, e in zip(begin.tolist(), end.tolist(), strict=True))
        if first <= low and high <= first + 300 and not covered:
            expected.add(place // 1000 * 300 + place % 1000)
    assert found.unsupported(targets).tolist() == sorted(expected)


def test_same_result_on_every_device(rng, places, xp):
    shared = random_codes(rng, 25)
    reads, joined = low_coverage_reads(places, shared, clipped=("right", "left"))
    host, other = (breakpoints(reads, [joined.codes], space) for space in (np, xp))
    for name in ("rightwards", "leftwards", "covered"):
        for a, b in zip(getattr(host, name), getattr(other, name), strict=True):
            assert all(np.array_equal(one, to_host(its)) for one, its in zip(a, b, strict=True))
    assert host.unsupported(targets_of([joined.codes])).tolist() == [1000, 1025]
