"""Runs of equal values, against those of itertools, and ranges of numbers, against those of Python."""

from __future__ import annotations

import collections
import itertools

import numpy as np
import pytest

from gpuasm.arrays import to_host
from gpuasm.primitives.runs import begins_run, mark_ranges, numbers_of_ranges, occurrences, run_bounds, values_of_ranges


@pytest.mark.parametrize("values", [[], [4], [2, 2, 2], [1, 2, 3], [3, 3, 1, 1, 1, 3], [0, 0, 5]])
def test_runs_are_those_of_equal_neighbours(xp, values):
    sizes = [len([*own]) for _, own in itertools.groupby(values)]
    values = xp.asarray(values, dtype="int64")
    bounds = run_bounds(values)
    assert bounds.dtype == "int64"
    assert to_host(bounds).tolist() == [0, *itertools.accumulate(sizes)]
    assert xp.flatnonzero(begins_run(values)).tolist() == bounds[:-1].tolist()


@pytest.mark.parametrize("values", [[], [4], [2, 1, 2], [3, 3, 1, -5, 1, 3]])
def test_occurrences_are_those_of_a_plain_count(xp, values):
    found = (to_host(own).tolist() for own in occurrences(xp.asarray(values, dtype="int64")))
    assert list(zip(*found, strict=True)) == sorted(collections.Counter(values).items())


@pytest.mark.parametrize("ranges", [[], [(3, 0)], [(5, 2), (7, 0), (-1, 3)], [(0, 0), (4, 1)]])
def test_numbers_of_ranges_are_those_of_python(xp, ranges):
    first, count = xp.asarray(ranges, dtype="int64").reshape(-1, 2).T
    number, row = (to_host(own).tolist() for own in numbers_of_ranges(first, count))
    assert number == [n for begin, size in ranges for n in range(begin, begin + size)]
    assert row == [i for i, (_, size) in enumerate(ranges) for _ in range(size)]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, bool])
@pytest.mark.parametrize("ranges", [[], [(3, 3)], [(5, 9), (0, 0), (0, 2), (1, 9)]])
def test_values_and_marks_of_ranges_are_those_of_slices(rng, ranges, dtype):
    values = rng.integers(0, 2, 9).astype(dtype)
    begin, end = np.array(ranges, np.int64).reshape(-1, 2).T
    copied = values_of_ranges(values, begin, end)
    assert copied.dtype == dtype
    assert copied.tolist() == [value for first, last in ranges for value in values[first:last].tolist()]
    marked = [any(first <= place < last for first, last in ranges) for place in range(9)]
    assert mark_ranges(begin, end, 9).tolist() == marked
