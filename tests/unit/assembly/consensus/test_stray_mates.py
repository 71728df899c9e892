"""Stray mates: false joins over what two places share, which only pairs contradict."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.consensus.consensus import check_contigs
from gpuasm.assembly.consensus.fragments import find_fragments, find_strays, longest_insert
from gpuasm.assembly.consensus.laying import lay_reads
from gpuasm.assembly.consensus.spans import Spans
from gpuasm.assembly.consensus.stray_mates import find_contradicted
from gpuasm.assembly.consensus.targets import Targets, index_seeds
from gpuasm.assembly.contigs import Contig
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.unit.assembly.consensus.library import INSERT, READ, pairs_from, random_codes

SIDE, FOLD = 2000, 15
OTHERS = ("end-extension", "departures", "rival-ends", "doubled-ends")


def contig(codes, *, circular=False):
    return Contig("", codes, 40.0, 1, is_circular=circular, unitig=0)


def checked(contigs, texts, *, without=OTHERS):
    return check_contigs(contigs, Reads.from_strings(texts, paired=True), min_length=1, without=without)


def two_places(rng, n_shared, n_left=SIDE):
    """Return two places of a genome that share some bases: the sides of the first, what is shared, of the second."""
    a, b, c, d = (random_codes(rng, size) for size in (n_left, SIDE, SIDE, SIDE))
    shared = random_codes(rng, n_shared)
    b[0], d[0], a[-1], c[-1] = 0, 1, 2, 3  # so that just these are shared
    return a, b, c, d, shared


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("n_left", [249, SIDE])
@pytest.mark.parametrize("n_shared", [60, 120, 180])
def test_a_false_join_that_pairs_contradict_is_broken(rng, n_shared, n_left, is_turned):
    """Also where what is wrong is shorter than a fragment, and in thin coverage."""
    a, b, c, d, shared = two_places(rng, n_shared, n_left)
    genomes = [np.concatenate([random_codes(rng, 500), a, shared, b]), np.concatenate([c, shared, d])]
    texts = [text for genome in genomes for text in pairs_from(genome, fold=FOLD, rng=rng)]
    false, rest = np.concatenate([a, shared, d]), [contig(b), contig(c)]
    found = checked([contig(reverse_complement(false) if is_turned else false), *rest], texts)
    assert found.counts["stray_mates"] == found.counts["joins_broken"] == 1
    lengths = [own.length for own in found.contigs]
    lengths.remove(SIDE)  # those of the other places stay
    lengths.remove(SIDE)
    assert sum(lengths) == false.size
    # Both parts are true: the first ends within what is shared, or at its end.
    assert any(n_left <= n <= n_left + n_shared for n in lengths)
    assert checked([contig(false), *rest], texts, without=(*OTHERS, "stray-mates")).counts["joins_broken"] == 0


def test_true_joins_stay(rng):
    a, b, c, d, shared = two_places(rng, 120)
    genomes = [np.concatenate([a, shared, b]), np.concatenate([c, shared, d])]
    texts = [text for genome in genomes for text in pairs_from(genome, fold=FOLD, rng=rng)]
    assert checked([contig(genome) for genome in genomes], texts).counts["stray_mates"] == 0


def test_where_half_of_the_reads_are_another_copys_nothing_is_broken(rng):
    """The copy that has its mates elsewhere is told by its right side only; the other's mates lie in a repeat."""
    a, b, c, shared, repeat = (random_codes(rng, size) for size in (SIDE, SIDE, SIDE, 400, 900))
    one, other = np.concatenate([a, shared, repeat, b]), np.concatenate([c, shared, b[::-1].copy()])
    third = np.concatenate([c[::-1].copy(), repeat, a[::-1].copy()])
    texts = [text for genome in (one, other, third) for text in pairs_from(genome, fold=30, rng=rng)]
    contigs = [contig(one), contig(b[::-1].copy()), contig(c), contig(third)]
    assert checked(contigs, texts).counts["stray_mates"] == 0


@pytest.mark.parametrize("changed", ["a circle", "few reads"])
def test_what_proves_nothing_is_not_broken(rng, changed):
    a, b, c, d, shared = two_places(rng, 120)
    texts = [
        text
        for genome in (np.concatenate([a, shared, b]), np.concatenate([c, shared, d]))
        for text in pairs_from(genome, fold=3 if changed == "few reads" else FOLD, rng=rng)
    ]
    false = contig(np.concatenate([a, shared, d]), circular=changed == "a circle")
    found = checked([false, contig(b), contig(c)], texts, without=(*OTHERS, "circle-cuts"))
    assert found.counts["stray_mates"] == 0


def test_mates_may_lie_on_several_contigs(rng):
    """What goes on after either side is in pieces, as it is between the copies of many repeats."""
    a, b, c, d, shared = two_places(rng, 120)
    genomes = [np.concatenate([a, shared, b]), np.concatenate([c, shared, d]), random_codes(rng, 5 * SIDE)]
    texts = [text for genome in genomes for text in pairs_from(genome, fold=FOLD, rng=rng)]
    pieces = [contig(side[at : at + 20 + READ]) for side in (b, c[::-1][:600][::-1]) for at in range(0, 600, 20 + READ)]
    contigs = [contig(np.concatenate([a, shared, d])), contig(genomes[2]), *pieces]
    assert checked(contigs, texts).counts["stray_mates"] == 1


@pytest.mark.parametrize("is_turned", [False, True])
def test_mates_in_a_repeat_hide_nothing(rng, is_turned):
    """Of the reads that lead over the join from one side many mates have no place of their own, and from the other all.

    Where these should lie the contig is shorter than the longest fragments.
    """
    a, b, c, d, shared = two_places(rng, 120, n_left=249)
    c[-140:-30] = repeat = random_codes(rng, 110)  # so that 30 bases before what is shared are its own
    other = np.concatenate([random_codes(rng, SIDE), repeat, b[:600], random_codes(rng, SIDE)])
    genomes = [np.concatenate([random_codes(rng, 500), a, shared, b]), np.concatenate([c, shared, d]), other]
    texts = [text for genome in genomes for text in pairs_from(genome, fold=2 * FOLD, rng=rng)]
    false = np.concatenate([a, shared, d])
    contigs = [contig(reverse_complement(false) if is_turned else false), contig(b), contig(c), contig(other)]
    assert checked(contigs, texts).counts["stray_mates"] == 1


@pytest.mark.parametrize("changed", ["mates", "nothing"])
def test_where_strays_are_nothing_rare_nothing_is_broken(rng, changed):
    """Of a third of the pairs the mates are those of others; a stretch that no pair goes over tells then nothing."""
    genome = random_codes(rng, 3 * SIDE)
    texts = pairs_from(genome[:SIDE], fold=FOLD, rng=rng) + pairs_from(genome[SIDE:], fold=FOLD, rng=rng)
    if changed == "mates":
        n = len(texts) // 6 * 2
        texts[1:n:2] = [texts[i] for i in rng.permutation(np.arange(1, n, 2))]
    assert checked([contig(genome)], texts).counts["stray_mates"] == 0


def test_mates_that_should_lie_behind_the_end_tell_nothing(rng):
    """A contig ends in a repeat that another has too: what follows is a contig of its own, but no contradiction."""
    a, b, c, d, shared = two_places(rng, 150)
    genomes = [np.concatenate([a, shared, b]), np.concatenate([c, shared, d])]
    texts = [text for genome in genomes for text in pairs_from(genome, fold=2 * FOLD, rng=rng)]
    contigs = [contig(np.concatenate([a, shared])), contig(b), contig(genomes[1])]
    assert checked(contigs, texts).counts["stray_mates"] == 0


def told(*, size=3000, n_strays=1, n_lone=0.0, n_short=0):
    """Return where a join behind base 1,450 is told by fragments of 400 bases and reads of 100, from every 4th base.

    Parameters
    ----------
    size
        Bases of the contig.
    n_strays, n_lone
        Reads from each of these bases that lead over it, whose mates lie elsewhere, or nowhere.
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
    strays = np.repeat(leading, n_strays)
    lone = leading[np.arange(leading.size) * n_lone % 1 + n_lone >= 1]
    spans = Spans(read_length=100)
    spans.rightwards = np.bincount(np.concatenate([begin, strays, lone]), minlength=size + 1).astype(np.int32)
    spans.leftwards = np.bincount(end, minlength=size + 1).astype(np.int32)
    spans.begin, spans.end = [begin], [end]
    spans.strays = [np.stack([strays, strays + 100, np.zeros_like(strays)])]
    targets = Targets.of([np.zeros(size, np.uint8)], [False], reach=100, xp=np)
    return find_contradicted(spans, targets, np.empty(0, np.int64)).tolist()


@pytest.mark.parametrize(
    ("changed", "is_told"),
    [
        ({}, True),
        ({"n_lone": 0.5}, True),  # mates of half as many others lie in what is shared
        ({"n_lone": 0.8}, False),  # nearly a copy's: it may have been told once with another
        ({"n_strays": 3}, False),  # reads of more than two copies end there
        ({"n_short": 4}, True),
        ({"n_short": 20}, False),  # of 70 mates 20 are where they should be
        ({"size": 1700}, True),
        ({"size": 1560}, False),  # mates may lie behind the end, though short fragments' do not
    ],
)
def test_what_the_reads_that_lead_over_a_join_must_be(changed, is_told):
    found = told(**changed)
    assert [1250 <= place <= 1451 for place in found] == [True] * is_told


def test_fragments_and_strays_are_all_pairs_with_places_of_their_own(rng, xp):
    """Against the places of reads one by one."""
    texts = [random_codes(rng, 1500) for _ in range(3)]
    joined = np.concatenate(texts)
    pairs = pairs_from(joined, fold=8, rng=rng) + pairs_from(joined, fold=1, rng=rng, mean=1200)
    pairs += [decode(texts[0][:READ]), decode(texts[0][300 : 300 + READ])]  # both read to the right
    reads = Reads.from_strings(pairs, paired=True).moved_to(xp)
    targets = Targets.of(texts, [False, False, True], reach=READ, xp=xp)
    first, _ = lay_reads(reads, targets, index_seeds(targets, 31))
    longest = 2 * INSERT
    fragments = find_fragments(reads, first, targets).no_longer_than(longest)
    strays = find_strays(reads, first, targets, longest=longest)
    where = {}
    for piece, target, at, begin, turned, unique in zip(
        *(getattr(first, name).tolist() for name in ("piece", "target", "at", "begin", "turned", "is_unique")),
        strict=True,
    ):
        if unique:
            where[int(reads.read[piece])] = target, at, begin, turned
    expected, n_fragments = [], 0
    for read in range(0, 2 * (len(pairs) // 2), 2):
        if not {read, read + 1} <= where.keys():
            continue
        (t, at, begin, turned), (u, other_at, other_begin, other_turned) = where[read], where[read + 1]
        left, right = (at, other_at) if turned == 0 else (other_at, at)
        if t == u and turned != other_turned and 0 < right + READ - left <= longest:
            n_fragments += 1
        elif not (t == u == 2):
            expected += [(begin, turned, read >> 1), (other_begin, other_turned, read >> 1)]
    found = zip(*(getattr(strays, name).tolist() for name in ("begin", "turned", "pair")), strict=True)
    assert sorted(found) == sorted(expected)
    read, n = reads.read[strays.piece].tolist(), strays.pair.size // 2
    assert read == [2 * pair + (i >= n) for i, pair in enumerate(strays.pair.tolist())]
    some = strays.pair[::3]
    left = strays.without_pairs(some)
    assert sorted(left.piece.tolist()) == sorted(
        piece for piece, pair in zip(strays.piece.tolist(), strays.pair.tolist(), strict=True) if pair not in some
    )
    assert len(expected) > 20
    assert int(fragments.insert.size) >= n_fragments > 20
    assert longest_insert(fragments) > 0
