"""Runs of equal values, against those of itertools."""

from __future__ import annotations

import itertools

import pytest

from gpuasm.arrays import to_host
from gpuasm.primitives.runs import begins_run, run_bounds


@pytest.mark.parametrize("values", [[], [4], [2, 2, 2], [1, 2, 3], [3, 3, 1, 1, 1, 3], [0, 0, 5]])
def test_runs_are_those_of_equal_neighbours(xp, values):
    sizes = [len([*own]) for _, own in itertools.groupby(values)]
    values = xp.asarray(values, dtype="int64")
    bounds = run_bounds(values)
    assert bounds.dtype == "int64"
    assert to_host(bounds).tolist() == [0, *itertools.accumulate(sizes)]
    assert xp.flatnonzero(begins_run(values)).tolist() == bounds[:-1].tolist()
