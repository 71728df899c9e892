"""Bins of communities of known composition."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.clustering.bins.bins import (
    BinOptions,
    NothingToBinError,
    _counts_of_contigs,
    _most_of,
    _without_empty,
    bin_contigs,
    train_contig_map,
)
from gpuasm.clustering.bins.regions import Regions
from gpuasm.clustering.bins.windows import Windows
from gpuasm.errors import DataError
from gpuasm.kmers import count_tetramers
from gpuasm.sequence.encoding import reverse_complement
from tests.communities import community, contigs_of, cut, genome

OPTIONS = BinOptions(least_bin=100_000)


def bins_of(contigs, options=OPTIONS, xp=np):
    return bin_contigs(contigs, train_contig_map(contigs, options, xp=xp), options)


def quality(contigs, owner, bin_of_contig, n_bins):
    """Return completeness and contamination of each genome in the bin that has most of it."""
    bases = np.zeros((owner.max() + 1, n_bins))
    np.add.at(bases, (owner[bin_of_contig >= 0], bin_of_contig[bin_of_contig >= 0]), contigs.length[bin_of_contig >= 0])
    best = bases.argmax(axis=1)
    assert len(set(best.tolist())) == best.size
    whole = np.bincount(owner, contigs.length)
    return bases.max(axis=1) / whole, 1 - bases.max(axis=1) / bases.sum(axis=0)[best]


@pytest.mark.parametrize("with_depth", [True, False])
def test_each_genome_is_a_bin(with_depth):
    contigs, owner = community(4)
    if not with_depth:
        contigs = contigs_of([contigs.codes[a:b] for a, b in zip(contigs.start, contigs.start[1:], strict=False)])
    found = bins_of(contigs)
    assert found.n_bins == 4
    completeness, contamination = quality(contigs, owner, found.bin_of_contig, 4)
    assert completeness.min() > (0.98 if with_depth else 0.95)
    assert contamination.max() < 0.01
    assert found.silhouette.min() > 0.4


@pytest.mark.parametrize("window", [1, 3, 50, 1000])
def test_tetranucleotides_of_whole_contigs_are_counted(rng, window):
    parts = [rng.integers(0, 5, n, np.uint8) for n in (1, 2, 3, 4, 49, 99, 100, 101, 700)]
    contigs = contigs_of(parts)
    whole = count_tetramers(contigs.codes, contigs.start[:-1], contigs.start[1:])
    assert np.array_equal(_counts_of_contigs(contigs, window, np), whole)


@pytest.mark.parametrize("window", [500, 1000, 20_000])
def test_genomes_are_separated_with_any_window_length(window):
    contigs, owner = community(3)
    found = bins_of(contigs, BinOptions(window=window, least_bin=100_000))
    assert found.n_bins == 3
    assert quality(contigs, owner, found.bin_of_contig, 3)[1].max() < 0.02


def test_an_isolate_is_one_bin():
    contigs, _ = community(1)
    found = bins_of(contigs)
    assert found.n_bins == 1
    assert found.bin_of_contig.max() == 0
    assert (contigs.length[found.bin_of_contig < 0] < OPTIONS.shortest).all()
    assert np.isnan(found.silhouette).all()


def test_contamination_of_an_isolate_is_a_bin_of_its_own():
    parts = [*cut(genome(500_000, 1), (60_000,)), *cut(genome(110_000, 2), (5500,))]
    owner = np.array([0] * 9 + [1] * 20)
    found = bins_of(contigs_of(parts, np.where(owner, 4.0, 50.0)))
    assert found.bin_of_contig.tolist() == owner.tolist()


def test_small_groups_join_the_isolate_with_a_note():
    parts = [*cut(genome(500_000, 1), (60_000,)), *cut(genome(60_000, 2), (6000,))]
    found = bins_of(contigs_of(parts, [20.0] * 9 + [90.0] * 10))
    assert found.n_bins == 1
    assert found.regions.n == 2
    assert (found.bin_of_region[found.region_of_contig[9:]] == -1).all()
    assert (found.bin_of_contig == 0).all()


def test_a_region_with_only_minor_parts_of_contigs_is_not_a_bin():
    chimera = np.concatenate([genome(200_000, 1), genome(150_000, 2)])
    parts = [*cut(genome(400_000, 1), (20_000,)), *cut(genome(400_000, 3), (20_000,)), chimera]
    found = bins_of(contigs_of(parts, [20.0] * 20 + [60.0] * 20 + [20.0]))
    region = found.regions.of_row[found.windows.contig == 40]
    assert len(set(region.tolist())) == 2
    assert found.n_bins == 2
    assert found.bin_of_contig.tolist() == [found.bin_of_contig[0]] * 20 + [found.bin_of_contig[20]] * 20 + [
        found.bin_of_contig[0]
    ]


def test_a_bin_without_probable_contigs_is_removed():
    of_region, some, none = np.array([2, -1, 0, 1]), np.array([True, False, True]), np.zeros(3, bool)
    assert _without_empty(of_region, some).tolist() == [1, -1, 0, -1]
    assert _without_empty(of_region, none).tolist() == [-1, -1, 0, -1]
    contigs, owner = community(3)
    for sureness in (0.9, 0.999999, 1.0):
        try:
            found = bins_of(contigs, BinOptions(least_bin=100_000, shortest=10**9, sureness=sureness))
        except NothingToBinError as error:
            assert "lower --sureness" in str(error)  # noqa: PT017 - no contig may reach a probability of 1
            continue
        assert np.bincount(found.bin_of_contig + 1, minlength=found.n_bins + 1)[1:].min() > 0
        pairs = {tuple(pair) for pair in np.column_stack([owner, found.bin_of_contig]).tolist() if pair[1] >= 0}
        assert len(pairs) == found.n_bins  # no bin holds two genomes


def test_each_contig_has_the_region_with_the_most_of_it():
    windows = Windows(np.array([0, 0, 0, 2, 2]), np.array([0, 5, 9, 0, 4]), np.array([5, 9, 11, 4, 8]))
    regions = Regions(np.arange(3, dtype=np.int32), np.array([2, 0, 0, 2, 1]), 3, 3)
    assert _most_of(windows, regions, 3).tolist() == [0, -1, 1]


def test_genomes_of_equal_composition_are_separated_by_depth():
    whole = genome(600_000, 3)
    parts = cut(whole, (20_000, 7000))
    owner = np.arange(len(parts)) % 2
    found = bins_of(contigs_of(parts, np.where(owner, 8.0, 40.0)))
    assert found.n_bins == 2
    assert len({tuple(pair) for pair in np.column_stack([owner, found.bin_of_contig]).tolist()}) == 2


def test_strand_and_order_of_contigs_do_not_matter(rng):
    contigs, _ = community(3)
    parts = [contigs.codes[a:b] for a, b in zip(contigs.start, contigs.start[1:], strict=False)]
    order = rng.permutation(len(parts))
    turned = [reverse_complement(parts[i]) if i % 2 else parts[i] for i in order]
    found, again = bins_of(contigs), bins_of(contigs_of(turned, contigs.depth[order, 0]))
    same = found.bin_of_contig[order][:, None] == found.bin_of_contig[order]
    assert (same == (again.bin_of_contig[:, None] == again.bin_of_contig)).all()


def test_threads_and_device_do_not_matter(xp, threads):
    contigs, _ = community(3)
    found, expected = bins_of(contigs, xp=xp), bins_of(contigs)
    for name in ("window_unit", "bin_of_contig", "contig_units"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert np.array_equal(found.membership.probability, expected.membership.probability)


def test_a_map_places_contigs_that_it_was_not_trained_with():
    contigs, owner = community(3)
    contig_map = train_contig_map(contigs, OPTIONS)
    parts = cut(genome(300_000, 1), (9000,))
    found = bin_contigs(contigs_of(parts, [20.0] * len(parts)), contig_map, OPTIONS)
    assert found.n_bins == 1
    own = bin_contigs(contigs, contig_map, OPTIONS)
    region = own.regions.of_unit[found.window_unit]
    assert (region == own.region_of_contig[np.flatnonzero(owner == 1)[0]]).mean() > 0.95


def test_other_samples_than_those_of_the_map_are_refused():
    contigs, _ = community(2)
    contig_map = train_contig_map(contigs, OPTIONS)
    with pytest.raises(DataError, match="depth of 1 samples"):
        bin_contigs(contigs_of([genome(9000, 1)]), contig_map, OPTIONS)


@pytest.mark.parametrize("parts", [[], [np.zeros(2400, np.uint8)], [np.full(9000, 4, np.uint8)]])
def test_too_short_contigs_raise_an_error(parts):
    with pytest.raises(NothingToBinError, match="at least 2500 bases"):
        train_contig_map(contigs_of(parts))


@pytest.mark.parametrize("length", [2500, 9000, 30_000])
def test_a_single_contig_is_a_bin(length):
    found = bins_of(contigs_of([genome(length, 1)], [30.0]), BinOptions())
    assert found.bin_of_contig.tolist() == [0]


def test_equal_contigs_are_one_bin():
    found = bins_of(contigs_of([np.zeros(30_000, np.uint8)] * 3, [5.0] * 3))
    assert found.bin_of_contig.tolist() == [0, 0, 0]
