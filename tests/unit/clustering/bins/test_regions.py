"""Regions of a map: valleys, and their merging."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.clustering import MapGrid, SelfOrganisingMap
from gpuasm.clustering.bins.regions import MOST_ROWS, _flood, find_regions, is_apart


def clouds(rng, *centres, n=200, d=4):
    return np.concatenate([rng.normal(size=(n, d)) + np.resize(centre, d) for centre in centres]).astype(np.float32)


def regions_of(rows, side=12):
    som = SelfOrganisingMap(side, side, topology="toroidal", epochs=12, radius=(4, 1)).fit(rows)
    return find_regions(rows, som.labels_, som.u_matrix(), som.grid_)


def flood_plainly(height, neighbours):
    """Let water rise from the lowest unit on."""
    valley = {}
    for unit in sorted(range(len(height)), key=lambda u: (height[u], u)):
        wet = [other for other in neighbours[unit].tolist() if other in valley]
        valley[unit] = valley[min(wet, key=lambda u: height[u])] if wet else len(set(valley.values()))
    return [valley[unit] for unit in range(len(height))]


@given(seed=st.integers(0, 999), rows=st.integers(1, 7), columns=st.integers(1, 7), levels=st.integers(1, 50))
def test_valleys_match_flooding_in_ascending_order(seed, rows, columns, levels):
    grid = MapGrid(rows, columns, "toroidal")
    height = np.random.default_rng(seed).integers(0, levels, rows * columns).astype(np.float64)
    assert _flood(height, grid.neighbours()).tolist() == flood_plainly(height.tolist(), grid.neighbours())


@pytest.mark.parametrize("n_clouds", [1, 2, 4])
def test_each_cloud_is_a_region(rng, n_clouds):
    centres = 10 * np.eye(4)[:n_clouds]
    found = regions_of(clouds(rng, *centres))
    assert found.n == n_clouds
    of_cloud = found.of_row.reshape(n_clouds, -1)
    assert (of_cloud == of_cloud[:, :1]).mean() > 0.98
    assert found.n_valleys >= found.n


@pytest.mark.parametrize("d", [3, 20, 60])
@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize("seed", range(3))
def test_noise_is_one_region_in_any_number_of_columns(seed, n, d):
    assert regions_of(np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)).n == 1


def test_regions_are_numbered_by_their_rows(rng):
    rows = np.concatenate([clouds(rng, 0, n=60), clouds(rng, 9, n=300), clouds(rng, -9, n=120)])
    found = regions_of(rows)
    assert found.n == 3
    assert found.of_row[[0, 100, 400]].tolist() == [2, 0, 1]


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("seed", range(5))
def test_a_halved_cloud_is_not_separate_but_two_clouds_are(seed, d):
    rng = np.random.default_rng(seed)
    cloud = rng.normal(size=(400, d))
    side = cloud @ rng.normal(size=d) > 0
    assert not is_apart(cloud[side], cloud[~side])
    assert is_apart(cloud, cloud + 5.0 / np.sqrt(d))


def test_clouds_scattered_along_their_mean_difference_are_separated(rng):
    one = rng.normal(size=(300, 2)) * [4, 1]  # as the islands of a genome make it scatter
    other = rng.normal(size=(300, 2)) * [4, 1] + [6, 6]
    along = np.concatenate([one, other]) @ [1, 1]
    assert np.histogram(along, 9)[0][3:6].min() > 40  # no gap between the means
    assert is_apart(one, other)


def test_halves_of_a_uniform_interval_are_not_separate(rng):
    stretch = rng.uniform(0, 20, size=(1000, 1))  # as depth falls from the origin of replication to its end
    assert not is_apart(stretch[stretch[:, 0] < 10], stretch[stretch[:, 0] >= 10])


def test_many_rows_are_as_few(rng):
    found = regions_of(clouds(rng, 8, -8, n=MOST_ROWS * 3))
    assert found.n == 2
    assert (found.of_row.reshape(2, -1) == found.of_row[[0, -1]][:, None]).mean() > 0.999


def test_few_rows_and_equal_rows_are_not_apart():
    assert not is_apart(np.zeros((1, 2)), np.full((1, 2), 9.0))
    assert not is_apart(np.zeros((50, 2)), np.zeros((50, 2)))
