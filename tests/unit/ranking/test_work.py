"""The work of threads: counts that add up to the visits."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from gpuasm.graph.random_graphs import rmat, shuffled
from gpuasm.primitives.randomness import stream_key
from gpuasm.ranking import WARP, idle_share, random_walks, work_by_coupon
from tests.oracles.ranking import split_mix


@pytest.mark.parametrize("personal", [False, True])
def test_cyclic_coupons_account_for_all_visits(xp: ModuleType, personal: bool) -> None:
    graph = rmat(9, 6, seed=2)
    options = {"coupons": 7, "seed": 3, "reset": 0.2}
    if personal:
        options["teleport"] = np.arange(512) % 5
    found = random_walks(graph, **options)
    one = work_by_coupon(graph.moved_to(xp), n_threads=1, **options)
    many = work_by_coupon(graph.moved_to(xp), n_threads=96, **options)
    assert int(one[0]) == int(many.sum()) == found.n_visits


def test_a_thread_per_coupon_has_the_work_of_its_walk() -> None:
    work = work_by_coupon(rmat(5, 3), n_threads=32 * 4, coupons=4, seed=9, reset=0.25)
    key = int(stream_key(9, "pagerank"))
    for coupon in range(128):
        own = split_mix(split_mix(key, coupon // 4), coupon % 4)
        rounds = 0
        while split_mix(own, 2 * rounds) >= 2**62:
            rounds += 1
        assert work[coupon] == rounds + 1


def test_threads_are_idle_where_vertices_differ() -> None:
    graph = shuffled(rmat(12, 14, seed=1), seed=1)
    found = random_walks(graph)
    by_vertex = idle_share(found.visits)
    by_coupon = idle_share(work_by_coupon(graph, n_threads=4 * WARP))
    assert by_vertex > 0.8
    assert by_coupon < 0.15


@pytest.mark.parametrize(("work", "idle"), [([5] * 64, 0.0), ([64] + [0] * 31, 31 / 32), ([], 0.0), ([0, 0], 0.0)])
def test_idle_share(work: list[int], idle: float) -> None:
    assert idle_share(np.array(work, np.int64)) == pytest.approx(idle)
