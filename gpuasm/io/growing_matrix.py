"""Sparse matrices that grow row by row, in memory or in files that need not fit into it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from gpuasm.checks import whole
from gpuasm.errors import DataError, NoInputError, UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.io.output import atomic_output

_FIRST_ROOM = 1024
_HEADER = "matrix.json"


class GrowingMatrix:
    """A sparse matrix to which rows are appended (CSR) or columns (CSC).

    With a folder, the arrays are files there that grow, and what is read of them is mapped into memory; without one
    they are in memory. Zeros are not stored. As a context manager it closes its files at the end.

    Parameters
    ----------
    length
        Entries of each row appended (of each column, in CSC).
    kind
        "csr" or "csc".
    dtype
        Of the values.
    folder
        Where the files are to be, or are: what a folder already holds is continued.

    Raises
    ------
    DataError
        If the folder holds a matrix of other length, kind or type.
    """

    def __init__(
        self,
        length: int,
        *,
        kind: Literal["csr", "csc"] = "csr",
        dtype: Any = np.int32,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        whole(length, "length")
        if kind not in {"csr", "csc"}:
            raise UsageError("csr or csc", repr(kind), "take one of the two")
        self.length, self.kind, self.dtype = length, kind, np.dtype(dtype)
        types = {"offsets": np.int64, "indices": np.int32 if length < 1 << 31 else np.int64, "values": self.dtype}
        if folder is None:
            self._parts: dict[str, Any] = {name: _InMemory(t) for name, t in types.items()}
        else:
            home = Path(folder)
            _write_or_check_header(home, {"length": length, "kind": kind, "dtype": self.dtype.str})
            self._parts = {name: _InFile(home / f"{name}.bin", t) for name, t in types.items()}
            self._drop_unfinished()
        if self._parts["offsets"].size == 0:
            self._parts["offsets"].append(np.zeros(1, np.int64))

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> GrowingMatrix:
        """Open a matrix on disk, to read it or to append more."""
        header = _read_header(Path(folder))
        return cls(header["length"], kind=header["kind"], dtype=header["dtype"], folder=folder)

    @property
    def n_appended(self) -> int:
        """How many rows (columns, in CSC) were appended."""
        return int(self._parts["offsets"].size) - 1

    @property
    def n_values(self) -> int:
        return int(self._parts["indices"].size)

    @property
    def shape(self) -> tuple[int, int]:
        return (self.n_appended, self.length) if self.kind == "csr" else (self.length, self.n_appended)

    def append(self, values: Any) -> None:
        """Append a dense row (column, in CSC) of ``length`` values."""
        dense = np.asarray(values)
        if dense.shape != (self.length,):
            raise DataError(f"{self.length} values", f"an array of shape {dense.shape}", "append rows of one length")
        (indices,) = dense.nonzero()
        self._extend(indices, dense[indices])

    def append_sparse(self, indices: Any, values: Any = None) -> None:
        """Append a row (column, in CSC) by the indices of its values; each value is 1 if they are not given.

        An index given twice is stored twice: their values add up in a matrix, and are two edges in a graph.
        """
        positions = np.asarray(indices, np.int64)
        given = np.ones(positions.size, self.dtype) if values is None else np.asarray(values)
        if positions.ndim != 1 or given.shape != positions.shape:
            raise DataError("as many values as indices", f"{given.shape} and {positions.shape}", "give both alike")
        if positions.size and not (positions.min() >= 0 and positions.max() < self.length):
            raise DataError(f"indices from 0 to {self.length - 1}", "one outside", "check the indices")
        self._extend(positions, given)

    def matrix(self) -> Any:
        """Return what there is so far as ``scipy.sparse.csr_array`` or ``csc_array``; files are mapped, not read."""
        from scipy import sparse  # noqa: PLC0415 - slow to import, and not needed to append

        offsets, indices, values = (self._parts[name].view() for name in ("offsets", "indices", "values"))
        made = sparse.csr_array if self.kind == "csr" else sparse.csc_array
        return made((values, indices, offsets), shape=self.shape)

    def graph(self) -> DirectedGraph:
        """Return the graph with an edge from i to j for each value stored at (i, j); fewer rows than columns will do.

        Raises
        ------
        UsageError
            If there are more rows than columns.
        """
        n, missing = self.length, self.length - self.n_appended
        if missing < 0:
            raise UsageError(f"at most {n} rows, as there are {n} vertices", str(self.n_appended), "use longer rows")
        offsets = self._parts["offsets"].view()
        offsets = np.concatenate([offsets, np.full(missing, offsets[-1])]) if missing else offsets
        result = DirectedGraph(offsets, self._parts["indices"].view())
        return result if self.kind == "csr" else result.reverse()

    def close(self) -> None:
        """Write what is waiting and close the files; more may be appended after `open`."""
        for part in self._parts.values():
            part.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "in files" if isinstance(self._parts["values"], _InFile) else "in memory"
        return f"GrowingMatrix: {self.shape[0]:,} x {self.shape[1]:,}, {self.n_values:,} values, {self.kind}, {where}"

    def _extend(self, indices: np.ndarray, values: np.ndarray) -> None:
        self._parts["indices"].append(indices)
        self._parts["values"].append(values)
        self._parts["offsets"].append(np.array([self.n_values], np.int64))  # last: without it a row is not there

    def _drop_unfinished(self) -> None:
        """Cut what a process that was killed left of a row."""
        offsets = self._parts["offsets"]
        ends = offsets.view()
        room = min(self._parts["indices"].size, self._parts["values"].size)
        whole = int(np.searchsorted(ends, room, side="right"))
        last = int(ends[whole - 1]) if whole else 0
        del ends
        offsets.cut(whole)
        self._parts["indices"].cut(last)
        self._parts["values"].cut(last)


class _InMemory:
    """An array with room to grow."""

    def __init__(self, dtype: Any) -> None:
        self._data, self.size = np.empty(_FIRST_ROOM, dtype), 0

    def append(self, values: np.ndarray) -> None:
        needed = self.size + values.size
        if needed > self._data.size:
            grown = np.empty(max(needed, 2 * self._data.size), self._data.dtype)
            grown[: self.size] = self._data[: self.size]
            self._data = grown
        self._data[self.size : needed] = values
        self.size = needed

    def view(self) -> np.ndarray:
        return self._data[: self.size]

    def close(self) -> None:
        pass


class _InFile:
    """An array at the end of whose file more is written."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self._path, self._dtype = path, np.dtype(dtype)
        self._file = path.open("ab")
        self.size = path.stat().st_size // self._dtype.itemsize

    def append(self, values: np.ndarray) -> None:
        self._file.write(values.astype(self._dtype, copy=False).tobytes())
        self.size += values.size

    def view(self) -> np.ndarray:
        if not self._file.closed:
            self._file.flush()
        if self.size == 0:
            return np.empty(0, self._dtype)
        return np.memmap(self._path, self._dtype, "r", shape=(self.size,))

    def cut(self, size: int) -> None:
        self._file.truncate(size * self._dtype.itemsize)
        self.size = size

    def close(self) -> None:
        self._file.close()


def _write_or_check_header(home: Path, header: dict[str, Any]) -> None:
    path = home / _HEADER
    if not path.exists():
        home.mkdir(parents=True, exist_ok=True)
        with atomic_output(path) as file:
            json.dump(header, file)
    elif (found := _read_header(home)) != header:
        raise DataError(f"a matrix of {header}", str(found), "take another folder", path=path)


def _read_header(home: Path) -> dict[str, Any]:
    path = home / _HEADER
    if not path.is_file():
        raise NoInputError("a folder with a matrix", "none", "check the path", path=path)
    try:
        header = json.loads(path.read_text())
        return {key: header[key] for key in ("length", "kind", "dtype")}
    except (ValueError, KeyError, TypeError) as error:
        raise DataError("length, kind and dtype", "another text", "make the matrix anew", path=path) from error
