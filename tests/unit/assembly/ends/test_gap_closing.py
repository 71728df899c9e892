"""Gaps that reads close: between linked ends, at the distance of their pairs, at one overlap length only."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.arrays import to_namespace
from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.contig import make_contigs
from gpuasm.assembly.ends import end_joining
from gpuasm.assembly.ends.dead_ends import align_to_ends
from gpuasm.assembly.ends.end_joining import close_gaps, least_bases
from gpuasm.assembly.ends.end_overlaps import overlap_lengths
from gpuasm.assembly.pairs.link_evidence import Gap, Resolved
from gpuasm.sequence.encoding import encode
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.mate_pairs import pairs_around_gap
from tests.oracles.kmers import reverse_complement
from tests.repeat_graphs import either_strand, graph_of, random_text, texts_of
from tests.samples import simulated_pairs

A, B, C = (random_text(2000, seed) for seed in range(20, 23))
LENGTH = 100
COMPLEMENT = dict(zip("ACGT", "CATG", strict=True))


def tiled(text):
    return [text[i : i + LENGTH] for i in range(0, len(text) - LENGTH + 1, 5)]


def oriented(graph, texts):
    """Return the oriented unitigs with the given sequences."""
    number = {either_strand(graph.sequence(u)): u for u in range(graph.n)}
    own = [number[either_strand(text)] for text in texts]
    return [2 * u + (graph.sequence(u) != text) for u, text in zip(own, texts, strict=True)]


def closed(texts, reads, *, size, sd=10.0, xp=np, more=(), kind="gaps", n_pairs=5):
    """Return the graph's sequences and the remaining gaps, after closing the gap between the first two texts."""
    graph = graph_of(*texts)
    ends = oriented(graph, texts)
    gaps = [Gap(ends[a], ends[b], n, sd, n_pairs) for a, b, n in ((0, 1, size), *more)]
    packed = Reads.from_strings(reads)
    names = ("packed", "start", "length", "read")
    there = Reads(*(to_namespace(xp, getattr(packed, name)) for name in names), packed.n_reads)
    graph, left = close_gaps(Resolved(graph, **{kind: gaps}), there, stages=Stages())
    return texts_of(graph), left


def across(genome, at, *, before=40):
    """One read of a genome that begins so many bases before a place."""
    return genome[at - before : at - before + LENGTH]


@pytest.mark.parametrize("missing", [0, 1, 2, 7, 20])
def test_a_read_across_a_gap_gives_its_bases(xp, missing):
    genome = A + C[:missing] + B
    reads = [*tiled(A), *tiled(B), across(genome, 2000)]
    assert closed([A, B], reads, size=missing, xp=xp) == ([either_strand(genome)], [])


@pytest.mark.parametrize("shared", [8, 12, 30])
def test_ends_that_overlap_are_joined(shared):
    genome = A + B
    ends = [genome[:2000], genome[2000 - shared :]]
    assert closed(ends, [*tiled(ends[0]), *tiled(ends[1])], size=-shared) == ([either_strand(genome)], [])


@pytest.mark.parametrize("shared", [0, 4])
def test_a_few_bases_are_not_enough(shared):
    genome = A + B
    ends = [genome[:2000], genome[2000 - shared :]]
    texts, left = closed(ends, [*tiled(ends[0]), *tiled(ends[1])], size=-shared)
    assert len(texts) == 2
    assert len(left) == 1


def test_clipped_tails_of_both_ends_overlap():
    genome = A + C[:80] + B
    reads = [*tiled(A), *tiled(B), across(genome, 2000, before=50), across(genome, 2080, before=50)]
    assert closed([A, B], reads, size=80) == ([either_strand(genome)], [])
    assert len(closed([A, B], reads[:-1], size=80)[0]) == 2


@pytest.mark.parametrize("at", [3, 45, 70])
def test_an_error_in_the_read_does_not_prevent_a_join(at):
    """The bases of the unitigs stay; the bases between are those of the read."""
    genome = A + C[:20] + B
    read = list(across(genome, 2000))
    read[at] = COMPLEMENT[read[at]]
    expected = A + "".join(read[40:60]) + B
    assert closed([A, B], [*tiled(A), *tiled(B), "".join(read)], size=20) == ([either_strand(expected)], [])


def test_an_overlap_at_another_distance_is_not_used():
    genome = A + B
    texts, left = closed([A, B], [*tiled(A), *tiled(B), across(genome, 2000)], size=60)
    assert len(texts) == 2
    assert len(left) == 1


@pytest.mark.parametrize(("n_changed", "closes"), [(0, True), (1, False), (3, False)])
def test_ends_of_two_copies_of_a_repeat_stay_apart(n_changed, closes):
    """Both unitigs have the differing bases: these are no errors."""
    copy = list(B[:50])
    for at in range(10, 10 + 12 * n_changed, 12):
        copy[at] = COMPLEMENT[copy[at]]
    ends = [A + "".join(copy), B]
    texts, left = closed(ends, [*tiled(ends[0]), *tiled(ends[1])], size=-50)
    assert (len(texts), len(left)) == ((1, 0) if closes else (2, 1))


@pytest.mark.parametrize(("before_end", "closes"), [(3, True), (18, False)])
def test_a_unitig_base_of_one_read_is_an_error(before_end, closes):
    """Six reads support the other base. If several reads support each, these are two copies of a repeat."""
    copy = list(B[:30])
    copy[-before_end] = COMPLEMENT[copy[-before_end]]
    ends = [A + "".join(copy), B]
    texts, left = closed(ends, [*tiled(ends[0]), *tiled(ends[1])], size=-30)
    assert (len(texts), len(left)) == ((1, 0) if closes else (2, 1))


@pytest.mark.parametrize(("shared", "closes"), [(40, True), (10, False)])
def test_weak_links_need_longer_overlaps(shared, closes):
    genome = A + B
    ends = [genome[:2000], genome[2000 - shared :]]
    reads = [*tiled(ends[0]), *tiled(ends[1])]
    texts, left = closed(ends, reads, size=-shared, kind="weak_links")
    assert texts == ([either_strand(genome)] if closes else sorted(map(either_strand, ends)))
    assert left == []


def test_weak_links_stay_open_if_a_third_end_overlaps():
    genome = A + B
    third = B[:60] + C[60:]
    reads = [*tiled(A), *tiled(B), *tiled(third), across(genome, 2000, before=60)]
    assert closed([A, B], [read for read in reads if read not in tiled(third)], size=0, kind="weak_links")[0] == [
        either_strand(genome)
    ]
    assert len(closed([A, B, third], reads, size=0, kind="weak_links")[0]) == 3


def test_without_gaps_the_graph_stays():
    graph = graph_of(A, B)
    stages = Stages()
    assert close_gaps(Resolved(graph), Reads.from_strings(tiled(A)), stages=stages) == (graph, [])
    assert stages.records == []


def test_units_of_a_tandem_repeat_stay_a_gap():
    """Reads over either end contain two units, and nothing determines their number."""
    unit = C[:30]
    ends = [A + 2 * unit, 2 * unit + B]
    texts, left = closed(ends, [*tiled(ends[0]), *tiled(ends[1])], size=-30, sd=30.0)
    assert sorted(texts) == sorted(map(either_strand, ends))
    assert len(left) == 1


def test_a_unit_that_a_read_contains_twice_is_kept_twice():
    """The ends share a unit in sequence, but the genome has two."""
    unit = C[:30]
    genome = A + 2 * unit + B
    ends = [A + unit, unit + B]
    reads = [*tiled(ends[0]), *tiled(ends[1]), across(genome, 2030)]
    assert closed(ends, reads, size=0, sd=15.0) == ([either_strand(genome)], [])


@pytest.mark.parametrize(("over", "closes"), [(None, False), (5, False), (25, True)])
def test_an_overlap_with_few_pairs_needs_a_read_across(over, closes):
    """The read ends ``over`` bases beyond the overlap, or there is none."""
    genome = A + B
    ends = [genome[:2000], genome[1950:]]
    reads = [*tiled(ends[0]), *tiled(ends[1])]
    reads += [] if over is None else [genome[2000 + over - LENGTH : 2000 + over]]
    texts, left = closed(ends, reads, size=-50, kind="ambiguous_overlaps")
    assert texts == ([either_strand(genome)] if closes else sorted(map(either_strand, ends)))
    assert left == []


@pytest.mark.parametrize("over", [12, 25, 40])
def test_an_overlap_with_few_pairs_stays_open_if_a_read_contains_two_units(over):
    """The genome has two units, the ends overlap by one: a read continues from the first end into the second unit."""
    unit = C[:50]
    ends = [A + unit, unit + B]
    genome = A + 2 * unit + B
    reads = [*tiled(ends[0]), *tiled(ends[1]), genome[2050 + over - LENGTH : 2050 + over]]
    assert closed(ends, reads, size=-50, kind="ambiguous_overlaps")[0] == sorted(map(either_strand, ends))


def test_an_overlap_with_few_pairs_of_a_short_unitig_stays_open():
    """Its sequence beyond the overlap is too short to be compared."""
    genome = A + B
    ends = [genome[:2000], genome[1950:2011]]
    reads = [*tiled(ends[0]), genome[1925:2025]]
    assert len(closed(ends, reads, size=-50, kind="ambiguous_overlaps")[0]) == 2
    ends[1] = genome[1950:2012]
    assert len(closed(ends, reads, size=-50, kind="ambiguous_overlaps")[0]) == 1


def test_local_reads_lie_within_four_read_lengths():
    """Four times the longest read."""
    graph = graph_of(A, B)
    ends = np.arange(2 * graph.n)
    reads = Reads.from_strings([*tiled(A), B[:140]])
    aligned = align_to_ends(
        graph, ends, make_contigs(graph, min_length=1), reads, gaps=[Gap(0, 3, 0, 1.0, 9)], longest=500
    )
    assert aligned.flank == 4 * 140


def with_others_base(text, at):
    return text[:at] + COMPLEMENT[text[at]] + text[at + 1 :]


@pytest.mark.parametrize(("size", "closes"), [(-50, True), (-30, True), (-120, False), (0, False)])
def test_reads_show_which_end_has_another_copys_bases(size, closes):
    """A base near one end is wrong: one read over it has another base, as all reads at the other end."""
    genome = A + B
    ends = [with_others_base(genome, 1965)[:2000], genome[1950:]]
    reads = [*tiled(genome[:1955]), genome[1900:2000], *tiled(ends[1])]
    texts, left = closed(ends, reads, size=size, kind="mismatching_overlaps")
    assert left == []
    if closes:
        assert len(texts) == 1
        assert texts[0] in map(either_strand, (genome, with_others_base(genome, 1965)))
    else:
        assert texts == sorted(map(either_strand, ends))


@pytest.mark.parametrize("both", [False, True])
def test_two_copies_with_reads_of_both_stay_apart(both):
    genome = A + B
    ends = [with_others_base(genome, 1965)[:2000], genome[1950:]]
    reads = [*tiled(genome[:1955]), genome[1900:2000], *(2 * [ends[0][1900:2000]] if both else []), *tiled(ends[1])]
    assert len(closed(ends, reads, size=-50, kind="mismatching_overlaps")[0]) == 1 + both


def test_ends_that_should_overlap_are_not_joined_by_a_gap():
    """A read spans both ends, but their pairs state an overlap."""
    assert (
        len(closed([A, B], [*tiled(A), *tiled(B), across(A + B, 2000)], size=-20, kind="mismatching_overlaps")[0]) == 2
    )


def test_remaining_gaps_are_moved_to_the_joined_unitigs():
    ends = [A, B, C]
    reads = [*(read for end in ends for read in tiled(end)), across(A + B, 2000)]
    texts, left = closed(ends, reads, size=0, more=[(1, 2, 100)])
    assert sorted(texts) == sorted(map(either_strand, [A + B, C]))
    assert [gap.size for gap in left] == [100]


def test_order_and_strand_of_reads_do_not_matter(threads):
    genome = A + C[:10] + B
    reads = [*tiled(A), *tiled(B), across(genome, 2000), across(genome, 2000, before=60)]
    expected = closed([A, B], reads, size=10)
    assert len(expected[0]) == 1
    assert closed([A, B], [reverse_complement(read) for read in reversed(reads)], size=10) == expected
    reversed_ends = [reverse_complement(B), reverse_complement(A)]
    assert closed(reversed_ends, reads, size=10) == expected


@settings(max_examples=50, deadline=None)
@given(
    own=st.text("AC", min_size=1, max_size=30), towards=st.text("AC", min_size=1, max_size=30), least=st.integers(1, 9)
)
def test_scores_are_matches_less_mismatch_costs(own, towards, least):
    expected = [
        n
        for n in range(1, min(len(own), len(towards)) + 1)
        if sum(1 if a == b else -3 for a, b in zip(own[-n:], towards[:n], strict=True)) >= least
    ]
    assert overlap_lengths(encode(own), encode(towards), least=least).tolist() == expected


def test_more_gaps_need_longer_overlaps():
    """Among a thousand gaps, nine bases agree by chance in one of a hundred samples."""
    assert least_bases(0, 7, 1e-2) == least_bases(1, 7, 1e-2) == 7
    assert least_bases(1000, 7, 1e-2) == 9
    assert least_bases(10**6, 7, 1e-2) == 14


@pytest.mark.parametrize("missing", [-10, 0, 5])
def test_an_assembly_continues_across_a_gap(missing):
    """Rules of the first graph are left out; pairs link the ends, and one read spans the gap."""
    genome = A + B
    texts = pairs_around_gap(genome, end=2000, begin=2000 + missing, across=True)
    if missing >= 0:
        texts += [across(genome, 2000, before=50), reverse_complement(genome[2150:2250])]
    reads = Reads.from_strings(texts, paired=True)
    early = ("mercy-kmers", "end-overlaps")
    closed, left = (
        assemble(reads, AssemblyOptions(k=(31, 61), min_contig_length=100, without=(*early, *more)))
        for more in ((), ("gap-closing",))
    )
    assert len(left.contigs) == 2
    assert len(left.scaffolds) == 1
    assert len(closed.contigs) == 1
    assert any(closed.contigs[0].sequence in text for text in (genome, reverse_complement(genome)))


@pytest.mark.parametrize(("n_pairs", "closes"), [(2, False), (10, True)])
def test_a_walk_needs_enough_pairs(monkeypatch, n_pairs, closes):
    """Overlaps of clipped tails are disabled."""
    monkeypatch.setattr(end_joining, "overlap_ends", lambda *_, **__: None)
    genome = A + C[:20] + B
    texts, left = closed([A, B], [*tiled(A), *tiled(B), across(genome, 2000)], size=20, n_pairs=n_pairs)
    assert texts == ([either_strand(genome)] if closes else sorted(map(either_strand, [A, B])))
    assert len(left) == (0 if closes else 1)


def test_a_read_whose_mate_is_next_to_the_gap_closes_it():
    """Three reads span it; the middle one aligns to no contig, and shares 25 bases with either other."""
    genome = A + C[:170] + B
    codes = encode(genome)
    texts = simulated_pairs(codes, fold=40, insert=500, sd=30)
    over = {genome[i : i + LENGTH] for i in range(1990 - LENGTH + 1, 2120)}
    pairs = [texts[i : i + 2] for i in range(0, len(texts), 2)]
    kept = [pair for pair in pairs if not over & {*pair, *map(reverse_complement, pair)}]
    places = (1925, 2000, 2075)
    kept += [[genome[at - 400 : at - 300], reverse_complement(genome[at : at + LENGTH])] for at in places]
    reads = Reads.from_strings([text for pair in kept for text in pair], paired=True)
    early = ("mercy-kmers", "end-overlaps")
    closed, left = (
        assemble(reads, AssemblyOptions(k=(31, 61), min_contig_length=100, without=(*early, *more)))
        for more in ((), ("local-reads",))
    )
    assert len(left.contigs) == 2
    assert len(left.scaffolds) == 1
    assert len(closed.contigs) == 1
    assert any(closed.contigs[0].sequence in text for text in (genome, reverse_complement(genome)))
