"""The graph of samples, their clusters, and relations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.errors import UsageError
from gpuasm.samples import GraphOptions, Sketches, SketchKind, clusters, compare, neighbour_graph, relate, sketch_text
from gpuasm.samples.neighbours import genome_bases
from gpuasm.sequence.reads import Reads


def matrix(*points: float) -> np.ndarray:
    return np.abs(np.subtract.outer(points, points))


def edges_of(distance, options, bases=1000.0):
    graph, weights = neighbour_graph(distance, np.full(len(distance), bases), options)
    source, target = graph.edges()
    return dict(zip(zip(source.tolist(), target.tolist(), strict=True), weights.tolist(), strict=True))


def test_nearest_and_all_that_are_as_near():
    distance = matrix(0.0, 0.001, 0.003, 0.005, 0.5)
    found = edges_of(distance, GraphOptions(neighbours=1))
    # The third is as far from the second as from the fourth.
    assert set(found) == {(0, 1), (1, 0), (2, 1), (2, 3), (3, 2), (4, 3)}
    assert set(found.values()) == {1.0}


def test_weights_fall_by_substitutions_or_by_the_nearest_distance():
    distance = matrix(0.0, 0.001, 0.003, 0.02)
    found = edges_of(distance, GraphOptions(neighbours=3))
    assert found[0, 2] == pytest.approx(math.exp(-0.002 / 0.001))  # one substitution in 1,000 bases
    assert found[3, 1] == pytest.approx(math.exp(-0.002 / (0.3 * 0.017)))
    assert min(edges_of(matrix(0.0, 0.0, 0.9), GraphOptions(), bases=1e7).values()) == math.exp(-20)


def test_threshold_mutual_and_unrelated():
    distance = matrix(0.0, 0.001, 0.003, 0.2, 5.0).clip(max=1)
    assert set(edges_of(distance, GraphOptions(neighbours=1, threshold=0.1))) == {(0, 1), (1, 0), (2, 1)}
    assert set(edges_of(distance, GraphOptions(neighbours=1, mutual=True))) == {(0, 1), (1, 0)}
    assert set(edges_of(distance, GraphOptions(neighbours=0, threshold=0.002))) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert not any(4 in edge for edge in edges_of(distance, GraphOptions(neighbours=0)))
    assert edges_of(np.zeros((1, 1)), GraphOptions()) == edges_of(np.zeros((0, 0)), GraphOptions()) == {}


@given(
    points=st.lists(st.integers(0, 8), min_size=2, max_size=9),
    neighbours=st.integers(1, 4),
    threshold=st.sampled_from([0.05, 0.3, 1.0]),
)
def test_neighbours_are_those_of_a_plain_search(points, neighbours, threshold):
    distance = matrix(*(point / 20 for point in points))
    expected = set()
    for a in range(len(points)):
        others = sorted(distance[a, b] for b in range(len(points)) if b != a)
        reach = min(threshold, others[min(neighbours, len(others)) - 1])
        expected |= {(a, b) for b in range(len(points)) if b != a and distance[a, b] <= reach}
    found = edges_of(distance, GraphOptions(neighbours, threshold))
    assert set(found) == expected
    assert all(0 < weight <= 1 for weight in found.values())


def test_options_out_of_range():
    with pytest.raises(UsageError, match="0 or more neighbours"):
        GraphOptions(neighbours=-1)
    with pytest.raises(UsageError, match="from 0 to 1"):
        GraphOptions(threshold=1.5)


def test_clusters_are_chains():
    distance = matrix(0.0, 0.3, 0.04, 0.33, 0.08, 9.0).clip(max=1)
    assert clusters(distance, 0.05).tolist() == [0, 1, 0, 1, 0, 2]
    assert clusters(distance, 1.0).tolist() == [0, 0, 0, 0, 0, 1]
    assert clusters(distance, 0.0).tolist() == [0, 1, 2, 3, 4, 5]


def texts_of(rng, n, length, rate):
    """Mutants of one text, each of the one before."""
    text, found = rng.integers(0, 4, length, np.uint8), []
    for _ in range(n):
        at = rng.random(length) < rate
        text = np.where(at, (text + rng.integers(1, 4, length)) % 4, text).astype(np.uint8)
        found.append(Reads.from_codes([text]))
    return found


@pytest.mark.parametrize("kind", [SketchKind.bottom(21, 500), SketchKind.scaled(21, 1)], ids=["bottom", "scaled"])
def test_mutants_of_mutants_are_a_chain(kind, rng):
    texts = texts_of(rng, 6, 20_000, 0.004)
    sketches = Sketches.join(kind, list("abcdef"), [sketch_text(text, kind) for text in texts])
    comparison = compare(sketches)
    found = relate(sketches, comparison, GraphOptions(neighbours=2))
    assert found.kind == ("containment" if kind.is_scaled else "mash")
    assert [found.nearest()[sample][0] for sample in (0, 5)] == [1, 4]
    assert np.diag(found.distance, 1) == pytest.approx(np.full(5, 0.004), rel=0.35)
    assert found.kmers == pytest.approx(np.full(6, 20_000.0), rel=0.2)
    assert found.n_clusters == 1
    assert relate(sketches, comparison, distance="mash", cluster_distance=0.0001).n_clusters == 6


def test_bases_of_small_sketches_are_exact(rng):
    kind = SketchKind.bottom(21, 500)
    sketches = Sketches.join(kind, ["a"], [sketch_text(texts_of(rng, 1, 300, 0)[0], kind)])
    assert genome_bases(compare(sketches), sketches.hashes[-1:]).tolist() == [280.0]


def test_no_sample_and_one():
    kind = SketchKind.bottom(21, 5)
    for names in ([], ["a"]):
        sketches = Sketches.join(kind, names, [np.arange(3, dtype=np.uint64) for _ in names])
        found = relate(sketches, compare(sketches))
        assert (found.n, found.graph.n_edges, found.n_clusters) == (len(names), 0, len(names))
        assert found.nearest() == [(-1, None)] * len(names)
