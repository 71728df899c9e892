"""Read arrays that numpy wrote, .npz and .npy: no pickles, no more memory than allowed, and only arrays as expected."""

from __future__ import annotations

import math
import os
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from isal import isal_zlib

from gpuasm.errors import DataError, GpuasmError, NoInputError, ReadWriteError
from gpuasm.io.memory_bound import MemoryBound

ZIP, NPY = b"PK\x03\x04", b"\x93NUMPY"
"""The first bytes of the files."""

_SUFFIX = ".npy"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
_MOST_ARRAYS = 10_000
_HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_KINDS = {"i": "integers", "u": "integers", "f": "numbers", "U": "text", "b": "yes or no"}


@dataclass(frozen=True)
class ArrayRule:
    """What an array of a file must be.

    Attributes
    ----------
    kinds : str
        Kinds of numpy's types: "iu", "f", "U".
    shape : tuple of int or str
        Sizes; a letter is the same size in each array, and "n+1" one more than that.
    least, most : float
        The range of its values. NaN is in no range.
    nan : bool
        Whether values may be NaN, then besides the range.
    optional : bool
        Whether the array may be missing.
    """

    kinds: str
    shape: tuple[int | str, ...] = ()
    least: float = -math.inf
    most: float = math.inf
    nan: bool = False
    optional: bool = False


Schema = Mapping[str, ArrayRule]


def load_archive(
    file: str | os.PathLike[str] | BinaryIO, schema: Schema, *, what: str, remedy: str
) -> dict[str, np.ndarray]:
    """Read the arrays of a schema from an .npz; all others in it are passed over.

    Parameters
    ----------
    file
        A path, or an open file.
    schema
        The arrays by name.
    what, remedy
        For messages: what the file should be, and what to do if it is not.

    Raises
    ------
    DataError
        If the file is damaged or something else, or an array is missing or breaks its rule.
    NoInputError, ReadWriteError
        If it cannot be opened, or a read fails.
    ResourceError
        If the arrays do not fit into memory.
    """
    path = file if isinstance(file, (str, os.PathLike)) else None
    try:
        arrays = read_archive(file, schema)
        check_arrays(arrays, schema)
    except NoInputError as error:
        raise NoInputError(what, error.found, remedy, path=path) from error
    except DataError as error:
        found = error.found if error.expected == _SOUND else f"{error.found}, not {error.expected}"
        raise DataError(what, found, remedy, path=path) from error
    return arrays


def read_archive(
    file: str | os.PathLike[str] | BinaryIO, names: Any = None, *, memory: int | None = None
) -> dict[str, np.ndarray]:
    """Read arrays of an .npz, those of ``names`` or all; other members of the archive are passed over.

    Raises
    ------
    DataError, NoInputError, ReadWriteError, ResourceError
        As `load_archive`.
    """
    path = file if isinstance(file, (str, os.PathLike)) else None
    with _Damage(path), zipfile.ZipFile(file) as archive:
        members = {member.filename.removesuffix(_SUFFIX): member for member in archive.infolist()}
        members = {name: member for name, member in members.items() if names is None or name in names}
        if len(members) > _MOST_ARRAYS:
            raise _damaged(f"{len(members)} arrays", path)
        for name, member in members.items():
            if member.compress_type not in _METHODS or member.flag_bits & _ENCRYPTED:
                raise _damaged(f"an array {name!r} that is encrypted or compressed in another manner", path)
        MemoryBound(path, memory).require(sum(member.file_size for member in members.values()))
        return {name: _read_member(archive, member, path) for name, member in members.items()}


def read_array(file: BinaryIO, size: int) -> np.ndarray:
    """Read the one array of an .npy of ``size`` bytes, which is open at its beginning.

    One byte may follow it: who reads blocks of lines gets an end of the last line, if there is none.

    Raises
    ------
    DataError, ReadWriteError
        As `load_archive`.
    """
    with _Damage(None):
        return _read(file, (size - 1, size), "values", None)


def sizes_in_archive(path: str | os.PathLike[str]) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Return shape and type of each array of an .npz from its headers; no array is read.

    Raises
    ------
    DataError, NoInputError, ReadWriteError
        As `load_archive`.
    """
    found = {}
    with _Damage(path), zipfile.ZipFile(path) as archive:
        for member in archive.infolist()[:_MOST_ARRAYS]:
            if member.filename.endswith(_SUFFIX):
                with archive.open(member) as file:
                    found[member.filename.removesuffix(_SUFFIX)] = _header(file)
    return found


def names_in_archive(file: str | os.PathLike[str] | BinaryIO) -> set[str]:
    """Return the names of the arrays of an .npz; nothing of them is read.

    Raises
    ------
    DataError, NoInputError, ReadWriteError
        As `load_archive`.
    """
    with _Damage(file if isinstance(file, (str, os.PathLike)) else None), zipfile.ZipFile(file) as archive:
        return {name.removesuffix(_SUFFIX) for name in archive.namelist()}


def checksum(arrays: Mapping[str, np.ndarray]) -> int:
    """Return a number that changes when a name, type, shape or value of the arrays does."""
    found = 0
    for name in sorted(arrays):
        array = arrays[name]
        found = isal_zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), found)
        found = isal_zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8), found)
    return found


def check_arrays(arrays: Mapping[str, np.ndarray], schema: Schema) -> None:
    """Check that arrays are those of a schema.

    Raises
    ------
    DataError
        If one is missing, or has another type, shape or range.
    """
    sizes: dict[str, int] = {}
    for name, rule in schema.items():
        if name not in arrays:
            if rule.optional:
                continue
            raise DataError(f"an array {name!r}", "none", "write the file anew")
        array = arrays[name]
        if array.dtype.kind not in rule.kinds or not _has_shape(array.shape, rule.shape, sizes):
            shape = f"({', '.join(map(str, rule.shape))})"
            expected = f"{name!r} as {_KINDS[rule.kinds[0]]} of shape {shape}"
            raise DataError(expected, f"{array.dtype} of shape {array.shape}", "write the file anew")
        _check_range(name, array, rule)


def _has_shape(shape: tuple[int, ...], rule: tuple[int | str, ...], sizes: dict[str, int]) -> bool:
    if len(shape) != len(rule):
        return False
    for size, expected in zip(shape, rule, strict=True):
        if isinstance(expected, int):
            if size != expected:
                return False
            continue
        letter, _, more = expected.partition("+")
        if sizes.setdefault(letter, size - int(more or 0)) != size - int(more or 0) or size < int(more or 0):
            return False
    return True


def _check_range(name: str, array: np.ndarray, rule: ArrayRule) -> None:
    if array.dtype.kind not in "iuf" or not array.size:
        return
    if array.dtype.kind == "f":
        is_nan = np.isnan(array)
        if is_nan.any():
            if not rule.nan:
                raise DataError(f"{name!r} as numbers", "NaN", "write the file anew")
            array = array[~is_nan]
            if not array.size:
                return
    least, most = array.min().item(), array.max().item()
    if least < rule.least or most > rule.most:
        expected = f"{name!r} from {rule.least:.15g} to {rule.most:.15g}"
        raise DataError(expected, f"{least} to {most}", "write the file anew")


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: str | os.PathLike[str] | None) -> np.ndarray:
    with archive.open(member) as file:
        array = _read(file, (member.file_size,), member.filename, path)
        if file.read(1):  # the checksum is compared at the end
            raise _damaged(f"bytes after the array {member.filename!r}", path)
    return array


def _read(file: Any, sizes: tuple[int, ...], name: str, path: str | os.PathLike[str] | None) -> np.ndarray:
    """Read an array whose header and values have one of some numbers of bytes together."""
    shape, dtype = _header(file)
    begin = file.tell()
    n_bytes = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or begin + n_bytes not in sizes:
        found = "objects" if dtype.hasobject else f"{sizes[-1] - begin} bytes for {dtype} of shape {shape}"
        raise _damaged(f"an array {name!r} of {found}", path)
    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = np.lib.format.read_array(file, allow_pickle=False)
    return np.asarray(array, dtype.newbyteorder("="), order="C")


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of the array of an .npy, which is then open where its values begin."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about headers of Python 2
        shape, _, dtype = _HEADERS[np.lib.format.read_magic(file)](file)
    if any(size < 0 for size in shape):
        raise _damaged(f"an array of shape {shape}", None)
    return shape, dtype


class _Damage:
    """Turns whatever zipfile and numpy raise at bytes that are no archive into one error."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = path

    def __enter__(self) -> None:
        if self._path is not None and not os.path.exists(self._path):  # noqa: PTH110 - pathlib refuses long names
            raise NoInputError("a readable file", "no such file", _REMEDY, path=self._path)

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None or isinstance(error, (GpuasmError, MemoryError)) or not isinstance(error, Exception):
            return
        if isinstance(error, PermissionError | IsADirectoryError):
            found = str(error.strerror).lower()
            raise NoInputError(
                "a readable file", found, "check the path and the permissions", path=self._path
            ) from error
        if isinstance(error, OSError) and error.errno not in _OF_POSITIONS:
            found = f"a failed read ({error.strerror})"
            raise ReadWriteError("a readable file", found, "check the disk", path=self._path) from error
        raise _damaged(f"another file ({error or type(error).__name__})", self._path) from error


_OF_POSITIONS = (None, 22)  # OSError of zipfile itself, and of a seek to before the beginning
_REMEDY = "check the path and the permissions"
_SOUND = "arrays that numpy wrote"


def _damaged(found: str, path: str | os.PathLike[str] | None) -> DataError:
    return DataError(_SOUND, found, "write the file anew", path=path)
