"""Rounds by a queue of vertices whose neighbours changed give what scans of all vertices give."""

from __future__ import annotations

from contextlib import contextmanager

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given

from gpuasm.geolocation import LocatingOptions, gunrock_locations, locate, queue_cpu, spread
from gpuasm.geolocation.spread import radii_of_rounds
from gpuasm.graph.building import from_edges
from tests.unit.geolocation.test_gunrock import mutual
from tests.unit.geolocation.test_locating import same


@contextmanager
def scanned_rounds(number):
    """Let so many rounds scan all vertices at most."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (queue_cpu, spread):
            patch.setattr(module, "SCANNED_ROUNDS", number)
        patch.setattr(queue_cpu, "_LEAST_SCANNED", 1 << 60)
        yield


def by_scans_and_by_queues(run):
    """Return the results of a function with scans alone, and with none and with two before the queue."""
    results = []
    for number in (1 << 30, 0, 2):
        with scanned_rounds(number):
            results.append(run())
    return results


def case_of(seed, n=60):
    """Return a sparse graph whose edges need not be mutual, its weights, and places of a few vertices."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, n, (2, int(rng.integers(1, 2 * n))))
    graph = (mutual if seed % 2 else from_edges)(source, target, n)
    weights = rng.choice([0.0, 0.25, 1.0, 3.0], graph.n_edges)
    if seed % 3 == 0:
        weights *= 10.0 ** rng.integers(-80, 80, graph.n_edges)
    places = np.stack([rng.uniform(-90, 90, n), rng.uniform(-180, 180, n)], axis=1)
    places[rng.random(n) >= rng.choice([0.03, 0.3])] = np.nan
    return graph, weights, places


OPTIONS = st.builds(
    LocatingOptions,
    iterations=st.sampled_from([None, None, 1, 5]),
    nearest=st.sampled_from([None, 1, 2]),
    min_neighbours=st.sampled_from([1, 2]),
    max_radius_km=st.sampled_from([None, 4000.0]),
    share=st.sampled_from([0.5, 0.9]),
)


@given(st.integers(0, 10_000), OPTIONS)
@example(0, LocatingOptions(iterations=None, max_radius_km=20_000.0))
def test_medians(seed, options):
    graph, weights, places = case_of(seed)
    weights = weights if seed % 5 or options.nearest else None
    scanned, *queued = by_scans_and_by_queues(lambda: locate(graph, places, options, weights=weights))
    assert all(same(one, scanned) for one in queued)


@given(st.integers(0, 10_000), st.sampled_from([None, 0, 1, 5]))
def test_gunrock(seed, iterations):
    graph, _, places = case_of(seed)

    def run():
        found, rounds = gunrock_locations(graph, places, iterations=iterations)
        return [own.tobytes() for own in (found, rounds, radii_of_rounds(graph, found, rounds, share=0.5))]

    scanned, *queued = by_scans_and_by_queues(run)
    assert all(one == scanned for one in queued)


def test_a_queue_of_many_vertices_is_shared_by_threads():
    graph, _, places = case_of(7, n=30_000)

    def run():
        located = locate(graph, places, LocatingOptions(iterations=None))
        found = gunrock_locations(graph, places, iterations=None)
        return [own.tobytes() for own in (located.units, located.radius_km, located.rounds, *found)]

    scanned, *queued = by_scans_and_by_queues(run)
    assert all(one == scanned for one in queued)


def test_a_path_ends_at_its_last_vertex():
    """Scans would read half a billion vertices here: a round locates one."""
    n = 30_000
    graph, places = mutual(np.arange(n - 1), np.arange(1, n), n), np.full((n, 2), np.nan)
    places[0] = 1.0, 2.0
    found = locate(graph, places, LocatingOptions(iterations=None))
    assert np.array_equal(found.rounds, np.arange(n))
    assert np.allclose(found.places, [1.0, 2.0], atol=1e-12)
    places, rounds = gunrock_locations(graph, places, iterations=None)
    assert np.array_equal(rounds, np.arange(n))
    assert (places == [1.0, 2.0]).all()
    assert np.isnan(radii_of_rounds(graph, places, rounds, share=0.5)[1:]).all()
    assert gunrock_locations(graph, found.places[:1].repeat(n, 0), iterations=None)[1].max() == 0


def test_scans_end_early_where_they_locate_little():
    n = 1 << 20
    assert queue_cpu.may_scan(np.empty(n), 4, 5 * n)
    assert not queue_cpu.may_scan(np.empty(n), 4, 5 * n + 1)
    assert not queue_cpu.may_scan(np.empty(10), queue_cpu.SCANNED_ROUNDS, 0)


@given(st.integers(0, 1000))
def test_changes_to_deep_graphs(seed):
    graph, weights, places = case_of(seed)
    options = LocatingOptions(iterations=None)
    before = locate(graph, places, options, weights=weights)
    places = places.copy()
    places[seed % 60] = 5.0, 6.0
    anew = locate(graph, places, options, weights=weights)
    with scanned_rounds(1):
        assert same(locate(graph, places, options, weights=weights, previous=before), anew)
