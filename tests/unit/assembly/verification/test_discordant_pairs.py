"""Discordant pairs: false joins over shared sequence that only pairs contradict."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.alignment.contig_alignment import align_reads
from gpuasm.assembly.alignment.seed_index import Targets, index_seeds
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.options import rules_without
from gpuasm.assembly.pairs.insert_sizes import find_discordant_pairs, find_fragments, longest_insert
from gpuasm.assembly.verification.contig_checks import check_contigs
from gpuasm.assembly.verification.read_evidence import BreakEvidence, ClippingBreakpoints
from gpuasm.assembly.verification.unsupported_joins import find_discordant_joins
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.assembly_library import INSERT, READ, pairs_from, random_codes

SIDE, FOLD = 2000, 15
OTHERS = ("end-extension", "redundant-ends")


@pytest.fixture(autouse=True)
def without_clipping_breakpoints(monkeypatch):
    """Only pairs break contigs."""
    monkeypatch.setattr(ClippingBreakpoints, "unsupported", lambda *_: np.empty(0, np.int64))


def contig(codes, *, circular=False):
    return Contig("", codes, 40.0, 1, is_circular=circular, unitig=0)


def checked(contigs, texts, *, without=OTHERS):
    return check_contigs(contigs, Reads.from_strings(texts, paired=True), min_length=1, rules=rules_without(without))


def two_places(rng, n_shared, n_left=SIDE):
    """Return the sides of two places of a genome that share some bases, and the shared bases."""
    a, b, c, d = (random_codes(rng, size) for size in (n_left, SIDE, SIDE, SIDE))
    shared = random_codes(rng, n_shared)
    b[0], d[0], a[-1], c[-1] = 0, 1, 2, 3  # so that only these are shared
    return a, b, c, d, shared


@pytest.mark.parametrize("is_flipped", [False, True])
@pytest.mark.parametrize("n_left", [249, SIDE])
@pytest.mark.parametrize("n_shared", [60, 120, 180])
def test_false_join_contradicted_by_pairs_is_broken(rng, n_shared, n_left, is_flipped):
    """Also where the wrong side is shorter than a fragment, and at low coverage."""
    a, b, c, d, shared = two_places(rng, n_shared, n_left)
    genomes = [np.concatenate([random_codes(rng, 500), a, shared, b]), np.concatenate([c, shared, d])]
    texts = [text for genome in genomes for text in pairs_from(genome, fold=FOLD, rng=rng)]
    false, rest = np.concatenate([a, shared, d]), [contig(b), contig(c)]
    found = checked([contig(reverse_complement(false) if is_flipped else false), *rest], texts)
    assert found.counts["discordant_pairs"] == found.counts["joins_broken"] == 1
    lengths = [own.length for own in found.contigs]
    lengths.remove(SIDE)  # the other contigs are kept
    lengths.remove(SIDE)
    assert sum(lengths) == false.size
    # Both parts are correct: the first ends within the shared bases, or at their end.
    assert any(n_left <= n <= n_left + n_shared for n in lengths)
    assert checked([contig(false), *rest], texts, without=(*OTHERS, "breaks")).counts["joins_broken"] == 0


def test_true_joins_are_kept(rng):
    a, b, c, d, shared = two_places(rng, 120)
    genomes = [np.concatenate([a, shared, b]), np.concatenate([c, shared, d])]
    texts = [text for genome in genomes for text in pairs_from(genome, fold=FOLD, rng=rng)]
    assert checked([contig(genome) for genome in genomes], texts).counts["discordant_pairs"] == 0


def test_contig_with_reads_of_two_copies_is_kept(rng):
    """The mates of one copy align elsewhere; those of the other lie in a repeat."""
    a, b, c, shared, repeat = (random_codes(rng, size) for size in (SIDE, SIDE, SIDE, 400, 900))
    one, other = np.concatenate([a, shared, repeat, b]), np.concatenate([c, shared, b[::-1].copy()])
    third = np.concatenate([c[::-1].copy(), repeat, a[::-1].copy()])
    texts = [text for genome in (one, other, third) for text in pairs_from(genome, fold=30, rng=rng)]
    contigs = [contig(one), contig(b[::-1].copy()), contig(c), contig(third)]
    assert checked(contigs, texts).counts["discordant_pairs"] == 0


@pytest.mark.parametrize("changed", ["a circle", "few reads"])
def test_circular_contigs_and_few_reads_are_not_broken(rng, changed):
    a, b, c, d, shared = two_places(rng, 120)
    texts = [
        text
        for genome in (np.concatenate([a, shared, b]), np.concatenate([c, shared, d]))
        for text in pairs_from(genome, fold=3 if changed == "few reads" else FOLD, rng=rng)
    ]
    false = contig(np.concatenate([a, shared, d]), circular=changed == "a circle")
    found = checked([false, contig(b), contig(c)], texts, without=(*OTHERS, "circular-start"))
    assert found.counts["discordant_pairs"] == 0


def test_mates_may_align_to_several_contigs(rng):
    """The true continuations are short contigs, as between the copies of many repeats."""
    a, b, c, d, shared = two_places(rng, 120)
    genomes = [np.concatenate([a, shared, b]), np.concatenate([c, shared, d]), random_codes(rng, 5 * SIDE)]
    texts = [text for genome in genomes for text in pairs_from(genome, fold=FOLD, rng=rng)]
    true_sides = (b, c[::-1][:600][::-1])
    short = [contig(side[at : at + 20 + READ]) for side in true_sides for at in range(0, 600, 20 + READ)]
    contigs = [contig(np.concatenate([a, shared, d])), contig(genomes[2]), *short]
    assert checked(contigs, texts).counts["discordant_pairs"] == 1


@pytest.mark.parametrize("is_flipped", [False, True])
def test_mates_in_a_repeat_do_not_hide_a_false_join(rng, is_flipped):
    """Of the reads before the join, many mates have no unique place on one side, and all on the other.

    On the latter side the contig is shorter than the longest fragments.
    """
    a, b, c, d, shared = two_places(rng, 120, n_left=249)
    c[-140:-30] = repeat = random_codes(rng, 110)  # so that the 30 bases before the shared ones are unique
    other = np.concatenate([random_codes(rng, SIDE), repeat, b[:600], random_codes(rng, SIDE)])
    genomes = [np.concatenate([random_codes(rng, 500), a, shared, b]), np.concatenate([c, shared, d]), other]
    texts = [text for genome in genomes for text in pairs_from(genome, fold=2 * FOLD, rng=rng)]
    false = np.concatenate([a, shared, d])
    contigs = [contig(reverse_complement(false) if is_flipped else false), contig(b), contig(c), contig(other)]
    assert checked(contigs, texts).counts["discordant_pairs"] == 1


@pytest.mark.parametrize("changed", ["mates", "nothing"])
def test_library_with_many_discordant_pairs_has_no_breaks(rng, changed):
    """A third of the pairs have mates of other pairs; a stretch that no pair spans is then no evidence."""
    genome = random_codes(rng, 3 * SIDE)
    texts = pairs_from(genome[:SIDE], fold=FOLD, rng=rng) + pairs_from(genome[SIDE:], fold=FOLD, rng=rng)
    if changed == "mates":
        n = len(texts) // 6 * 2
        texts[1:n:2] = [texts[i] for i in rng.permutation(np.arange(1, n, 2))]
    assert checked([contig(genome)], texts).counts["discordant_pairs"] == 0


def test_mates_beyond_the_contig_end_are_no_contradiction(rng):
    """A contig ends in a repeat of another one: the mates align to the contig that follows."""
    a, b, c, d, shared = two_places(rng, 150)
    genomes = [np.concatenate([a, shared, b]), np.concatenate([c, shared, d])]
    texts = [text for genome in genomes for text in pairs_from(genome, fold=2 * FOLD, rng=rng)]
    contigs = [contig(np.concatenate([a, shared])), contig(b), contig(genomes[1])]
    assert checked(contigs, texts).counts["discordant_pairs"] == 0


def breaks_of(*, size=3000, n_discordant=1, n_lone=0.0, n_short=0):
    """Return the break at a join behind base 1,450, for fragments of 400 bases and reads of 100, from every 4th base.

    Parameters
    ----------
    size
        Bases of the contig.
    n_discordant, n_lone
        Reads from each of these bases that lead over the join, with mates elsewhere, or with unaligned mates.
    n_short
        Pairs of fragments of 150 bases among them.
    """
    begin = np.concatenate(
        [np.arange(0, 1050, 4), np.arange(1452, max(1453, size - 400), 4)[: None if size > 2000 else 0]]
    )
    end = begin + 400
    short = np.concatenate([np.arange(0, 120, 4), np.arange(1150, 1150 + 4 * n_short, 4)])
    begin, end = np.concatenate([begin, short]), np.concatenate([end, short + 150])
    leading = np.arange(1052, 1352, 4)
    discordant = np.repeat(leading, n_discordant)
    lone = leading[np.arange(leading.size) * n_lone % 1 + n_lone >= 1]
    spans = BreakEvidence(read_length=100)
    spans.rightwards = np.bincount(np.concatenate([begin, discordant, lone]), minlength=size + 1).astype(np.int32)
    spans.leftwards = np.bincount(end, minlength=size + 1).astype(np.int32)
    spans.fragments = [np.stack([begin, end])]
    spans.discordant = [np.stack([discordant, discordant + 100, np.zeros_like(discordant)])]
    targets = Targets.of([np.zeros(size, np.uint8)], [False], reach=100, xp=np)
    return find_discordant_joins(spans, targets, np.empty(0, np.int64)).tolist()


@pytest.mark.parametrize(
    ("changed", "is_broken"),
    [
        ({}, True),
        ({"n_lone": 0.5}, True),  # half as many mates lie in the shared bases
        ({"n_lone": 0.8}, False),  # nearly the reads of a copy: they may be of a second copy
        ({"n_discordant": 3}, False),  # reads of more than two copies end there
        ({"n_short": 4}, True),
        ({"n_short": 20}, False),  # of 70 mates 20 are concordant
        ({"size": 1700}, True),
        ({"size": 1560}, False),  # mates of long fragments may lie beyond the end
    ],
)
def test_join_is_broken_by_enough_reads_of_one_copy(changed, is_broken):
    found = breaks_of(**changed)
    assert [1250 <= place <= 1451 for place in found] == [True] * is_broken


def test_fragments_and_discordant_pairs_are_all_uniquely_aligned_pairs(rng, xp):
    """Compare with the alignments of reads one by one."""
    texts = [random_codes(rng, 1500) for _ in range(3)]
    joined = np.concatenate(texts)
    pairs = pairs_from(joined, fold=8, rng=rng) + pairs_from(joined, fold=1, rng=rng, mean=1200)
    pairs += [decode(texts[0][:READ]), decode(texts[0][300 : 300 + READ])]  # both read to the right
    reads = Reads.from_strings(pairs, paired=True).moved_to(xp)
    targets = Targets.of(texts, [False, False, True], reach=READ, xp=xp)
    first, _ = align_reads(reads, targets, index_seeds(targets, 31))
    longest = 2 * INSERT
    fragments = find_fragments(reads, first, targets).no_longer_than(longest)
    discordant = find_discordant_pairs(reads, first, targets, longest=longest)
    where = {}
    for segment, target, at, begin, is_reversed, unique in zip(
        *(getattr(first, name).tolist() for name in ("segment", "target", "at", "begin", "is_reversed", "is_unique")),
        strict=True,
    ):
        if unique:
            where[int(reads.read[segment])] = target, at, begin, is_reversed
    expected, n_fragments = [], 0
    for read in range(0, 2 * (len(pairs) // 2), 2):
        if not {read, read + 1} <= where.keys():
            continue
        (t, at, begin, is_reversed), (u, other_at, other_begin, other_is_reversed) = where[read], where[read + 1]
        left, right = (at, other_at) if is_reversed == 0 else (other_at, at)
        if t == u and is_reversed != other_is_reversed and 0 < right + READ - left <= longest:
            n_fragments += 1
        elif not (t == u == 2):
            expected += [(begin, is_reversed, read >> 1), (other_begin, other_is_reversed, read >> 1)]
    read = reads.read[discordant.segment]
    found = zip(*(values.tolist() for values in (discordant.begin, discordant.is_reversed, read >> 1)), strict=True)
    assert sorted(found) == sorted(expected)
    assert (read & 1).tolist() == sorted((read & 1).tolist())
    assert len(expected) > 20
    assert int(fragments.insert.size) >= n_fragments > 20
    assert longest_insert(fragments) > 0
