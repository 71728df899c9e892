"""Sorted arcs, compared with a plain sort, and cached properties of unitigs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.graph.unitig_graph import sorted_arcs
from tests.graphs import graph_of


@given(arcs=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=40))
def test_arcs_are_sorted_stably(arcs):
    source, target = (np.array(ends, np.int64) for ends in (zip(*arcs, strict=True) if arcs else ((), ())))
    count = np.arange(source.size)
    arc_start, arc_to, arc_count = sorted_arcs(source, target, count, n_rows=7)
    expected = sorted((one, other, n) for n, (one, other) in enumerate(arcs))
    rows = np.repeat(np.arange(7), np.diff(arc_start))
    assert list(zip(rows.tolist(), arc_to.tolist(), arc_count.tolist(), strict=True)) == expected
    assert (arc_to.dtype, arc_count.dtype) == (np.int32, np.int64)


@pytest.mark.parametrize("name", ["length", "n_kmers", "depth"])
def test_property_of_all_unitigs_is_computed_once(name):
    graph, _ = graph_of([("a", 5, 3.0), ("b", 7, 2.0)])
    assert getattr(graph, name) is getattr(graph, name)
    assert "depth" not in vars(replace(graph, count=graph.count * 2))
