"""Standard deviation of the GC content of unitigs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.coverage import sample_mode
from gpuasm.assembly.coverage.sample_mode import choose_mode, gc_spread
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE
from tests.graphs import graph_of


def graph_with(parts: list[tuple[int, float]], *, seed: int = 1, depth: float = 10.0) -> UnitigGraph:
    """Return unitigs of the given numbers of k-mers and probabilities of G or C."""
    graph, _ = graph_of([(f"u{i}", n, depth) for i, (n, _) in enumerate(parts)])
    rng = np.random.default_rng(seed)
    gc = np.repeat([share for _, share in parts], graph.length)
    codes = np.where(rng.random(gc.size) < gc, rng.integers(1, 3, gc.size), 3 * rng.integers(0, 2, gc.size))
    return replace(graph, bases=codes.astype(np.uint8))


def test_spread_of_chance_is_removed():
    assert gc_spread(graph_with([(300, 0.5)] * 4000)) < 0.005


def test_spread_of_two_genomes_is_half_their_difference():
    graph = graph_with([(400, 0.4), (400, 0.6)] * 2000)
    assert gc_spread(graph) == pytest.approx(0.1, abs=0.003)


def test_short_unitigs_and_small_samples_have_no_spread():
    assert gc_spread(graph_with([(200, 0.2), (200, 0.8)] * 5000)) == 0.0
    assert gc_spread(graph_with([(400, 0.4), (400, 0.6)] * 1000)) == 0.0


@given(st.lists(st.tuples(st.integers(150, 400), st.floats(0, 1)), min_size=1, max_size=12))
def test_spread_equals_the_direct_sum(parts):
    graph = graph_with(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_mode, "COVERAGE", replace(COVERAGE, gc_spread_min_bases=1))
        found = gc_spread(graph)
    rows = []
    for u in range(graph.n):
        text = graph.sequence(u)
        if graph.n_kmers[u] > 200:
            rows.append((len(text), (text.count("G") + text.count("C")) / len(text)))
    if not rows:
        assert found == 0.0
        return
    total = sum(n for n, _ in rows)
    mean = sum(n * share for n, share in rows) / total
    variance = sum(n * ((share - mean) ** 2 - share * (1 - share) / n) for n, share in rows) / total
    assert found == pytest.approx(max(0.0, variance) ** 0.5, abs=1e-9)


@pytest.mark.parametrize(("low", "high", "name"), [(0.45, 0.55, "isolate"), (0.42, 0.58, "meta")])
def test_genomes_of_even_depth_differ_in_gc_content(low, high, name):
    mode = choose_mode("auto", graph_with([(400, low), (400, high)] * 2000))
    assert mode.name == name
    assert ("GC contents vary by 8.0%" in mode.reason) == (name == "meta")
