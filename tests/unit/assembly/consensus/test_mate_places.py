"""Reads laid by their mates, against a plain search of every place within reach; and what they mend."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.consensus.consensus import check_contigs
from gpuasm.assembly.consensus.fragments import find_strays
from gpuasm.assembly.consensus.laying import lay_reads
from gpuasm.assembly.consensus.mate_places import lay_by_mates
from gpuasm.assembly.consensus.targets import targets_of
from gpuasm.assembly.contigs import Contig
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.unit.assembly.consensus.library import READ, pairs_from, random_codes

LONGEST = 500


def contig_of(codes):
    return Contig("c", codes, 10.0, 1, False, -1)


def reads_of(texts):
    return Reads.from_strings(texts, paired=True)


def changed(codes, place):
    other = codes.copy()
    other[place] = (other[place] + 1) % 4
    return other


def plain_places(text, contig, mate_at, *, mate_turned, mate_length, longest):
    """Return every place of a read in reach of its mate at which one base in twelve differs at most."""
    n, size = text.size, contig.size
    codes = text if mate_turned else reverse_complement(text)
    found = []
    for at in range(-n, size):
        insert = mate_at + mate_length - at if mate_turned else at + n - mate_at
        begin, end = max(0, at), min(size, at + n)
        if not max(n, mate_length) <= insert <= longest or end - begin < 31:
            continue
        mismatches = int((codes[begin - at : end - at] != contig[begin:end]).sum())
        if mismatches <= (end - begin) // 12:
            found.append((at, mismatches))
    return found


def two_copies(rng, *, repeat):
    """Return two texts that have a repeat in common, between sides of their own."""
    copy = random_codes(rng, repeat)
    return [np.concatenate([random_codes(rng, 900), copy, random_codes(rng, 900)]) for _ in range(2)]


@pytest.mark.parametrize("with_strays", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_as_the_plain_search(seed, with_strays):
    rng = np.random.default_rng(seed)
    unit = random_codes(rng, 60)
    one, other = two_copies(rng, repeat=250)
    if seed % 2:  # a tandem repeat, where several places are in reach
        one = np.concatenate([one[:300], np.tile(unit, 4), one[300:]])
    contigs = [contig_of(one), contig_of(changed(other, 1000))]
    texts = [text for codes in (one, other) for text in pairs_from(codes, fold=20, rng=rng)]
    reads = reads_of(texts)
    targets, index = targets_of(contigs, reads)
    first, _ = lay_reads(reads, targets, index)
    strays = find_strays(reads, first, targets, longest=LONGEST).piece if with_strays else None
    laid = lay_by_mates(reads, first, targets, longest=LONGEST, strays=strays)
    found = {
        int(p): (int(t), int(a - targets.start[t]), int(m), int(turned))
        for p, t, a, m, turned in zip(laid.piece, laid.target, laid.at, laid.mismatches, laid.turned, strict=True)
    }
    own = {int(p): row for row, p in enumerate(first.piece) if first.is_unique[row]}
    expected, several = {}, 0
    for piece in range(reads.n_pieces):
        if piece ^ 1 not in own or (piece in own and not (with_strays and piece in strays)):
            continue
        row = own[piece ^ 1]
        target, turned = int(first.target[row]), int(first.turned[row])
        mate = {"mate_turned": turned, "mate_length": READ, "longest": LONGEST}
        at = int(first.at[row] - targets.start[target])
        places = plain_places(encode(texts[piece]), contigs[target].codes, at, **mate)
        several += len(places) > 1
        if len(places) == 1:
            expected[piece] = (target, *places[0], 1 - turned)
    assert len(expected) > 10
    assert not with_strays or len(expected.keys() & set(strays.tolist())) > 3
    assert (several > 0) == bool(seed % 2)
    assert found == expected


def test_nothing_to_lay_and_nobody_beside():
    reads = reads_of([])
    contigs = [contig_of(random_codes(np.random.default_rng(0), 300))]
    targets, index = targets_of(contigs, reads)
    first, _ = lay_reads(reads, targets, index)
    assert lay_by_mates(reads, first, targets, longest=LONGEST).n == 0
    rng = np.random.default_rng(1)
    reads = reads_of([decode(random_codes(rng, READ)) for _ in range(2)])  # neither mate lies anywhere
    first, _ = lay_reads(reads, targets, index)
    assert lay_by_mates(reads, first, targets, longest=LONGEST).n == 0


@pytest.mark.parametrize("without", [(), ("mate-places",)])
def test_a_copy_gets_its_own_base_back(without):
    """Both contigs say what one copy says; only the mates tell which reads are the other's."""
    rng = np.random.default_rng(7)
    one, other = two_copies(rng, repeat=220)
    place = 900 + 110
    true = changed(other, place)
    texts = pairs_from(one, fold=20, rng=rng) + pairs_from(true, fold=20, rng=rng)
    checked = check_contigs([contig_of(one), contig_of(other)], reads_of(texts), min_length=1, without=without)
    bases = {contig.codes.tobytes() for contig in checked.contigs}
    told = (true.tobytes() in bases, one.tobytes() in bases)
    assert told == ((False, True) if without else (True, True))
    assert checked.counts["bases_changed"] == (0 if without else 1)


def test_a_copy_gets_its_own_base_back_though_another_has_it_too():
    """All reads of that base lie on the other one; their mates stand beside the copy, which stays whole."""
    rng = np.random.default_rng(7)
    one, other = two_copies(rng, repeat=420)
    place = 900 + 210
    true = changed(other, place)
    third = np.concatenate([random_codes(rng, 900), true[900:1320], random_codes(rng, 900)])
    texts = [text for codes in (one, true, third) for text in pairs_from(codes, fold=30, rng=rng)]
    contigs = [contig_of(codes) for codes in (one, other, third)]
    checked = check_contigs(contigs, reads_of(texts), min_length=1)
    assert {c.codes.tobytes() for c in checked.contigs} == {codes.tobytes() for codes in (one, true, third)}
    assert checked.counts["bases_changed"] == 1
    assert checked.counts["joins_broken"] == 0


def test_the_order_and_the_strand_of_pairs_do_not_matter():
    rng = np.random.default_rng(9)
    one, other = two_copies(rng, repeat=220)
    texts = pairs_from(one, fold=15, rng=rng) + pairs_from(changed(other, 1010), fold=15, rng=rng)
    pairs = [texts[i : i + 2] for i in range(0, len(texts), 2)]
    turned = [text for pair in reversed(pairs) for text in reversed(pair)]
    contigs = [contig_of(one), contig_of(other)]
    first, second = (check_contigs(contigs, reads_of(t), min_length=1) for t in (texts, turned))
    assert [c.codes.tobytes() for c in first.contigs] == [c.codes.tobytes() for c in second.contigs]
