"""Rows by length class."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from gpuasm.arrays import to_host
from gpuasm.errors import UsageError
from gpuasm.primitives.row_classes import row_classes


def test_each_row_is_in_the_class_of_its_length(xp: ModuleType, rng: np.random.Generator) -> None:
    lengths, bounds = rng.integers(0, 300, 500), [1, 8, 100]
    found = [to_host(rows) for rows in row_classes(xp.asarray(lengths), bounds)]
    assert [rows.dtype for rows in found] == [np.int32] * 4
    for i, rows in enumerate(found):
        assert rows.tolist() == [r for r in range(500) if sum(b <= lengths[r] for b in bounds) == i]


def test_only_some_rows_in_their_order(xp: ModuleType) -> None:
    found = row_classes(xp.asarray([3, 0, 9, 4]), [4], rows=xp.asarray([3, 0, 2], np.int32))
    assert [to_host(rows).tolist() for rows in found] == [[0], [3, 2]]


def test_no_rows_and_no_bounds() -> None:
    assert [rows.tolist() for rows in row_classes(np.zeros(0, np.int64), [1, 2])] == [[], [], []]
    assert row_classes(np.array([5, 0]), [])[0].tolist() == [0, 1]


def test_bounds_must_ascend() -> None:
    with pytest.raises(UsageError, match="rise"):
        row_classes(np.ones(3, np.int64), [8, 8])
