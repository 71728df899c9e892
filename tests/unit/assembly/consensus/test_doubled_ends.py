"""Doubled ends: ends that another contig tells too, of a sequence that the genome has once, or twice."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.consensus.consensus import check_contigs
from gpuasm.assembly.consensus.doubled_ends import find_doubled
from gpuasm.assembly.consensus.ends_inside import ends_inside
from gpuasm.assembly.contigs import Contig
from gpuasm.sequence.encoding import reverse_complement
from gpuasm.sequence.reads import Reads
from tests.unit.assembly.consensus.library import READ, pairs_from, random_codes

SIDE, SHARED, FOLD = 3000, 300, 30
OTHERS = ("end-extension", "departures", "unspanned", "rival-ends", "collapsed", "votes")


def contig(codes, *, free=(True, True), circular=False):
    return Contig("", codes, 40.0, 1, is_circular=circular, unitig=0, free_ends=free)


@pytest.fixture
def parts(rng):
    """A sequence between its two sides, and what a false contig begins with, which ends otherwise than the left."""
    a, shared, b, c = (random_codes(rng, size) for size in (SIDE, SHARED, SIDE, SIDE))
    c[-1] = 3 - a[-1]
    return [a, shared, b, c]


def checked(contigs, genomes, *, rng, without=OTHERS, paired=True):
    texts = [text for genome in genomes for text in pairs_from(genome, fold=FOLD, rng=rng)]
    return check_contigs(contigs, Reads.from_strings(texts, paired=paired), min_length=1, without=without)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("is_turned", [False, True])
def test_an_end_that_the_genome_has_once_is_told_once(rng, parts, is_turned, paired):
    a, shared, b, c = parts
    false = np.concatenate([c, shared])
    contigs = [contig(np.concatenate([a, shared, b])), contig(reverse_complement(false) if is_turned else false)]
    genomes = [contigs[0].codes, np.concatenate([c, random_codes(rng, SIDE)])]
    found = checked(contigs, genomes, rng=rng, paired=paired)
    assert found.counts["doubled_ends"] == 1
    assert [own.length for own in found.contigs] == pytest.approx([contigs[0].length, SIDE], abs=5)
    assert found.contigs[0].sequence == contigs[0].sequence
    assert found.depth.size == sum(own.length for own in found.contigs)
    assert found.counts["joins_broken"] == 0
    left_out = checked(contigs, genomes, rng=rng, without=(*OTHERS, "doubled-ends"), paired=paired)
    assert left_out.counts["doubled_ends"] == 0
    assert [own.length for own in left_out.contigs] == [own.length for own in contigs]


def test_an_end_that_the_genome_has_twice_stays(rng, parts):
    a, shared, b, c = parts
    contigs = [contig(np.concatenate([a, shared, b])), contig(np.concatenate([c, shared]))]
    genomes = [contigs[0].codes, np.concatenate([contigs[1].codes, random_codes(rng, SIDE)])]
    assert checked(contigs, genomes, rng=rng).counts["doubled_ends"] == 0


def test_a_contig_all_of_which_is_told_elsewhere_goes(rng, parts):
    a, shared, b, _ = parts
    whole = np.concatenate([a, shared, b])
    found = checked([contig(whole), contig(shared)], [whole], rng=rng)
    assert [own.length for own in found.contigs] == [whole.size]
    assert found.counts["doubled_ends"] == 1


@pytest.mark.parametrize("changed", ["not free", "a circle", "another place", "at its end", "short"])
def test_what_may_be_another_copy_stays(rng, parts, changed):
    a, shared, b, c = parts
    contigs = [contig(np.concatenate([a, shared, b])), contig(np.concatenate([c, shared]))]
    match changed:
        case "not free":
            contigs[1] = contig(contigs[1].codes, free=(False, True))
        case "a circle":
            contigs[0] = contig(contigs[0].codes, circular=True)
        case "another place":
            contigs.append(contig(np.concatenate([random_codes(rng, SIDE), shared, random_codes(rng, SIDE)])))
        case "at its end":  # what is told there may be one end or the other
            contigs[0] = contig(np.concatenate([a, shared, b[: READ // 2]]), free=(False, False))
        case "short":
            contigs[1] = contig(np.concatenate([c, shared[: READ // 2 + 20]]))
    plain = [contig(np.concatenate([a, shared, b])), contig(np.concatenate([c, shared]))]
    at = plain[0].length + SIDE
    for own, expected in ((contigs, []), (plain, [[at, at + SHARED]])):
        depth = np.full(sum(one.length for one in own), FOLD, np.int32)
        depth[own[0].length + SIDE : own[0].length + own[1].length] = FOLD // 2
        depth[SIDE : SIDE + SHARED] = FOLD // 2
        assert find_doubled(own, ends_inside(own), depth, read_length=READ).tolist() == expected


@pytest.mark.parametrize(("share", "is_found"), [(0.5, True), (0.67, True), (0.7, False), (1.0, False)])
def test_reads_must_be_far_likelier_of_one_copy(rng, parts, share, is_found):
    """A copy has 90 reads: of 120 the odds are e^(90 - 120 ln 2), nearly a thousand; of 126 fourteen."""
    a, shared, b, c = parts
    contigs = [contig(np.concatenate([a, shared, b])), contig(np.concatenate([c, shared]))]
    depth = np.full(sum(own.length for own in contigs), FOLD, np.int32)
    for at in (SIDE, contigs[0].length + SIDE):
        depth[at : at + SHARED] = round(share * FOLD)
    found = find_doubled(contigs, ends_inside(contigs), depth, read_length=READ)
    assert len(found) == int(is_found)
