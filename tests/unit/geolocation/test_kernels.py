"""CUDA kernels, run on the CPU, give the same bytes as the CPU implementations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpuasm.geolocation import gunrock_cuda, gunrock_locations, median_cuda, medians_of, sphere_cuda, spread
from gpuasm.geolocation.gunrock_cpu import round_loop
from tests.unit.geolocation.test_gunrock import mutual
from tests.unit.geolocation.test_median import random_set, unit_vectors


@pytest.fixture(autouse=True)
def _on_the_cpu(monkeypatch, emulated_functions):
    for module in (gunrock_cuda, median_cuda, sphere_cuda, spread):
        monkeypatch.setattr(module, "cuda_functions", emulated_functions)
    monkeypatch.setattr(gunrock_cuda, "multiprocessor_count", lambda: 1)


@pytest.mark.parametrize("many", [2, 20_000])
@pytest.mark.parametrize("share", [0.02, 0.6])
def test_gunrock_rounds(rng, monkeypatch, share, many):
    monkeypatch.setattr(gunrock_cuda, "_MANY", many)  # rows from which on kinds run side by side
    n = 600
    source, target = rng.integers(0, n, (2, 900))
    for hub, degree in enumerate((2100, 1200, 200, 600, 5000, *range(2, 132, 7))):
        source = np.concatenate([source, np.full(degree, hub)])
        target = np.concatenate([target, rng.integers(0, n, degree)])
    graph = mutual(source, target, n)
    places = np.stack([rng.uniform(-90, 90, n), rng.uniform(-180, 180, n)], axis=1)
    places[rng.random(n) >= share] = places[:24] = np.nan
    expected, expected_rounds = gunrock_locations(graph, places, iterations=None)
    found, rounds = places.copy(), np.empty(n, np.int32)
    state = gunrock_cuda.Rounds(graph.row_offsets, graph.columns, found, rounds)
    number = 0
    while state.waiting.sum() and (number == 0 or (rounds == number).any()):
        number += 1
        state.run(number, 1000)
    state.wrap_longitudes()
    assert np.array_equal(rounds, expected_rounds)
    assert found.tobytes() == expected.tobytes()


def test_rows_with_one_or_two_located_neighbours():
    lengths = (2, 10, 100, 300, 2500)
    offsets = np.concatenate([[0], np.cumsum(lengths), np.full(2501, sum(lengths))])
    columns = np.concatenate([len(lengths) + np.arange(length) for length in lengths]).astype(np.int32)
    for located in ([0], [1, 0], [1], []):
        places = np.full((offsets.size - 1, 2), np.nan)
        for k, place in zip(located, [[10.0, 170.0], [-20.0, -160.0]], strict=False):
            places[len(lengths) + k] = place
        found, rounds = places.copy(), np.empty(len(places), np.int32)
        state = gunrock_cuda.Rounds(offsets, columns, found, rounds)
        state.run(1, 1000)
        expected, counts = np.full((5, 2), np.nan), np.empty(5, np.int32)
        known = ~np.isnan(places[:, 0])
        round_loop(0, 5, np.arange(5), offsets, columns, known, places, 1000, 2500, expected, counts)
        assert found[:5].tobytes() == expected.tobytes()
        assert (rounds[:5] == (1 if located else -1)).all()
        assert state.waiting.sum() == (0 if located else 5)


def test_medians(rng):
    sets = [random_set(rng, kind) for kind in (0, 1, 3, 4, 5)]
    sets += [(points[:n], weights[:n]) for n in (1, 2, 3, 8) for points, weights in sets[:2]]
    near = unit_vectors(rng, 1) + 0.01 * rng.normal(size=(1100, 3))
    sets += [
        (near / np.linalg.norm(near, axis=1)[:, None], np.ones(1100)),
        (np.repeat(sets[1][0][:1], 50, 0), np.ones(50)),
    ]
    opposite = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    sets += [(opposite, np.ones(2)), (np.repeat(opposite, 6, axis=0), np.ones(12))]
    starts = np.concatenate([[0], np.cumsum([len(w) for _, w in sets])])
    together = [np.concatenate(parts) for parts in zip(*sets, strict=True)]
    found = np.empty((len(sets), 3))
    median_cuda.medians_cuda(starts, *together, found)
    assert found.tobytes() == medians_of(starts, *together).tobytes()


def test_units_places_and_arcs(rng, emulated_functions):
    places = np.stack([rng.uniform(-90, 90, 300), rng.uniform(-540, 540, 300)], axis=1)
    places[:6] = [[90, 0], [-90, 10], [0, 180], [0, -180], [np.nan, 1], [1, np.nan]]
    kernels = dict(zip(sphere_cuda._KERNELS, emulated_functions(sphere_cuda._CUDA, *sphere_cuda._KERNELS), strict=True))

    def run(name, *args):
        kernels[name]((2,), (256,), (np.int64(300), *args))
        return args[-1].tobytes()

    units = sphere_cuda.units_of(places)
    assert run("units", places, np.empty((300, 3))) == units.tobytes()
    assert run("places", units, np.empty((300, 2))) == sphere_cuda.places_of(units).tobytes()
    others = np.roll(units, 1, axis=0)
    others[10], others[11] = units[10], -units[11]
    assert run("arcs", units, others, np.empty(300)) == sphere_cuda.arcs_between(units, others).tobytes()


def test_radii(rng, emulated_functions):
    starts = np.array([0, 1, 2, 4, 9, 60])
    reach = np.concatenate([np.sort(rng.uniform(0, 9, b - a)) for a, b in itertools.pairwise(starts)])
    reach[0] = 0
    weights, by_kernel, by_loop = rng.uniform(0.1, 1, 60), np.empty(5), np.empty(5)
    (kernel,) = emulated_functions(spread._CUDA, "radii")
    kernel((1,), (128,), (np.int64(5), starts, reach, weights, np.float64(0.6), by_kernel))
    spread._radii_loop(0, 5, starts, reach, weights, 0.6, by_loop)
    assert by_kernel.tobytes() == by_loop.tobytes()
    assert np.isnan(by_loop[0])
