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
from gpuasm.io.output import atomic_output
from gpuasm.io.sources import read_whole

_HASH, _VERSION = "0.murmur64", 0.4


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
    """
    text = read_whole(path)
    try:
        data = json.loads(text)
    except ValueError as error:
        raise DataError("a signature file, JSON", str(error), "sketch the sample again", path=path) from error
    try:
        found = list(_signatures(data))
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise DataError(
            "signatures as sourmash writes them", f"other JSON ({error!r})", "sketch the sample again", path=path
        ) from error
    if not found:
        raise DataError("a sketch of DNA", "none", "sketch the sample with --dna", path=path)
    return found


def _signatures(data: Any) -> Iterator[Signature]:
    for record in data if isinstance(data, list) else [data]:
        if record.get("hash_function", _HASH) != _HASH:
            raise ValueError(record["hash_function"])
        for sketch in record["signatures"]:
            if sketch.get("molecule", "DNA").upper() == "DNA":
                hashes = np.array(sketch["mins"], dtype=np.uint64)
                yield Signature(
                    record.get("name") or "",
                    record.get("filename") or "",
                    int(sketch["ksize"]),
                    int(sketch.get("num", 0)),
                    int(sketch.get("max_hash", 0)),
                    int(sketch.get("seed", 42)),
                    np.unique(hashes),
                )


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
