"""Sketches in sourmash's JSON format, in and out."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.errors import DataError
from gpuasm.io.json_text import read_json
from gpuasm.io.output import atomic_output

_HASH, _VERSION = "0.murmur64", 0.4
_REMEDY = "sketch the sample again"
_MOST_K, _MOST_SIZE, _MOST_HASH = 1 << 16, (1 << 63) - 1, (1 << 64) - 1


@dataclass(frozen=True)
class Signature:
    """The sketch of a sample.

    Attributes
    ----------
    name : str
        "" where the file has none.
    file : str
        The file that was sketched.
    k : int
    size : int
        Hashes at most; 0 for a scaled sketch.
    max_hash : int
        The largest hash of a scaled sketch; 0 for a bottom one.
    seed : int
    hashes : (h,) uint64
        Ascending.
    """

    name: str
    file: str
    k: int
    size: int
    max_hash: int
    seed: int
    hashes: np.ndarray


def read_signatures(path: str | Path) -> list[Signature]:
    """Read the DNA sketches of a JSON file, plain or compressed; those of other molecules are passed over.

    Raises
    ------
    DataError
        If the file is no such JSON, is cut off, or holds no DNA sketch.
    NoInputError
        If it is not there.
    ResourceError
        If it exceeds the memory.
    """
    data = read_json(path, remedy=_REMEDY)
    try:
        found = list(_signatures(data))
    except DataError as error:
        raise error.of_file(path) from error
    if not found:
        raise DataError("a sketch of DNA", "none", "sketch the sample with --dna", path=path)
    return found


def _signatures(data: Any) -> Iterator[Signature]:
    for record in data if isinstance(data, list) else [data]:
        function = _text(record, "hash_function", _HASH)
        if function != _HASH:
            raise DataError(f"hashes by {_HASH}", repr(function), _REMEDY)
        for sketch in _entry(record, "signatures", list):
            if _text(sketch, "molecule", "DNA").upper() == "DNA":
                yield Signature(
                    _text(record, "name"),
                    _text(record, "filename"),
                    _number(sketch, "ksize", (1, _MOST_K)),
                    _number(sketch, "num", (0, _MOST_SIZE), 0),
                    _number(sketch, "max_hash", (0, _MOST_HASH), 0),
                    _number(sketch, "seed", (0, _MOST_HASH), 42),
                    np.unique(_hashes(_entry(sketch, "mins", list))),
                )


def _entry(record: Any, name: str, kind: type, default: Any = None) -> Any:
    """Return an entry of a JSON object, which must be of a kind; null is as none."""
    if not isinstance(record, dict):
        raise DataError("signatures as sourmash writes them", f"other JSON, {type(record).__name__}", _REMEDY)
    value = default if record.get(name) is None else record[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        found = "none" if value is None else f"{name} as {type(value).__name__}"
        raise DataError(f"signatures as sourmash writes them, with {name!r}", f"other JSON, {found}", _REMEDY)
    return value


def _text(record: Any, name: str, default: str = "") -> str:
    return str(_entry(record, name, str, default))


def _number(record: Any, name: str, bounds: tuple[int, int], default: int | None = None) -> int:
    value = int(_entry(record, name, int, default))
    if not bounds[0] <= value <= bounds[1]:
        raise DataError(f"{name!r} from {bounds[0]} to {bounds[1]}", "another number", _REMEDY)
    return value


def _hashes(values: list[Any]) -> np.ndarray:
    """Return hashes as (h,) uint64."""
    if not set(map(type, values)) <= {int} or (values and not (min(values) >= 0 and max(values) <= _MOST_HASH)):
        raise DataError("signatures as sourmash writes them", "hashes that are no numbers of 64 bits", _REMEDY)
    return np.array(values, np.uint64)


def write_signatures(path: str | os.PathLike[str], signatures: Iterable[Signature]) -> None:
    """Write sketches as sourmash does; the same bytes for the same sketches.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    with atomic_output(path) as file:
        file.write("[")
        for number, signature in enumerate(signatures):
            file.write((",\n" if number else "") + json.dumps(_record(signature), separators=(",", ":")))
        file.write("]\n")


def _record(signature: Signature) -> dict[str, Any]:
    hashes = signature.hashes.tolist()
    return {
        "class": "sourmash_signature",
        "email": "",
        "hash_function": _HASH,
        "filename": signature.file,
        "name": signature.name,
        "license": "CC0",
        "signatures": [
            {
                "num": signature.size,
                "ksize": signature.k,
                "seed": signature.seed,
                "max_hash": signature.max_hash,
                "mins": hashes,
                "md5sum": _digest(signature.k, hashes),
                "molecule": "DNA",
            }
        ],
        "version": _VERSION,
    }


def _digest(k: int, hashes: list[int]) -> str:
    """Return the name that sourmash gives a sketch: a checksum of k and the hashes as text."""
    text = str(k) + "".join(map(str, hashes))
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
