"""Sparse matrices that grow row by row, in memory and on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gpuasm.errors import DataError, NoInputError, UsageError
from gpuasm.io.growing_matrix import GrowingMatrix

ROWS = [[0, 3, 0], [0, 0, 0], [1, 0, -2]]


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("on_disk", [False, True])
def test_rows_or_columns_are_appended(kind: Any, on_disk: bool, tmp_path: Path) -> None:
    with GrowingMatrix(3, kind=kind, folder=tmp_path / "m" if on_disk else None) as growing:
        assert growing.matrix().shape == ((0, 3) if kind == "csr" else (3, 0))
        for row in ROWS:
            growing.append(row)
        growing.append_sparse([2, 0], [7, 8])
        growing.append_sparse([1])
        expected = np.array([*ROWS, [8, 0, 7], [0, 1, 0]])
        matrix = growing.matrix()
        assert isinstance(matrix, sparse.csr_array if kind == "csr" else sparse.csc_array)
        assert (matrix.toarray() == (expected if kind == "csr" else expected.T)).all()
        assert growing.n_values == 6
        assert repr(growing).startswith("GrowingMatrix: 5 x 3, 6" if kind == "csr" else "GrowingMatrix: 3 x 5, 6")


@given(st.lists(st.lists(st.integers(-2, 2), min_size=4, max_size=4), max_size=20))
def test_like_a_dense_matrix(rows: list[list[int]]) -> None:
    growing = GrowingMatrix(4)
    for row in rows:
        growing.append(row)
    assert growing.matrix().toarray().tolist() == rows


def test_on_disk_it_is_continued(tmp_path: Path) -> None:
    with GrowingMatrix(3, folder=tmp_path, dtype=np.float32) as growing:
        growing.append(ROWS[0])
    with GrowingMatrix.open(tmp_path) as growing:
        growing.append(ROWS[2])
        matrix = growing.matrix()
        assert matrix.dtype == np.float32
        assert matrix.toarray().tolist() == [ROWS[0], ROWS[2]]
        assert isinstance(growing._parts["indices"].view(), np.memmap)
    assert (tmp_path / "indices.bin").stat().st_size == 3 * 4


def test_an_unfinished_row_is_dropped(tmp_path: Path) -> None:
    with GrowingMatrix(3, folder=tmp_path) as growing:
        for row in ROWS:
            growing.append(row)
    with (tmp_path / "indices.bin").open("ab") as file:
        file.write(b"\1\0\0\0\2")
    assert GrowingMatrix.open(tmp_path).matrix().toarray().tolist() == ROWS
    with (tmp_path / "values.bin").open("r+b") as file:
        file.truncate(8)
    growing = GrowingMatrix.open(tmp_path)
    assert growing.matrix().toarray().tolist() == ROWS[:2]
    growing.append(ROWS[2])
    assert growing.matrix().toarray().tolist() == ROWS


def test_much_more_than_there_was_room_for() -> None:
    growing = GrowingMatrix(5000)
    for _ in range(3):
        growing.append(np.ones(5000))
    assert growing.matrix().sum() == 15_000


@pytest.mark.parametrize("on_disk", [False, True])
def test_as_a_graph(on_disk: bool, tmp_path: Path) -> None:
    with GrowingMatrix(4, folder=tmp_path if on_disk else None) as growing:
        growing.append_sparse([1, 3, 1])
        growing.append_sparse([])
        growing.append_sparse([0])
        graph = growing.graph()
    assert list(graph) == [(0, [1, 3, 1]), (1, []), (2, [0]), (3, [])]


def test_columns_as_a_graph() -> None:
    growing = GrowingMatrix(2, kind="csc")
    growing.append_sparse([1])
    growing.append_sparse([0, 1])
    assert list(growing.graph()) == [(0, [1]), (1, [0, 1])]
    growing.append_sparse([])
    with pytest.raises(UsageError, match="at most 2 rows"):
        growing.graph()


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    growing = GrowingMatrix(3, folder=tmp_path)
    for bad in (
        lambda: growing.append([1, 2]),
        lambda: growing.append_sparse([3]),
        lambda: growing.append_sparse([-1]),
    ):
        with pytest.raises(DataError):
            bad()
    with pytest.raises(DataError):
        growing.append_sparse([0, 1], [1])
    with pytest.raises(DataError, match="a matrix of"):
        GrowingMatrix(4, folder=tmp_path)
    with pytest.raises(NoInputError):
        GrowingMatrix.open(tmp_path / "none")
    with pytest.raises(UsageError):
        GrowingMatrix(-1)
    (tmp_path / "matrix.json").write_text("[]")
    with pytest.raises(DataError, match="make the matrix anew"):
        GrowingMatrix.open(tmp_path)
