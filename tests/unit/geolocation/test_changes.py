"""Checksums that detect changed edges of a vertex."""

from __future__ import annotations

import numpy as np

from gpuasm.geolocation.changes import keys_of_names, row_checksums
from gpuasm.graph.building import from_edges


def test_only_rows_that_changed_have_other_numbers(rng):
    source, target = rng.integers(0, 50, (2, 400))
    keys, weights = keys_of_names([str(i) for i in range(50)]), rng.random(400)
    order = np.argsort(source, kind="stable")
    source, target = source[order], target[order]
    before = row_checksums(from_edges(source, target, 50), keys, weights)
    turned = np.lexsort((rng.random(400), source))  # another order within rows
    assert np.array_equal(row_checksums(from_edges(source, target[turned], 50), keys, weights[turned]), before)
    heavier = weights.copy()
    heavier[17] += 0.1
    changed = row_checksums(from_edges(source, target, 50), keys, heavier) != before
    assert np.flatnonzero(changed).tolist() == [source[17]]
    moved = target.copy()
    moved[30] = (moved[30] + 1) % 50
    changed = row_checksums(from_edges(source, moved, 50), keys, weights) != before
    assert np.flatnonzero(changed).tolist() == [source[30]]
    assert (row_checksums(from_edges(source, target, 50), keys) != before)[np.unique(source)].all()
    assert len(set(keys.tolist())) == 50


def test_parallel_edges_change_the_checksum():
    keys = keys_of_names(["a", "b"])
    sums = [int(row_checksums(from_edges([0] * n, [1] * n, 2), keys)[0]) for n in range(4)]
    assert len(set(sums)) == 4
