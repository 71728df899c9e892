"""Arcs in rows, beside a sort of all of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.graph.unitig_graph import sorted_arcs


@given(arcs=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=40))
def test_arcs_stand_in_rows_by_target_and_equal_ones_as_they_came(arcs):
    source, target = (np.array(ends, np.int64) for ends in (zip(*arcs, strict=True) if arcs else ((), ())))
    count = np.arange(source.size)
    arc_start, arc_to, arc_count = sorted_arcs(source, target, count, n_rows=7)
    expected = sorted((one, other, n) for n, (one, other) in enumerate(arcs))
    rows = np.repeat(np.arange(7), np.diff(arc_start))
    assert list(zip(rows.tolist(), arc_to.tolist(), arc_count.tolist(), strict=True)) == expected
    assert (arc_to.dtype, arc_count.dtype) == (np.int32, np.int64)
