"""PageRank by random walks: exact integers, and means and errors as theory has them."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gpuasm.arrays import to_host
from gpuasm.errors import UsageError
from gpuasm.graph import DirectedGraph, from_edges
from gpuasm.graph.random_graphs import rmat
from gpuasm.primitives.randomness import stream_key
from gpuasm.ranking import l1_distance, make_surfer, power_iteration, random_walks, starts_of
from gpuasm.ranking.thresholds import high_product, teleport_thresholds
from tests.oracles.ranking import exact_ranks, expected_visits, walk_one_by_one
from tests.strategies import graphs

SEEDS = 400
LEVEL = 1e-3


@given(graph=graphs(), seed=st.integers(0, 9), reset=st.sampled_from([0.15, 0.5, 0.9]))
def test_visits_are_those_of_walks_one_by_one(graph: DirectedGraph, seed: int, reset: float) -> None:
    found = random_walks(graph, coupons=3, seed=seed, reset=reset)
    visits, returns = walk_one_by_one(graph, [3] * graph.n_vertices, int(stream_key(seed, "pagerank")), reset=reset)
    assert found.visits.tolist() == visits
    assert found.returns.tolist() == returns
    assert found.n_visits == sum(visits)
    assert found.ranks.sum() == pytest.approx(1, abs=1e-14)


def hotelling(samples: np.ndarray, mean: np.ndarray) -> float:
    """Return the chance of a mean that differs more, for rows of samples that vary in all directions (Hotelling)."""
    n, p = samples.shape
    off = samples.mean(axis=0) - mean
    square = n * off @ np.linalg.solve(np.cov(samples.T), off)
    return float(stats.f.sf(square * (n - p) / (p * (n - 1)), p, n - p))


def case(number: int) -> tuple[DirectedGraph, np.ndarray | None, np.ndarray | None]:
    rng = np.random.default_rng(number)
    graph = from_edges(rng.integers(0, 10, 24), rng.integers(0, 10, 24), 12)  # at least two without any edge
    weights = rng.integers(0, 4, 24).astype(float) if number % 2 else None
    return graph, weights, rng.integers(0, 3, 12) + 0.25 if number >= 2 else None


@pytest.mark.parametrize("number", range(4))
def test_visits_have_the_mean_of_power_iteration(number: int) -> None:
    """Over 400 seeds, at a level of 0.001: plain, weighted, personalised, both."""
    graph, weights, teleport = case(number)
    n = graph.n_vertices
    surfer = make_surfer(graph, weights=weights, teleport=teleport)
    starts = starts_of(surfer, 4 * n)
    samples = np.array(
        [random_walks(graph, coupons=4, seed=s, weights=weights, teleport=teleport).visits for s in range(SEEDS)]
    ).astype(float)
    ranks = power_iteration(graph, weights=weights, teleport=teleport, tolerance=1e-13).ranks
    if teleport is None or bool((starts == surfer.teleport * 4 * n).all()):
        mean = ranks * 4 * n / 0.15
    else:  # the starts are rounded: each adds the visits of its own walks
        mean = starts @ expected_visits(graph, weights, teleport, 0.15)
        assert np.abs(mean * 0.15 / (4 * n) - ranks).sum() < 0.1
    varies = samples.var(axis=0) > 0
    assert samples[:, ~varies] == pytest.approx(np.broadcast_to(mean[~varies], samples[:, ~varies].shape))
    assert hotelling(samples[:, varies], mean[varies]) > LEVEL
    assert hotelling(samples[:, varies], mean[varies] * 1.05) < LEVEL  # five per cent off would be seen


def test_standard_errors_are_those_seen_over_seeds() -> None:
    graph = rmat(7, 3, seed=5)
    runs = [random_walks(graph, coupons=20, seed=s) for s in range(100)]
    ranks = np.array([run.ranks for run in runs])
    seen, estimated = ranks.std(axis=0, ddof=1), np.array([run.standard_errors() for run in runs])
    often = exact_ranks(graph) > 0.004
    assert often.sum() > 20
    ratio = np.sqrt((estimated**2).mean(axis=0))[often] / seen[often]
    assert 0.95 < ratio.mean() < 1.2  # a part that lessens them is left out
    assert 0.7 < ratio.min() < ratio.max() < 2.0


def test_the_l1_error_is_below_its_bound_and_falls_with_the_root_of_the_coupons() -> None:
    graph = rmat(12, 8, seed=2)
    exact = power_iteration(graph).ranks
    errors = []
    for coupons in (4, 16, 64):
        runs = [random_walks(graph, coupons=coupons, seed=s) for s in range(5)]
        errors.append(float(np.mean([l1_distance(run.ranks, exact) for run in runs])))
        bounds = [run.expected_l1_error(graph.in_degree) for run in runs]
        assert errors[-1] < np.mean(bounds) < 1.6 * errors[-1]
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.1)


def test_same_visits_on_every_device_with_any_threads(xp: ModuleType, threads: int) -> None:
    graph, rng = rmat(10, 8, seed=4), np.random.default_rng(3)
    weights, teleport = rng.random(graph.n_edges), rng.random(graph.n_vertices)
    checksums = []
    for options in ({}, {"weights": weights}, {"teleport": teleport}, {"weights": weights, "teleport": teleport}):
        found = random_walks(graph.moved_to(xp), coupons=15, **options)
        checksums.append(
            [int(np.arange(1024) @ to_host(part).astype(np.int64)) for part in (found.visits, found.returns)]
        )
    assert checksums == CHECKSUMS


CHECKSUMS = [[31211991, 20356], [31089509, 24359], [30783594, 22241], [30768193, 24550]]


def test_more_coupons_extend_the_visits_of_fewer() -> None:
    graph = rmat(6, 4)
    fewer, more = (random_walks(graph, coupons=k).visits.astype(int) for k in (3, 4))
    assert (more > fewer).all()


def test_all_walks_from_one_vertex(xp: ModuleType, threads: int) -> None:
    graph = from_edges(np.arange(9), np.arange(1, 10), 12)
    teleport = np.zeros(12)
    teleport[4] = 3
    found = random_walks(graph.moved_to(xp), coupons=2000, teleport=teleport)
    ranks = to_host(found.ranks)
    assert ranks[[0, 1, 2, 3, 10, 11]].tolist() == [0] * 6
    assert l1_distance(ranks, power_iteration(graph, teleport=teleport).ranks) < 0.03
    assert to_host(found.starts).tolist() == [24000 if v == 4 else 0 for v in range(12)]


@given(shares=st.lists(st.integers(0, 5), min_size=1, max_size=9).filter(any), n_walks=st.integers(0, 40))
def test_starts_are_the_teleport_vector_in_whole_numbers(shares: list[int], n_walks: int) -> None:
    graph = from_edges([0], [0], len(shares))
    starts = starts_of(make_surfer(graph, teleport=np.array(shares)), n_walks)
    exact = np.array(shares) / sum(shares) * n_walks
    assert starts.sum() == n_walks
    assert (np.abs(starts - exact) < 1 + 1e-9).all()


def test_uniform_starts() -> None:
    graph = from_edges([0], [0], 3)
    assert starts_of(make_surfer(graph), 7).tolist() == [3, 2, 2]


def test_no_vertices_no_edges(xp: ModuleType) -> None:
    nothing = np.zeros(0, np.int64)
    empty = random_walks(from_edges(nothing, nothing).moved_to(xp))
    assert (empty.visits.size, empty.n_visits, empty.ranks.size) == (0, 0, 0)
    assert empty.expected_l1_error(empty.starts) == 0.0
    alone = random_walks(from_edges(nothing, nothing, 5).moved_to(xp), coupons=1000)
    assert l1_distance(alone.ranks, np.full(5, 0.2)) < 0.03


def test_an_unreached_vertex_has_no_error() -> None:
    found = random_walks(from_edges([0, 1], [1, 1]), coupons=50)
    assert found.visits[0] == 50
    assert found.variances()[0] == 0.0


@pytest.mark.parametrize("coupons", [0, -3, 2**62])
def test_bad_numbers_of_coupons(coupons: int) -> None:
    with pytest.raises(UsageError, match="coupon"):
        random_walks(from_edges([0], [1]), coupons=coupons)


@given(a=st.integers(0, 2**64 - 1), b=st.integers(0, 2**64 - 1))
def test_upper_half_of_a_product(a: int, b: int) -> None:
    assert int(high_product(np.uint64(a), np.uint64(b))) == a * b >> 64


def test_teleport_thresholds_rise_to_one() -> None:
    thresholds = teleport_thresholds(np.array([0.25, 0, 0.75]))
    assert [int(t) / 2**62 for t in thresholds] == [0.25, 0.25, 1.0]
