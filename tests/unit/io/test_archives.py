"""Archives of arrays: only arrays as expected are read, and nothing harmful."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest

from gpuasm.errors import DataError, NoInputError, ResourceError
from gpuasm.io.archives import ArrayRule, checksum, load_archive, read_archive, read_array, sizes_in_archive
from gpuasm.io.graphs import read_graph
from gpuasm.resources import limited_memory, resident_bytes

SCHEMA = {
    "offsets": ArrayRule("iu", ("n+1",), least=0),
    "values": ArrayRule("f", ("n", 2), least=-1, most=1, nan=True),
    "text": ArrayRule("U", (), optional=True),
}
RIGHT = {"offsets": np.array([0, 1, 3]), "values": np.array([[0.5, np.nan], [1, -1]])}


def load(path):
    return load_archive(path, SCHEMA, what="a test", remedy="write it anew")


def saved(path, **arrays):
    np.savez(path, **RIGHT | arrays)
    return path


def test_arrays_of_a_schema(tmp_path):
    found = load(saved(tmp_path / "x.npz", other=np.array([1])))
    assert found.keys() == {"offsets", "values"}
    assert np.array_equal(found["values"], RIGHT["values"], equal_nan=True)
    big = load(saved(tmp_path / "x.npz", offsets=np.array([0, 1, 3], ">u2"), text=np.array("a")))
    assert big["offsets"].dtype.isnative
    assert sizes_in_archive(tmp_path / "x.npz")["values"] == ((2, 2), np.dtype(np.float64))


@pytest.mark.parametrize(
    "arrays",
    [
        {"offsets": np.array([0.0, 1, 3])},
        {"offsets": np.array([0, 1])},
        {"offsets": np.array([-1, 1, 3])},
        {"offsets": np.zeros((3, 1), int)},
        {"values": np.array([[0.5, 0], [2, 0]])},
        {"values": np.array([[0.5, 0], [np.inf, 0]])},
        {"values": np.zeros((2, 3))},
        {"values": np.zeros((2, 2), complex)},
        {"text": np.array(["a"])},
        {"text": np.array(5)},
    ],
    ids=str,
)
def test_other_arrays_are_refused(tmp_path, arrays):
    with pytest.raises(DataError, match=r"x\.npz: expected a test, found .*; write it anew"):
        load(saved(tmp_path / "x.npz", **arrays))


def test_missing_arrays_and_files(tmp_path):
    np.savez(tmp_path / "x.npz", offsets=RIGHT["offsets"])
    with pytest.raises(DataError, match="'values'"):
        load(tmp_path / "x.npz")
    with pytest.raises(NoInputError):
        load(tmp_path / "none.npz")
    with pytest.raises(NoInputError):
        load(tmp_path)


def test_no_object_is_unpickled(tmp_path):
    np.savez(tmp_path / "x.npz", **RIGHT | {"offsets": np.array([None, 1], object)})
    with pytest.raises(DataError, match="objects"):
        load(tmp_path / "x.npz")


def damaged(data, kind):
    at = data.index(b"PK\x01\x02")
    match kind:
        case "method":
            return data[: at + 10] + struct.pack("<H", 99) + data[at + 12 :]
        case "encrypted":
            return data[: at + 8] + b"\x01" + data[at + 9 :]
        case "header":
            return data.replace(b"'fortran_order'", b"'fortran_orde('")
        case "value":
            place = data.index(np.array([0, 1, 3]).tobytes())
            return data[:place] + b"\x05" + data[place + 1 :]
        case "offset":
            return data[: at + 42] + b"\xff\xff\xff\x7f" + data[at + 46 :]
        case "size":
            return data[: at + 24] + b"\xff\xff\xff\x7f" + data[at + 28 :]
    return data[: len(data) // 2]


@pytest.mark.parametrize("kind", ["method", "encrypted", "header", "value", "offset", "size", "cut"])
def test_damage_is_reported_in_one_line(tmp_path, kind):
    path = saved(tmp_path / "x.npz")
    path.write_bytes(damaged(path.read_bytes(), kind))
    with pytest.raises((DataError, ResourceError)) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def header(shape, dtype="<f8"):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text + b"\n"


@pytest.mark.parametrize("shape", [(1 << 40,), (-1,), (1 << 62, 4), (2,)])
def test_sizes_are_those_of_the_file(tmp_path, shape):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("values.npy", header(shape) + bytes(8))
    with pytest.raises(DataError):
        read_archive(tmp_path / "x.npz")
    with pytest.raises(DataError):
        read_array(io.BytesIO(header(shape) + bytes(8)), len(header(shape)) + 8)


def test_what_unpacks_to_more_than_the_memory_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", columns=np.zeros(8 << 20), row_offsets=np.zeros(2, int))
    with limited_memory(resident_bytes() + (40 << 20)), pytest.raises(ResourceError, match=r"x\.npz"):
        read_graph(tmp_path / "x.npz")


def test_the_checksum_depends_on_all():
    found = {
        checksum(arrays)
        for arrays in (
            {"a": np.arange(3), "b": np.array("x")},
            {"a": np.arange(3), "b": np.array("y")},
            {"a": np.arange(3), "c": np.array("x")},
            {"a": np.arange(3), "b": np.array(["x"])},
            {"a": np.arange(3)[:, None], "b": np.array("x")},
            {"a": np.arange(3, dtype=np.uint64), "b": np.array("x")},
            {"a": np.arange(3)},
        )
    }
    assert len(found) == 7


@pytest.mark.parametrize(
    "arrays",
    [
        {"name_bytes": np.frombuffer(b"ab\xff", np.uint8), "name_offsets": np.array([0, 1, 3])},
        {"name_bytes": np.frombuffer(b"abc", np.uint8), "name_offsets": np.array([0, 5, 3])},
        {"name_bytes": np.frombuffer(b"abc", np.uint8)},
        {"alphabet": np.array("ab"), "word_length": np.array(1 << 62)},
        {"alphabet": np.array("a"), "word_length": np.array(-1)},
        {"alphabet": np.array("ab")},
        {"columns": np.array([0, 9])},
        {"row_offsets": np.array([0, 3, 2])},
        {"row_offsets": np.zeros(0, int)},
    ],
    ids=str,
)
def test_graphs_whose_arrays_contradict_each_other(tmp_path, arrays):
    right = {"row_offsets": np.array([0, 1, 2]), "columns": np.array([1, 0])}
    np.savez(tmp_path / "g.npz", **right | arrays)
    with pytest.raises(DataError, match=r"g\.npz"):
        read_graph(tmp_path / "g.npz")
