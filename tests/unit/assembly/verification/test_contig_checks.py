"""Verification of contigs: depth, copies, planted errors corrected, chimeras broken, true contigs unchanged."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.alignment import contig_alignment
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.coverage.contig_depth import summarise, window_means
from gpuasm.assembly.options import rules_without
from gpuasm.assembly.verification.contig_checks import check_contigs
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.genomes import Molecule
from gpuasm.sequence.reads import Reads
from gpuasm.sequence.simulation import ReadOptions, ReadSimulation, read_texts
from gpuasm.threads import set_threads


def contig(codes, *, circular=False, depth=1.0):
    return Contig("", np.asarray(codes, np.uint8), depth, 1, circular, 0)


def reads_of(molecules, *, fold=40, single=False, **options):
    simulation = ReadSimulation([molecules], ReadOptions(fold, single=single, **options))
    return Reads.from_strings(read_texts(simulation), paired=not single)


@pytest.fixture(scope="module")
def genome():
    return np.random.default_rng(7).integers(0, 4, 30_000).astype(np.uint8)


@pytest.fixture(scope="module")
def pairs(genome):
    return reads_of([Molecule("genome", genome)])


def test_true_contigs_are_unchanged(genome, pairs):
    checked = check_contigs([contig(genome[:12_000]), contig(reverse_complement(genome[12_000:]))], pairs, min_length=1)
    assert [c.codes.tobytes() for c in checked.contigs] == [
        reverse_complement(genome[12_000:]).tobytes(),
        genome[:12_000].tobytes(),
    ]
    assert [c.name for c in checked.contigs] == ["contig_000001", "contig_000002"]
    assert [c.unitig for c in checked.contigs] == [0, 0]
    assert [c.copies for c in checked.contigs] == [1, 1]
    assert all(c.depth == pytest.approx(40, rel=0.05) for c in checked.contigs)
    assert checked.counts["reads_aligned"] == checked.counts["reads"] == pairs.n_segments
    assert checked.counts["pairs_aligned"] >= 0.95 * pairs.n_reads / 2
    assert checked.counts["bases_changed"] == checked.counts["joins_broken"] == 0


@pytest.mark.parametrize(("n_true", "is_kept"), [(0, False), (800, False), (1200, True)])
def test_contig_with_reads_on_less_than_half_of_its_bases_is_removed(genome, rng, n_true, is_kept):
    """Its first bases are of another genome; the rest has errors, so that its reads fit the true contig better."""
    genome, false = genome[:8000], genome[4000:6000].copy()
    false[:n_true] = rng.integers(0, 4, n_true)
    false[n_true + 30 :: 60] ^= 1
    molecules = [Molecule("genome", genome), *([Molecule("other", false[:n_true])] if n_true else [])]
    checked = check_contigs([contig(genome), contig(false)], reads_of(molecules, fold=20), min_length=1)
    assert [own.length for own in checked.contigs] == [8000, 2000][: 1 + is_kept]
    assert checked.contigs[0].codes.tobytes() == genome.tobytes()
    assert checked.counts["unread_contigs"] == 1 - is_kept
    assert checked.depth.size == sum(own.length for own in checked.contigs)


def test_where_most_reads_do_not_align_contigs_without_reads_are_kept(genome):
    reads = reads_of([Molecule("genome", genome[:2000]), Molecule("other", genome[4000:8000])], fold=20)
    contigs = [contig(genome[:2000]), contig(genome[2000:4000])]
    assert len(check_contigs(contigs, reads, min_length=1).contigs) == 2


@pytest.mark.parametrize("paired", [True, False])
def test_planted_errors_are_corrected(genome, pairs, rng, paired):
    places = rng.choice(np.arange(200, genome.size - 200), 60, replace=False)
    wrong = genome.copy()
    wrong[places] = (wrong[places] + rng.integers(1, 4, places.size)) % 4
    checked = check_contigs([contig(wrong)], replace(pairs, paired=paired), min_length=1)
    assert checked.contigs[0].codes.tobytes() == genome.tobytes()
    assert checked.counts["bases_changed"] == 60
    left_out = check_contigs(
        [contig(wrong)], replace(pairs, paired=paired), min_length=1, rules=rules_without(("polishing",))
    )
    assert left_out.contigs[0].codes.tobytes() == wrong.tobytes()


def test_base_with_disagreeing_reads_is_kept(genome):
    other = genome[:6000].copy()
    other[1000] ^= 1
    texts = [decode(own[i : i + 100]) for own in (genome, other) for i in range(0, 5900, 5)]
    for codes in (genome[:6000], other):
        checked = check_contigs([contig(codes)], Reads.from_strings(texts), min_length=1)
        assert checked.contigs[0].codes.tobytes() == codes.tobytes()


def test_repeat_copy_at_a_contig_end_is_not_corrected_by_other_copies(rng):
    unique, repeat = rng.integers(0, 4, (7, 3000)).astype(np.uint8), rng.integers(0, 4, 700).astype(np.uint8)
    variant = repeat.copy()
    variant[400] ^= 1
    copies = [variant, *[repeat] * 6]
    molecules = [Molecule(f"m{i}", np.concatenate([unique[i], copies[i], unique[i - 1][:500]])) for i in range(7)]
    contigs = [contig(np.concatenate([unique[0], variant])), *map(contig, unique[1:])]
    checked = check_contigs(contigs, reads_of(molecules), min_length=1)
    assert checked.counts["bases_changed"] == 0
    assert checked.contigs[0].codes.tobytes() == contigs[0].codes.tobytes()


def test_two_reads_correct_a_base_and_one_does_not(genome):
    wrong = genome[:500].copy()
    wrong[250] ^= 2
    reads = [decode(genome[i : i + 100]) for i in (170, 180, 190)]
    for n, changed in ((1, 0), (2, 1)):
        assert (
            check_contigs([contig(wrong)], Reads.from_strings(reads[:n]), min_length=1).counts["bases_changed"]
            == changed
        )


@pytest.mark.parametrize(
    ("against", "agreeing", "changed"),
    [(3, 1, 1), (3, 2, 1), (3, 3, 0), (5, 2, 1), (5, 3, 0), (2, 0, 1), (2, 1, 1), (2, 2, 0)],
)
def test_reads_correct_a_base_against_at_most_two_fewer_ones(genome, against, agreeing, changed):
    wrong = genome[:500].copy()
    wrong[250] ^= 2
    reads = [decode(genome[160 + 9 * i :][:100]) for i in range(against)]
    reads += [decode(wrong[165 + 9 * i :][:100]) for i in range(agreeing)]
    checked = check_contigs([contig(wrong)], Reads.from_strings(reads), min_length=1)
    assert checked.counts["bases_changed"] == changed


def test_planted_chimera_is_broken_at_its_join(genome, pairs):
    chimera = np.concatenate([genome[:8000], reverse_complement(genome[18_000:25_000])])
    others = [contig(genome[8000:18_000]), contig(genome[25_000:])]
    checked = check_contigs([contig(chimera), *others], pairs, min_length=1)
    assert checked.counts["joins_broken"] == 1
    assert [c.length for c in checked.contigs] == pytest.approx([10_000, 8000, 7000, 5000], abs=8)
    assert [c.unitig for c in checked.contigs] == [0, -1, -1, 0]
    assert checked.depth.size == 30_000
    assert checked.depth.mean() == pytest.approx(40, rel=0.05)
    assert check_contigs([contig(chimera), *others], pairs, min_length=9000).bounds.tolist() == [0, 10_000]
    without_breaks = rules_without(("breaks",))
    left_out = check_contigs([contig(chimera), *others], pairs, min_length=1, rules=without_breaks)
    assert left_out.counts["joins_broken"] == 0


def test_chimera_over_a_short_repeat_is_broken_within_it(rng):
    repeat, parts = rng.integers(0, 4, 45), rng.integers(0, 4, (4, 8000))
    a, b, c, d = parts.astype(np.uint8)
    true = [np.concatenate([a, repeat, b]).astype(np.uint8), np.concatenate([c, repeat, d]).astype(np.uint8)]
    false = [np.concatenate([a, repeat, d]).astype(np.uint8), np.concatenate([c, repeat, b]).astype(np.uint8)]
    reads = reads_of([Molecule("one", true[0]), Molecule("two", true[1])], fold=60)
    assert check_contigs(list(map(contig, true)), reads, min_length=1).counts["joins_broken"] == 0
    checked = check_contigs(list(map(contig, false)), reads, min_length=1)
    assert checked.counts["joins_broken"] == 2
    assert all(8000 <= c.length <= 8045 for c in checked.contigs)


@pytest.mark.parametrize("single", [True, False])
def test_uncovered_bases_break_nothing(genome, single):
    reads = reads_of([Molecule("left", genome[:10_050]), Molecule("right", genome[10_000:20_000])], single=single)
    checked = check_contigs([contig(genome[:20_000])], reads, min_length=1)
    assert checked.counts["joins_broken"] == 0


def test_low_coverage_breaks_nothing(genome):
    for fold in (2, 5):
        reads = reads_of([Molecule("genome", genome)], fold=fold)
        assert check_contigs([contig(genome)], reads, min_length=1).counts["joins_broken"] == 0


def test_missing_base_breaks_nothing(genome, pairs):
    short = np.concatenate([genome[:15_000], genome[15_001:]])
    for paired in (True, False):
        assert check_contigs([contig(short)], replace(pairs, paired=paired), min_length=1).counts["joins_broken"] == 0


def test_long_repeats_break_nothing(rng):
    element = rng.integers(0, 4, 900).astype(np.uint8)
    unique = rng.integers(0, 4, (4, 4000)).astype(np.uint8)
    genome = np.concatenate([unique[0], element, unique[1], reverse_complement(element), unique[2], element, unique[3]])
    checked = check_contigs([contig(genome)], reads_of([Molecule("g", genome)], fold=100), min_length=1)
    assert checked.counts["joins_broken"] == checked.counts["bases_changed"] == 0
    at = 4000 + 4900 + 450
    assert checked.depth[at - 300 : at + 300].mean() == pytest.approx(100, rel=0.25)  # reads spread over the copies


def test_depth_of_a_circular_contig_is_even_across_its_origin(genome):
    circle = genome[:5000]
    reads = reads_of([Molecule("circle", circle, circular=True)], fold=200)
    for shift in (0, 1777):
        checked = check_contigs([contig(np.roll(circle, shift), circular=True)], reads, min_length=1)
        assert checked.counts["reads_aligned"] == reads.n_segments
        assert checked.depth[:100].mean() == pytest.approx(200, rel=0.15)
        assert checked.depth[-100:].mean() == pytest.approx(200, rel=0.15)
        assert checked.contigs[0].depth == pytest.approx(200, rel=0.02)
        assert checked.contigs[0].is_circular
    linear = check_contigs([contig(circle)], reads, min_length=1)
    assert linear.depth.mean() == pytest.approx(200, rel=0.02)  # reads over its ends have two places


def test_circular_contig_shorter_than_its_reads(rng):
    circle = rng.integers(0, 4, 120).astype(np.uint8)
    around = decode(np.tile(circle, 4))
    reads = Reads.from_strings([around[i : i + 150] for i in range(0, 120, 3)])
    checked = check_contigs([contig(circle, circular=True)], reads, min_length=1)
    assert checked.depth.tolist() == [50] * 120
    assert checked.contigs[0].depth == 50


def test_copies_of_plasmids(genome, rng):
    plasmids = [rng.integers(0, 4, n).astype(np.uint8) for n in (3000, 1200)]
    molecules = [
        Molecule("chromosome", genome, circular=True),
        Molecule("five", plasmids[0], circular=True, copies=5),
        Molecule("twenty", plasmids[1], circular=True, copies=20),
    ]
    contigs = [contig(m.codes, circular=True) for m in molecules]
    checked = check_contigs(contigs, reads_of(molecules, fold=60, seed=3), min_length=1)
    assert [c.copies for c in checked.contigs] == [1, 5, 20]


def test_short_linear_contigs_keep_the_depth_of_their_kmers(genome, pairs):
    contigs = [contig(genome[:29_500], depth=37.0), contig(genome[29_500:], depth=74.0)]
    checked = check_contigs(contigs, pairs, min_length=1)
    assert checked.table.has_core.tolist() == [True, False]
    assert checked.contigs[1].depth == pytest.approx(2 * checked.contigs[0].depth)
    assert [c.copies for c in checked.contigs] == [1, 2]


def test_gaps_have_no_depth_and_are_not_counted(genome, pairs):
    gap = np.full(100, 4, np.uint8)
    scaffold = np.concatenate([genome[:10_000], gap, genome[10_100:]])
    checked = check_contigs([contig(scaffold)], pairs, min_length=1)
    assert checked.contigs[0].codes.tobytes() == scaffold.tobytes()
    assert checked.depth[10_000:10_100].max() == 0
    assert checked.table.breadth[0] == pytest.approx(1, abs=1e-3)
    assert checked.contigs[0].depth == pytest.approx(40, rel=0.05)


def test_threads_batches_and_order_do_not_matter(genome, pairs, monkeypatch):
    wrong = genome.copy()
    wrong[5000] ^= 1
    results = []
    for threads, batch in ((1, 1 << 22), (2, 1 << 22), (2, 999)):
        monkeypatch.setattr(contig_alignment, "_BATCH", batch)
        set_threads(threads)
        results.append(check_contigs([contig(wrong)], pairs, min_length=1))
    assert results[0].counts == results[1].counts
    order = np.random.default_rng(1).permutation(pairs.n_reads // 2)
    segments = np.stack([2 * order, 2 * order + 1], axis=1).ravel()
    results.append(check_contigs([contig(wrong)], replace(pairs.select(segments), read=pairs.read), min_length=1))
    set_threads(None)
    assert results[2].counts == results[3].counts  # the batches hold the same pairs
    for other in results[1:]:
        assert np.array_equal(results[0].depth, other.depth)
        assert results[0].contigs[0].sequence == other.contigs[0].sequence
        assert results[0].contigs[0].depth == other.contigs[0].depth


def test_no_contigs_and_no_reads(genome):
    empty = check_contigs([], Reads.from_strings(["ACGT" * 30]), min_length=1)
    assert (empty.contigs, empty.depth.size, empty.bounds.tolist()) == ([], 0, [0])
    (bare,) = check_contigs(
        [contig(genome[:3000], depth=3.0)], Reads.from_strings([], paired=True), min_length=1
    ).contigs
    assert (bare.copies, bare.depth) == (1, 0.0)


@given(
    depth=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=30), max_size=4),
    seed=st.integers(0, 2**32 - 1),
    share=st.sampled_from([0.0, 0.3, 1.0]),
)
@settings(max_examples=50)
def test_summaries_are_those_of_numpy_over_the_core(depth, seed, share):
    bounds = np.concatenate([[0], np.cumsum([len(own) for own in depth])]).astype(np.int64)
    flat = np.array([d for own in depth for d in own], np.int32)
    is_core = np.random.default_rng(seed).random(flat.size) < share
    table = summarise(flat, np.ones(flat.size, dtype=bool), is_core, bounds)
    cores = [flat[a:b][is_core[a:b]] for a, b in itertools.pairwise(bounds)]
    summarised = [core if core.size else np.array(own) for core, own in zip(cores, depth, strict=True)]
    assert table.has_core.tolist() == [core.size > 0 for core in cores]
    assert table.mean == pytest.approx([np.mean(own) for own in summarised])
    assert table.variance == pytest.approx([np.var(own) for own in summarised], abs=1e-9)
    assert table.median.tolist() == [sorted(own)[(len(own) - 1) // 2] for own in summarised]
    assert table.least.tolist() == [min(own) for own in summarised]
    assert table.breadth == pytest.approx([np.mean(own > 0) for own in summarised])
    contig_of, begin, mean = window_means(flat, bounds, 7)
    expected = [(c, i, np.mean(own[i : i + 7])) for c, own in enumerate(depth) for i in range(0, len(own), 7)]
    assert list(zip(contig_of.tolist(), begin.tolist(), strict=True)) == [(c, i) for c, i, _ in expected]
    assert mean == pytest.approx([m for _, _, m in expected])
