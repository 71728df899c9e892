"""Contigs assigned to bins by composition and depth."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.clustering.bins.membership import assign

LONG = 50_000


def assigned(place, length, depth=None, *, start=None, n_bins=2):
    """Assign contigs behind two long ones at -5 and 5, the centres of two bins, with depths 10 and 40."""
    place = np.array([[-5.0], [5.0], *([value] for value in place)])
    length = np.array([LONG, LONG, *length])
    level = np.zeros((length.size, 0)) if depth is None else np.array([10.0, 40.0, *depth])[:, None]
    start = np.array([0, 1 % n_bins] + [-1] * (length.size - 2)) if start is None else start
    return assign(place, length, level, start=start, n_bins=n_bins, window=5000, sureness=0.9)


def test_contigs_are_assigned_by_position_and_short_ones_are_less_certain():
    found = assigned([-4, 4, 4, 0], [5000, 5000, 300, 5000])
    assert found.best[:5].tolist() == [0, 1, 0, 1, 1]
    assert found.sureness[3] > 0.99 > found.sureness[4] > 0.5
    assert found.sureness[5] == pytest.approx(0.5, abs=0.01)
    assert found.second[:4].tolist() == [1, 0, 1, 0]
    assert np.allclose(found.probability.sum(axis=1), 1)


def test_depth_decides_between_compositions_that_are_alike():
    found = assigned([0, 0], [5000, 5000], [10, 40])
    assert found.best[2:].tolist() == [0, 1]
    assert found.sureness[2:].min() > 0.99


def test_depth_may_exceed_that_of_the_genome_but_not_be_lower():
    found = assigned([-4, 4], [5000, 5000], [35, 10])
    assert found.probability[2, 0] > 0.5  # at 3.5 times the depth of its genome
    assert found.probability[3, 1] < 0.1  # at a quarter of it
    assert assigned([-4, 4], [5000, 5000]).probability[3, 1] > 0.99


def test_weight_of_long_contigs_is_limited():
    short, long, longer = assigned([0.5] * 3, [5000, 20_000, 500_000]).sureness[2:]
    assert short < long == longer


def test_every_sample_counts():
    place = np.zeros((4, 1))
    depth = np.array([[10.0, 40.0], [10.0, 10.0], [10.0, 39.0], [10.0, 11.0]])
    found = assign(place, np.full(4, LONG), depth, start=np.array([0, 1, -1, -1]), n_bins=2, window=5000, sureness=0.9)
    assert found.best.tolist() == [0, 1, 0, 1]


def test_one_bin_takes_all_and_has_no_second():
    found = assigned([30.0], [600], [1.0], n_bins=1)
    assert found.sureness.tolist() == [1, 1, 1]
    assert found.second.tolist() == [-1, -1, -1]


def assigned_as(place, start):
    """Assign contigs of one window each, without depth, to two bins."""
    length, start = np.full(len(start), 5000), np.array(start)
    depth = np.zeros((start.size, 0))
    return assign(np.array(place), length, depth, start=start, n_bins=2, window=5000, sureness=0.9)


def test_equal_bins_keep_their_contigs():
    assert np.allclose(assigned_as(np.zeros((4, 2)), [0, 0, 1, 1]).probability, 0.5)


def test_a_bin_may_lose_all_contigs_to_another():
    # The second bin's centre lies between its two contigs, where nothing is.
    found = assigned_as([[-20.0]] * 3 + [[20.0]] * 3 + [[-40.0], [60.0]], [0, 0, 0, 1, 1, 1, 1, 0])
    assert np.allclose(found.probability.sum(axis=1), 1)
    assert found.best[:6].tolist() == [0, 0, 0, 1, 1, 1]
