"""Contigs extended by clipped tails: the consensus against plain Python, and ends that must not be extended."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly import assemble
from gpuasm.assembly.contig import Contig, bounds_of
from gpuasm.assembly.ends.clipped_tails import ClippedTails, vote
from gpuasm.assembly.verification.contig_checks import check_contigs
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.samples import simulated_genome, simulated_pairs, simulated_texts

BOTH = (True, True)


def contig(codes, *, free=BOTH, circular=False):
    return Contig("", np.asarray(codes, np.uint8), 1.0, 1, circular, 0, free)


def flipped(text):
    return decode(reverse_complement(encode(text)))


@pytest.fixture(scope="module")
def genome():
    return simulated_genome(length=6000, seed=5)


@pytest.fixture(scope="module")
def texts(genome):
    return simulated_texts(genome, fold=40, length=100, error_rate=0.002)


def check(contigs, texts, *, paired=False):
    return check_contigs(contigs, Reads.from_strings(texts, paired=paired), min_length=1)


def voted(tails, n_single):
    """Vote in plain Python."""
    found, strikes, singles = "", Counter(), 0
    while True:
        j = len(found)
        voters = [i for i, text in enumerate(tails) if len(text) > j and strikes[i] <= 1 + j // 12]
        votes = Counter(tails[i][j] for i in voters)
        if not votes:
            return found
        base = max("ACGT", key=lambda letter: votes[letter])
        if votes[base] < 2 or 5 * votes[base] < 4 * len(voters):
            if len(voters) != 1 or singles == n_single or strikes[voters[0]]:
                return found
            singles += 1
        found += base
        for i, text in enumerate(tails):
            strikes[i] += len(text) > j and text[j] != base


@st.composite
def tails_of_ends(draw):
    ends = draw(st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True))
    rows = []
    for end in ends:
        true = draw(st.text("ACGT", min_size=40, max_size=40))
        for _ in range(draw(st.integers(1, 6))):
            text = list(true[: draw(st.integers(1, 40))])
            for place in draw(st.lists(st.integers(0, 39), max_size=3)):
                text[place % len(text)] = draw(st.sampled_from("ACGT"))
            rows.append((end, "".join(text)))
    return draw(st.permutations(rows))


@settings(max_examples=200, deadline=None)
@given(tails_of_ends(), st.integers(0, 30))
def test_votes_equal_those_of_plain_python(rows, n_single):
    end, length = (np.array(values, np.int64) for values in ([e for e, _ in rows], [len(t) for _, t in rows]))
    found = vote(ClippedTails(end, length, length, encode("".join(t for _, t in rows))), n_single=n_single)
    expected = {e: voted([t for own, t in rows if own == e], n_single) for e in sorted(set(end.tolist()))}
    consensus = dict(zip(found.end.tolist(), map(decode, found.codes), strict=True))
    assert consensus == {e: text for e, text in expected.items() if text}
    assert [own.size for own in found.codes] == [own.size for own in found.depth]


@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_linear_contig_is_extended_to_its_last_reads(genome, texts, is_reversed):
    short = genome[8:-9]
    checked = check([contig(reverse_complement(short) if is_reversed else short)], texts)
    (found,) = checked.contigs
    right, left = found.extended[::-1] if is_reversed else found.extended
    assert 0 < left <= 8
    assert 0 < right <= 9
    own = reverse_complement(found.codes) if is_reversed else found.codes
    np.testing.assert_array_equal(own, genome[8 - left : genome.size - 9 + right])
    assert checked.counts["bases_added"] == left + right == found.length - short.size
    assert checked.depth.size == found.length == checked.bounds[-1]
    assert checked.depth[0] >= 1 <= checked.depth[-1]


def test_several_contigs_keep_their_own_depth(genome, texts):
    other, whole = simulated_genome(length=5000, seed=9), simulated_genome(length=4000, seed=10)
    more = [read for own in (other, whole) for read in simulated_texts(own, fold=20, length=100, error_rate=0.0)]
    contigs = [contig(genome[8:-9]), contig(other[5:-6]), contig(whole[5:-6], free=(False, False))]
    checked = check(contigs, texts + more)
    assert [c.length for c in checked.contigs] == np.diff(bounds_of(checked.contigs)).tolist()
    for number, depth, is_extended in ((0, 40, True), (1, 20, True), (2, 20, False)):
        first, last = checked.bounds[number : number + 2]
        assert checked.depth[first:last].mean() == pytest.approx(depth, rel=0.05)
        assert any(checked.contigs[number].extended) == is_extended


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_order_and_strand_of_reads_do_not_matter(genome, texts, seed):
    rng = np.random.default_rng(seed)
    mixed = [flipped(texts[i]) if rng.random() < 0.5 else texts[i] for i in rng.permutation(len(texts))]
    contigs = [contig(genome[20:2950]), contig(genome[3050:-12])]
    one, other = check(contigs, texts), check(contigs, mixed)
    assert [c.sequence for c in one.contigs] == [c.sequence for c in other.contigs]
    np.testing.assert_array_equal(one.depth, other.depth)


def test_ends_that_are_not_free_are_not_extended(genome, texts):
    for free in ((False, False), (True, False), (False, True)):
        (found,) = check([contig(genome[8:-9], free=free)], texts).contigs
        assert tuple(n > 0 for n in found.extended) == free


def test_a_circular_contig_is_not_extended(genome):
    texts = simulated_texts(genome, fold=40, length=100, circular=True)
    checked = check([contig(genome, circular=True)], texts)
    assert checked.counts["bases_added"] == 0
    np.testing.assert_array_equal(checked.contigs[0].codes, genome)


def test_ends_at_full_depth_are_not_extended(genome, texts):
    """Where as many reads continue as elsewhere, low depth did not end the contig."""
    checked = check([contig(genome[8:3000]), contig(genome[3040:-9])], texts)
    assert min(c.extended for c in checked.contigs)[0] == 0
    assert checked.counts["bases_added"] < 18


def test_neighbours_share_nothing_when_both_are_extended(genome):
    starts = np.r_[np.arange(0, 2900, 4), 2911, 2917, 2960, 2972, np.arange(3060, 5900, 4)]
    texts = [decode(genome[s : s + 100]) for s in starts]
    contigs = [contig(genome[:3000]), contig(genome[3060:])]
    checked = check(contigs, texts)
    assert checked.counts["bases_added"] > 0
    text = decode(genome)
    places = sorted((text.index(c.sequence), text.index(c.sequence) + c.length) for c in checked.contigs)
    assert places[0][1] <= places[1][0]


def test_disagreeing_reads_add_nothing(genome):
    texts = [decode(genome[s : s + 100]) for s in range(0, 5900, 5)]
    tail = decode(genome[-60:])
    two_branches = ["ACGTTGCA" * 4, "TTGACCAG" * 4]
    texts += [tail + branch for branch in two_branches for _ in range(3)]
    assert check([contig(genome)], texts).counts["bases_added"] == 0
    assert (
        check([contig(genome)], [*texts, *[tail + two_branches[0]] * 60]).counts["bases_added"] == 0
    )  # high depth: a repeat
    assert check([contig(genome)], [*texts[:-3], *[tail + two_branches[0]] * 2]).counts["bases_added"] == 32


@pytest.mark.parametrize("side", ["right", "left"])
def test_reads_that_fold_back_do_not_count(genome, side):
    """Between a sequence and its reverse complement, the two strands contradict each other."""
    contig_end, n_beyond = 5900, 30
    texts = [decode(genome[s : s + 100]) for s in range(0, contig_end - 99, 5)]
    texts += [decode(genome[s : s + 100]) for s in (contig_end + n_beyond - 100, contig_end + n_beyond - 95)]
    tail, beyond = decode(genome[contig_end - 45 : contig_end]), decode(genome[contig_end : contig_end + 10])
    folded = [tail + loop + flipped(tail) for loop in (beyond, flipped(beyond))]
    own = genome[:contig_end] if side == "right" else reverse_complement(genome[:contig_end])
    for more in ([], folded, folded[:1] * 3, folded[1:] * 3):
        (found,) = check([contig(own)], texts + more).contigs
        assert max(found.extended) == n_beyond + 5
        text = found.codes if side == "right" else reverse_complement(found.codes)
        np.testing.assert_array_equal(text, genome[: contig_end + n_beyond + 5])


def test_adapters_beyond_the_end_of_fragments_are_not_added(genome):
    adapter = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCAC"
    texts = simulated_pairs(genome, fold=30, length=100)
    for size in (70, 78, 85):  # shorter than the reads, up to both ends of the genome
        for fragment in (genome[-size:], genome[:size]):
            mates = decode(fragment), decode(reverse_complement(fragment))
            texts += [(mate + adapter)[:100] for mate in mates]
    whole = check([contig(genome)], texts, paired=True)
    assert whole.counts["bases_added"] == 0
    assert check([contig(genome)], texts).counts["bases_added"] > 0  # without mates adapters are not recognised


def test_sequence_of_another_contig_is_not_added(genome):
    """A contig that ends next to an element with a contig of its own is not extended into it."""
    element = genome[3000:3300]
    texts = [decode(genome[s : s + 100]) for s in range(0, 5900, 10)]
    checked = check([contig(genome[:2980]), contig(element, free=(False, False))], texts[:292])
    longest = max(checked.contigs, key=lambda c: c.length)
    assert longest.length < 3000 + 21  # shorter overlaps are not found


def test_without_reads_nothing_is_added(genome):
    for texts in ([], ["ACGT"]):
        assert check([contig(genome)], texts).counts.get("bases_added", 0) == 0
    reads = replace(Reads.from_strings(["ACGT" * 30]), paired=True, n_reads=2)
    assert check_contigs([], reads, min_length=1).counts["bases_added"] == 0


def test_an_assembly_of_a_linear_genome_reaches_its_first_reads(genome, texts):
    assembly = assemble(Reads.from_strings(texts))
    (found,) = assembly.contigs
    text = decode(genome)
    assert found.sequence in text or flipped(found.sequence) in text
    assert found.length > genome.size - 12
    assert assembly.checked.counts["bases_added"] == sum(found.extended) > 0


def test_ends_of_an_assembly_at_junctions_are_not_free():
    genome = simulated_genome(length=20_000, repeats=4, repeat_length=400, seed=3)
    assembly = assemble(Reads.from_strings(simulated_texts(genome, fold=40, length=100)))
    graph = assembly.graph
    ends = [(2 * c.unitig + side, c.free_ends[side]) for c in assembly.contigs for side in (0, 1) if c.unitig >= 0]
    assert [free for _, free in ends] == [graph.arc_start[end] == graph.arc_start[end + 1] for end, _ in ends]
    assert 0 < sum(free for _, free in ends) < len(ends)
    text = decode(genome)
    assert all(c.sequence in text or flipped(c.sequence) in text for c in assembly.contigs)
