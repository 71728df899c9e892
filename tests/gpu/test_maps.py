"""Maps trained on a device against the same on the CPU, byte for byte."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm import arrays
from gpuasm.clustering import SelfOrganisingMap
from gpuasm.clustering.search import search_cuda
from gpuasm.clustering.search.search import Searcher

pytestmark = pytest.mark.gpu


def blobs(n: int, d: int, *, groups: int = 12, seed: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 2, (groups, d))
    return (centres[rng.integers(groups, size=n)] + rng.normal(size=(n, d))).astype(np.float32)


def searched(rows: np.ndarray, weights: np.ndarray, metric: str = "euclidean") -> list[list[bytes]]:
    found = []
    for xp in (np, arrays.namespace_of("cuda")):
        result = Searcher(arrays.to_namespace(xp, rows), metric)(arrays.to_namespace(xp, weights))
        found.append([arrays.to_host(part).tobytes() for part in result])
    return found


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "chebyshev"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(3000, 12, 10_000), (1, 140, 129), (20_000, 5, 77), (5000, 150, 1000)])
def test_best_units_are_the_same(shape, metric, missing):
    if missing and metric == "cosine":
        return  # refused, which the unit tests show
    n, d, n_units = shape
    rows, weights = blobs(n, d), blobs(n_units, d, seed=4)
    rows[np.random.default_rng(5).random(rows.shape) < missing] = np.nan
    rows[:, 0] = 1
    host, device = searched(rows, weights, metric)
    assert host == device


@pytest.mark.parametrize("spacing", [1.0, 0.1, 1e-3, 0.0])
def test_screened_units_are_the_same(spacing):
    """From units far apart, where screening decides almost all, to units on one spot, where it decides nothing."""
    rows = blobs(5 * search_cuda._SAMPLE + 77, 70)
    weights = rows[:3].mean(axis=0) + np.float32(spacing) * (blobs(1500, 70, seed=4) - rows[:3].mean(axis=0))
    assert search_cuda.RowsOnDevice(arrays.to_device(rows), form=0, has_missing=False)._screen is not None
    host, device = searched(rows, weights)
    assert host == device


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"topology": "toroidal", "neighbourhood": "bubble"},
        {"topology": "toroidal", "lattice": "hexagonal"},
        {"lattice": "hexagonal", "neighbourhood": "triangle", "decay": "exponential"},
        {"neighbourhood": "mexican_hat", "radius": (6, 1)},
        {"metric": "cosine", "start": "random"},
        {"metric": "manhattan", "start": "linear", "missing": 0.1},
        {"metric": "chebyshev", "topology": "toroidal", "missing": 0.1},
        {"training": "online", "lattice": "hexagonal"},
        {"training": "online", "neighbourhood": "bubble", "missing": 0.1},
        {"training": "online", "metric": "cosine", "neighbourhood": "mexican_hat", "radius": (6, 1)},
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(4000, 12), (20_000, 40)], ids=str)
def test_training_gives_the_same_bytes(shape, options):
    if options.get("training") == "online":
        shape = 1500, shape[1]
    options = dict(options)
    rows, missing = blobs(*shape), options.pop("missing", 0)
    rows[np.random.default_rng(5).random(rows.shape) < missing] = np.nan
    found = []
    for xp in (np, arrays.namespace_of("cuda"), arrays.namespace_of("cuda")):
        som = SelfOrganisingMap(24, 31, epochs=4, **options).fit(arrays.to_namespace(xp, rows))
        assert arrays.array_namespace(som.weights_) is xp
        found.append((arrays.to_host(som.weights_).tobytes(), arrays.to_host(som.labels_).tobytes(), som.history_))
    assert found[0] == found[1]
    assert found[1] == found[2]


def test_a_map_trained_on_a_device_is_used_on_the_host():
    rows = blobs(2000, 8)
    som = SelfOrganisingMap(9, 9, epochs=3).fit(arrays.to_device(rows))
    assert np.array_equal(som.predict(rows), arrays.to_host(som.labels_))
    assert som.u_matrix().shape == (9, 9)
