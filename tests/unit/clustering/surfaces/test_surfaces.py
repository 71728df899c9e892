"""Density, U*-matrix, watersheds and U*C, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.clustering import MapGrid, SelfOrganisingMap
from gpuasm.clustering.surfaces.density import density_around, pareto_radius
from gpuasm.clustering.surfaces.immersion import immersion, u_star_clusters
from gpuasm.clustering.surfaces.matrices import u_star
from gpuasm.clustering.surfaces.watershed import watersheds
from gpuasm.errors import DataError, UsageError
from tests.oracles import surfaces as oracle
from tests.oracles.som import distances

METRICS = ["euclidean", "cosine", "manhattan", "chebyshev"]


@pytest.mark.parametrize("metric", METRICS)
def test_a_fifth_of_all_pairs_lies_within_the_pareto_radius(xp, rng, metric):
    rows = rng.normal(size=(40, 5)).astype(np.float32)
    found = pareto_radius(to_namespace(xp, rows), metric)
    assert found == pytest.approx(oracle.pareto_radius(rows, metric), rel=1e-5)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("missing", [False, True])
def test_density_counts_rows_around_units(xp, rng, metric, missing):
    grid = MapGrid(4, 5)
    rows, weights = (rng.normal(size=(size, 3)).astype(np.float32) for size in (300, 20))
    if missing and metric != "cosine":
        rows[::3, 1] = np.nan
    found = density_around(to_namespace(xp, weights), to_namespace(xp, rows), 0.7, metric=metric, grid=grid)
    near = distances(rows, weights, metric)
    assert (abs(near - 0.7) > 1e-5).all()
    assert np.array_equal(found.ravel(), (near <= 0.7).sum(axis=0))


@pytest.mark.parametrize("turns", [2, 3, 6])
def test_many_rows_are_sampled_whatever_their_order(turns):
    rows = (np.arange(30_000, dtype=np.float32) % turns)[:, None]  # every sixth row is always of one kind
    found = density_around(np.array([[0.0], [9.0]], np.float32), rows, 0.5, grid=MapGrid(1, 2))
    assert found.ravel() == pytest.approx([30_000 / turns, 0], rel=0.06)
    apart = pareto_radius(rows)
    assert apart == (0 if 1 / turns > 0.2013 else 1)


def test_one_row_has_no_distances():
    with pytest.raises(DataError, match="two rows"):
        pareto_radius(np.ones((1, 3), np.float32))


def test_u_star_is_0_at_the_greatest_density_and_u_at_the_mean():
    heights = np.full((1, 3), 2.0)
    density = np.array([[1.0, 3.0, 5.0]])
    assert u_star(heights, density).tolist() == [[4.0, 2.0, 0.0]]  # the seed's formula is 0 where density is least
    assert u_star(heights, np.ones((1, 3))).tolist() == heights.tolist()


@st.composite
def landscapes(draw):
    """Draw a surface whose heights repeat, so that there are plateaus, over a grid of any kind."""
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    lattice = draw(st.sampled_from(["rectangular", "hexagonal"]))
    topology = draw(st.sampled_from(["planar", "toroidal"])) if rows % 2 == 0 else "planar"
    levels = draw(st.sampled_from([2, 4, 100]))
    heights = draw(st.lists(st.integers(0, levels), min_size=rows * columns, max_size=rows * columns))
    return MapGrid(rows, columns, topology, lattice), np.array(heights, float).reshape(rows, columns)


@given(landscapes())
def test_flooding_matches_its_definition(landscape):
    grid, surface = landscape
    assert np.array_equal(watersheds(surface, grid), oracle.flood(surface.ravel(), grid.neighbours()))


@given(landscapes(), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_remaining_basins_have_the_least_depth(landscape, depth):
    grid, surface = landscape
    height, neighbours = surface.ravel(), grid.neighbours()
    fine, coarse = watersheds(surface, grid), watersheds(surface, grid, depth=depth)
    assert set(coarse) == set(range(coarse.max() + 1))
    pairs = set(zip(fine.tolist(), coarse.tolist(), strict=True))
    assert len(pairs) == fine.max() + 1  # basins are joined, never cut
    least = depth * (np.quantile(height, 0.98) - height.min())
    for basin in range(1, coarse.max() + 1):
        inside = coarse == basin
        lower = [  # to leave for lower ground, water must rise over a pass
            max(height[u], height[o]) for u in np.flatnonzero(inside) for o in neighbours[u] if o >= 0 and not inside[o]
        ]
        assert min(lower) - height[inside].min() >= least


def test_the_depth_is_a_share():
    with pytest.raises(UsageError, match="from 0 to 1"):
        watersheds(np.zeros((2, 2)), MapGrid(2, 2), depth=2)


@given(landscapes(), st.integers(0, 100))
def test_walks_descend_the_u_matrix_and_ascend_the_density(landscape, seed):
    grid, heights = landscape
    density = np.random.default_rng(seed).integers(0, 5, heights.shape).astype(float)
    neighbours = grid.neighbours()
    down = [oracle.walk_down(heights.ravel(), neighbours, u) for u in range(grid.n_units)]
    ends = [oracle.walk_down(-density.ravel(), neighbours, u) for u in down]
    assert immersion(heights, density, grid).tolist() == ends
    clusters = u_star_clusters(heights, density, heights, grid)
    basin = oracle.flood(heights.ravel(), neighbours)[ends]
    assert (
        len(set(zip(basin.tolist(), clusters.tolist(), strict=True))) == len(set(basin.tolist())) == clusters.max() + 1
    )
    assert (np.diff(np.bincount(clusters)) <= 0).all()


def chainlink(rng, n: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Two rings, each through the other: no plane parts them."""
    turn, ring = rng.uniform(0, 2 * np.pi, n), np.arange(n) % 2
    one = np.column_stack([np.cos(turn), np.sin(turn), 0 * turn])
    other = np.column_stack([1 + np.cos(turn), 0 * turn, np.sin(turn)])
    return np.where(ring[:, None] == 0, one, other) + rng.normal(0, 0.07, (n, 3)), ring


def test_two_rings_through_each_other_are_two_clusters(rng):
    rows, ring = chainlink(rng)
    som = SelfOrganisingMap(30, 40, topology="toroidal").fit(rows)
    found = to_host(som.clusters()[som.labels_])
    assert [len(set(found[ring == r])) for r in (0, 1)] == [1, 1]
    assert len(set(found)) == 2
    assert np.array_equal(som.clusters(), watersheds(som.u_matrix(), som.grid_, depth=0.2))


def test_u_star_c_finds_two_clouds(rng):
    rows = rng.normal(size=(1000, 2)) + 6 * (np.arange(1000) % 2)[:, None]
    som = SelfOrganisingMap(24, 30, radius=(6, 1.5)).fit(rows)
    of_unit = som.clusters("ustar", rows, depth=0.2)
    found = of_unit[som.labels_]
    assert len(set(found)) == 2
    assert sum(found == found[0]) == 500
    assert np.array_equal(som.u_star_matrix(rows), u_star(som.u_matrix(), som.p_matrix(rows)))


def test_the_density_of_a_map_is_that_of_its_normalised_rows(rng):
    rows = rng.normal(size=(200, 2)) * [1, 1000]
    som = SelfOrganisingMap(4, 5, epochs=3, normalise="zscore").fit(rows)
    near = distances(som.normalised(rows), som.weights_)
    radius = pareto_radius(som.normalised(rows))
    assert abs(som.p_matrix(rows).ravel() - (near <= radius).sum(axis=0)).max() <= 1
    with pytest.raises(UsageError, match="watershed"):
        som.clusters("kmeans", rows)
    with pytest.raises(UsageError, match="rows"):
        som.clusters("ustar")
