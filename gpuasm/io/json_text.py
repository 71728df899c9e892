"""Read JSON of bounded size and depth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from gpuasm.errors import DataError
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.io.sources import read_whole

_BYTES_OF_VALUE = 48  # an integer and its place in a list
_BYTES_OF_CONTAINER = 130
_COPIES = 4


def read_json(path: str | Path, *, remedy: str) -> Any:
    """Return the value of a JSON file, plain or compressed.

    Parameters
    ----------
    path
        The file; "-" is standard input.
    remedy
        For messages: what to do if it is none.

    Raises
    ------
    DataError
        If the file is no JSON, or is nested too much, has a number of too many digits, NaN or an infinity.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    ResourceError
        If the text or its values exceed the memory.
    """
    text = read_whole(path, copies=_COPIES)
    n_containers = text.count(b"[") + text.count(b"{")
    MemoryBound(path).require(_BYTES_OF_VALUE * text.count(b",") + _BYTES_OF_CONTAINER * n_containers)
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise DataError("JSON", str(error) or type(error).__name__, remedy, path=path) from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
