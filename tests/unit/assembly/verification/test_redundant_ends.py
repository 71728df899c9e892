"""Redundant contig ends: sequence of other contigs, of as many copies as these are, or of one more."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.alignment.self_alignment import SelfAlignment
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.options import rules_without
from gpuasm.assembly.verification.contig_checks import check_contigs
from gpuasm.assembly.verification.redundant_ends import EndCopies, find_redundant_ends
from gpuasm.sequence.encoding import reverse_complement
from gpuasm.sequence.reads import Reads
from tests.assembly_library import READ, pairs_from, random_codes

SIDE, SHARED, FOLD = 3000, 300, 30
OTHERS = ("end-extension", "breaks", "polishing")


def contig(codes, *, free=(True, True), circular=False):
    return Contig("", codes, 40.0, 1, is_circular=circular, unitig=0, free_ends=free)


@pytest.fixture
def parts(rng):
    """A left side, a shared sequence, a right side, and the left side of a false contig."""
    a, shared, b, c = (random_codes(rng, size) for size in (SIDE, SHARED, SIDE, SIDE))
    c[-1] = 3 - a[-1]
    return [a, shared, b, c]


def checked(contigs, genomes, *, rng, without=OTHERS, paired=True):
    texts = [text for genome in genomes for text in pairs_from(genome, fold=FOLD, rng=rng)]
    return check_contigs(contigs, Reads.from_strings(texts, paired=paired), min_length=1, rules=rules_without(without))


@pytest.mark.parametrize("is_flipped", [False, True])
def test_where_depth_shows_nothing_contained_contigs_are_removed(rng, is_flipped):
    whole, other = random_codes(rng, 900), random_codes(rng, 800)
    parts = [whole[200:500], whole[600:], whole, whole[200:500], np.append(whole[300:400], other)]
    own = [contig(reverse_complement(part) if is_flipped and i < 2 else part) for i, part in enumerate(parts)]
    found = checked(own, [whole, parts[-1]], rng=rng, without=(*OTHERS, "redundant-ends"))
    assert [one.length for one in found.contigs] == [900, 900]
    assert found.counts["contained_contigs"] == 3


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("is_flipped", [False, True])
def test_redundant_end_is_trimmed(rng, parts, is_flipped, paired):
    a, shared, b, c = parts
    false = np.concatenate([c, shared])
    contigs = [contig(np.concatenate([a, shared, b])), contig(reverse_complement(false) if is_flipped else false)]
    genomes = [contigs[0].codes, np.concatenate([c, random_codes(rng, SIDE)])]
    found = checked(contigs, genomes, rng=rng, paired=paired)
    assert found.counts["redundant_ends"] == 1
    assert [own.length for own in found.contigs] == pytest.approx([contigs[0].length, SIDE], abs=5)
    assert found.contigs[0].sequence == contigs[0].sequence
    removed = found.contigs[1].length - contigs[1].length
    assert (found.contigs[1].unitig, found.contigs[1].extended) == (0, (0, removed) if is_flipped else (removed, 0))
    assert found.depth.size == sum(own.length for own in found.contigs)
    assert found.counts["joins_broken"] == 0
    left_out = checked(contigs, genomes, rng=rng, without=(*OTHERS, "redundant-ends"), paired=paired)
    assert left_out.counts["redundant_ends"] == 0
    assert [own.length for own in left_out.contigs] == [own.length for own in contigs]


def test_end_of_a_second_copy_is_kept(rng, parts):
    a, shared, b, c = parts
    contigs = [contig(np.concatenate([a, shared, b])), contig(np.concatenate([c, shared]))]
    genomes = [contigs[0].codes, np.concatenate([contigs[1].codes, random_codes(rng, SIDE)])]
    assert checked(contigs, genomes, rng=rng).counts["redundant_ends"] == 0


def test_contig_contained_in_another_is_removed(rng, parts):
    a, shared, b, _ = parts
    whole = np.concatenate([a, shared, b])
    found = checked([contig(whole), contig(shared)], [whole], rng=rng)
    assert [own.length for own in found.contigs] == [whole.size]
    assert found.counts["redundant_ends"] == 1


def nearly(text, n_changed):
    """Change evenly spaced bases of a text."""
    at = np.linspace(0, text.size, n_changed + 2).astype(int)[1:-1]
    changed = text.copy()
    changed[at] = (changed[at] + 1) % 4
    return changed


@pytest.mark.parametrize("is_flipped", [False, True])
def test_nearly_identical_redundant_end_is_trimmed(rng, parts, is_flipped):
    """Reads align to the correct copy, so the false end has none, and no base of it is corrected."""
    a, shared, b, c = parts
    false = np.concatenate([c, nearly(shared, 6)])
    contigs = [contig(np.concatenate([a, shared, b])), contig(reverse_complement(false) if is_flipped else false)]
    genomes = [contigs[0].codes, np.concatenate([c, random_codes(rng, SIDE)])]
    found = checked(contigs, genomes, rng=rng)
    assert found.counts["redundant_ends"] == 1
    assert [own.length for own in found.contigs] == pytest.approx([contigs[0].length, SIDE], abs=5)


@pytest.mark.parametrize(("n_true", "n_false"), [(2, 1), (3, 1), (1, 2), (2, 0), (3, 0)])
def test_as_many_ends_are_trimmed_as_are_redundant(rng, parts, n_true, n_false):
    """Of three copies with the reads of two, one is removed, not each of them."""
    _, shared, _, c = parts
    true = [np.concatenate([random_codes(rng, SIDE), shared, random_codes(rng, SIDE)]) for _ in range(n_true)]
    false = [np.concatenate([random_codes(rng, SIDE), shared]) for _ in range(n_false)]
    found = checked([contig(own) for own in true + false], [*true, *(own[:SIDE] for own in false), c], rng=rng)
    assert found.counts["redundant_ends"] == n_false
    assert sorted(own.length for own in found.contigs)[:n_false] == pytest.approx(n_false * [SIDE], abs=READ)


def trimmed(contigs, depth_of_shared):
    """Return the stretches trimmed where the shared bases behind a side have a given depth and no unique read."""
    bounds = np.concatenate([[0], np.cumsum([own.length for own in contigs])])
    depth = np.full(bounds[-1], FOLD, np.int32)
    own_depth = depth.copy()
    for first in bounds[:-1].tolist():
        depth[first + SIDE : first + SIDE + SHARED] = depth_of_shared
        own_depth[first + SIDE : first + SIDE + SHARED] = 0
    return find_redundant_ends(contigs, depth, own_depth, read_length=READ).tolist()


@pytest.mark.parametrize("changed", ["nothing", "continued", "circular", "read", "short", "another text"])
def test_possible_second_copy_is_kept(rng, parts, changed):
    a, shared, b, c = parts
    whole, end = contig(np.concatenate([a, shared, b])), np.concatenate([c, shared])
    contigs = [whole, contig(end, free=(changed != "continued", True), circular=changed == "circular")]
    if changed == "another text":
        contigs[1] = contig(np.concatenate([c, random_codes(rng, SHARED)]))
    if changed == "short":
        contigs[1] = contig(np.concatenate([c, shared[: READ - 1]]))
    expected = [[whole.length + SIDE, whole.length + SIDE + SHARED]] if changed in ("nothing", "continued") else []
    if changed == "read":
        depth = np.full(whole.length + end.size, FOLD // 2, np.int32)
        assert find_redundant_ends(contigs, depth, np.ones_like(depth), read_length=READ).tolist() == []
    else:
        assert trimmed(contigs, FOLD // 2) == expected


@pytest.mark.parametrize(("share", "is_found"), [(0.5, True), (0.67, True), (0.7, False), (1.0, False)])
def test_reads_must_be_far_likelier_of_one_copy_less(parts, share, is_found):
    """A copy has 90 reads: of 120 the odds are e^(90 - 120 ln 2), nearly a thousand; of 126 fourteen."""
    a, shared, b, c = parts
    contigs = [contig(np.concatenate([a, shared, b])), contig(np.concatenate([c, shared]))]
    assert len(trimmed(contigs, round(share * FOLD))) == int(is_found)


def test_copies_have_the_depth_of_their_contigs(parts):
    """Next to a replicon in three copies, a quarter of the reads is one copy's."""
    a, shared, b, c = parts
    contigs = [contig(np.concatenate([a, shared, b])), contig(np.concatenate([c, shared]))]
    first = contigs[0].length
    depth = np.full(first + contigs[1].length, FOLD, np.int32)
    depth[:first] *= 3
    depth[first + SIDE :] = FOLD
    own_depth = depth.copy()
    own_depth[first + SIDE :] = 0
    assert find_redundant_ends(contigs, depth, own_depth, read_length=READ).tolist() == []
    depth[first + SIDE :] = 0
    found = find_redundant_ends(contigs, depth, own_depth, read_length=READ)
    assert found.tolist() == [[first + SIDE, depth.size]]


@pytest.mark.parametrize(("varies", "share", "is_found"), [(False, 0.65, True), (True, 0.65, False), (True, 0.3, True)])
def test_overdispersed_depth_needs_stronger_evidence(parts, varies, share, is_found):
    """Two in three windows of two read lengths have two thirds more or fewer reads than the third."""
    a, shared, b, c = parts
    contigs = [contig(np.concatenate([a, shared, b])), contig(np.concatenate([c, shared]))]
    depth = np.full(contigs[0].length + contigs[1].length, FOLD, np.int32)
    if varies:
        depth += (np.arange(depth.size) // (2 * READ) % 3 - 1).astype(np.int32) * (FOLD * 2 // 3)
    own_depth = depth.copy()
    for first in (0, contigs[0].length):
        depth[first + SIDE : first + SIDE + SHARED] = round(share * FOLD)
        own_depth[first + SIDE : first + SIDE + SHARED] = 0
    assert (find_redundant_ends(contigs, depth, own_depth, read_length=READ).size > 0) == is_found


def test_low_depth_at_molecule_ends_is_no_evidence(rng):
    """Both ends of a genome are one inverted repeat; few fragments cover the last bases."""
    repeat = random_codes(rng, 1000)
    genome = np.concatenate([repeat, random_codes(rng, SIDE), reverse_complement(repeat)])
    found = checked([contig(genome)], [genome], rng=rng)
    assert found.counts["redundant_ends"] == 0
    assert found.contigs[0].length == genome.size


@given(st.integers(0, 10**9), st.integers(0, 3), st.floats(0.2, 1.5))
def test_least_likely_part_is_that_of_all_stretches(seed, n_others, share):
    rng = np.random.default_rng(seed)
    n, read_length = 60, 10
    depth = rng.poisson(20 * share, 4 * n).astype(np.int32)
    bounds = np.arange(5) * n
    is_copy = rng.random(4 * n) < 0.9
    alignments = []
    for other in range(1, n_others + 1):
        low, high = sorted(rng.choice(n + 1, 2, replace=False).tolist())
        begin = other * n + int(rng.integers(0, n - (high - low) + 1))
        alignments.append(SelfAlignment(other, low, high, begin, begin + high - low, bool(rng.integers(2))))
    reads, others = depth[:n].astype(float), np.zeros(n)
    for own in alignments:
        for i in range(own.low, own.high):
            at = own.end - 1 - (i - own.low) if own.is_reversed else own.begin + i - own.low
            reads[i] += depth[at]
            others[i] += is_copy[at] * 20.0
    odds = [
        (20 - reads[i] * log(1 + 20 / others[i])) / read_length if others[i] and is_copy[i] else -100.0
        for i in range(n)
    ]
    best = max((sum(odds[i:j]) for i in range(n) for j in range(i + 1, n + 1)), default=0.0)
    found, low, high = EndCopies(depth, is_copy, bounds, np.full(4, 20.0), read_length).least_likely_part(
        (0, n), alignments
    )
    if high > low:
        assert found == pytest.approx(sum(odds[low:high]))
        assert found == pytest.approx(best)
    else:
        ends = [reads[:10].sum() * 5, reads[-10:].sum() * 5]
        assert best <= 0 or min(ends) < 10 * reads.max()
