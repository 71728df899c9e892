"""Rescued mates, against a plain search of every place within reach, and the bases that they correct."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.alignment.contig_alignment import align_reads
from gpuasm.assembly.alignment.mate_rescue import rescue_mates
from gpuasm.assembly.alignment.seed_index import targets_of
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.options import rules_without
from gpuasm.assembly.pairs.insert_sizes import find_discordant_pairs
from gpuasm.assembly.verification.contig_checks import check_contigs
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.assembly_library import READ, pairs_from, random_codes

LONGEST = 500


def contig_of(codes):
    return Contig("c", codes, 10.0, 1, False, -1)


def reads_of(texts):
    return Reads.from_strings(texts, paired=True)


def changed(codes, place):
    other = codes.copy()
    other[place] = (other[place] + 1) % 4
    return other


def plain_places(text, contig, mate_at, *, mate_is_reversed, mate_length, longest):
    """Return every place of a read in reach of its mate at which at most one base in twelve differs."""
    n, size = text.size, contig.size
    codes = text if mate_is_reversed else reverse_complement(text)
    found = []
    for at in range(-n, size):
        insert = mate_at + mate_length - at if mate_is_reversed else at + n - mate_at
        begin, end = max(0, at), min(size, at + n)
        if not max(n, mate_length) <= insert <= longest or end - begin < 31:
            continue
        mismatches = int((codes[begin - at : end - at] != contig[begin:end]).sum())
        if mismatches <= (end - begin) // 12:
            found.append((at, mismatches))
    return found


def two_copies(rng, *, repeat):
    """Return two texts that have a repeat in common, between unique sides."""
    copy = random_codes(rng, repeat)
    return [np.concatenate([random_codes(rng, 900), copy, random_codes(rng, 900)]) for _ in range(2)]


@pytest.mark.parametrize("with_discordant", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_rescued_mates_are_those_of_a_plain_search(seed, with_discordant):
    rng = np.random.default_rng(seed)
    unit = random_codes(rng, 60)
    one, other = two_copies(rng, repeat=250)
    if seed % 2:  # a tandem repeat, where several places are in reach
        one = np.concatenate([one[:300], np.tile(unit, 4), one[300:]])
    contigs = [contig_of(one), contig_of(changed(other, 1000))]
    texts = [text for codes in (one, other) for text in pairs_from(codes, fold=20, rng=rng)]
    reads = reads_of(texts)
    targets, index = targets_of(contigs, reads)
    first, _ = align_reads(reads, targets, index)
    discordant = find_discordant_pairs(reads, first, targets, longest=LONGEST).segment if with_discordant else None
    aligned = rescue_mates(reads, first, targets, longest=LONGEST, discordant=discordant)
    found = {
        int(p): (int(t), int(a - targets.start[t]), int(m), int(is_reversed))
        for p, t, a, m, is_reversed in zip(
            aligned.segment, aligned.target, aligned.at, aligned.mismatches, aligned.is_reversed, strict=True
        )
    }
    own = {int(p): row for row, p in enumerate(first.segment) if first.is_unique[row]}
    expected, several = {}, 0
    for segment in range(reads.n_segments):
        if segment ^ 1 not in own or (segment in own and not (with_discordant and segment in discordant)):
            continue
        row = own[segment ^ 1]
        target, is_reversed = int(first.target[row]), int(first.is_reversed[row])
        mate = {"mate_is_reversed": is_reversed, "mate_length": READ, "longest": LONGEST}
        at = int(first.at[row] - targets.start[target])
        places = plain_places(encode(texts[segment]), contigs[target].codes, at, **mate)
        several += len(places) > 1
        if len(places) == 1:
            expected[segment] = (target, *places[0], 1 - is_reversed)
    assert len(expected) > 10
    assert not with_discordant or len(expected.keys() & set(discordant.tolist())) > 3
    assert (several > 0) == bool(seed % 2)
    assert found == expected


def test_no_reads_and_no_aligned_mates():
    reads = reads_of([])
    contigs = [contig_of(random_codes(np.random.default_rng(0), 300))]
    targets, index = targets_of(contigs, reads)
    first, _ = align_reads(reads, targets, index)
    assert rescue_mates(reads, first, targets, longest=LONGEST).n == 0
    rng = np.random.default_rng(1)
    reads = reads_of([decode(random_codes(rng, READ)) for _ in range(2)])  # neither mate aligns
    first, _ = align_reads(reads, targets, index)
    assert rescue_mates(reads, first, targets, longest=LONGEST).n == 0


@pytest.mark.parametrize("without", [(), ("polishing",)])
def test_base_of_a_copy_is_corrected_by_rescued_mates(without):
    """Both contigs have the base of one copy; only mates show which reads are of the other."""
    rng = np.random.default_rng(7)
    one, other = two_copies(rng, repeat=220)
    place = 900 + 110
    true = changed(other, place)
    texts = pairs_from(one, fold=20, rng=rng) + pairs_from(true, fold=20, rng=rng)
    checked = check_contigs(
        [contig_of(one), contig_of(other)], reads_of(texts), min_length=1, rules=rules_without(without)
    )
    bases = {contig.codes.tobytes() for contig in checked.contigs}
    present = (true.tobytes() in bases, one.tobytes() in bases)
    assert present == ((False, True) if without else (True, True))
    assert checked.counts["bases_changed"] == (0 if without else 1)


def test_base_of_a_copy_is_corrected_if_a_third_copy_has_it():
    """All reads with that base align to the third copy; their mates align next to the wrong one, which stays whole."""
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


def test_order_of_pairs_and_mates_does_not_matter():
    rng = np.random.default_rng(9)
    one, other = two_copies(rng, repeat=220)
    texts = pairs_from(one, fold=15, rng=rng) + pairs_from(changed(other, 1010), fold=15, rng=rng)
    pairs = [texts[i : i + 2] for i in range(0, len(texts), 2)]
    is_reversed = [text for pair in reversed(pairs) for text in reversed(pair)]
    contigs = [contig_of(one), contig_of(other)]
    first, second = (check_contigs(contigs, reads_of(t), min_length=1) for t in (texts, is_reversed))
    assert [c.codes.tobytes() for c in first.contigs] == [c.codes.tobytes() for c in second.contigs]
