"""The files of the first graph in buckets: super-k-mers of a bucket, its pieces of unitigs, and the graph itself.

Each is an .npz with a checksum of all its arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpuasm.assembly.graph.unitig_graph import CountedGraph, JoinedGraph, UnitigGraph
from gpuasm.errors import DataError
from gpuasm.io import atomic_output
from gpuasm.io.archives import ArrayRule, Schema, checksum, load_archive
from gpuasm.kmers.bucket_texts import BucketText, packed_size
from gpuasm.kmers.buckets import MOST_BUCKETS
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.pieces import Pieces
from gpuasm.kmers.tally import MAX_MULTIPLICITY

_MOST_BYTE, _MOST_COUNT = (1 << 8) - 1, (1 << 32) - 1
_COMMON = {
    "checksum": ArrayRule("iu"),
    "k": ArrayRule("iu", least=3, most=MAX_PLAIN_K),
    "n_windows": ArrayRule("iu", least=0),
}
_OF_BUCKET = {
    "n_buckets": ArrayRule("iu", least=1, most=MOST_BUCKETS),
    "number": ArrayRule("iu", least=0, most=MOST_BUCKETS - 1),
}
_SPECTRUM = {"min_count": ArrayRule("iu", least=1), "histogram": ArrayRule("iu", (MAX_MULTIPLICITY + 1,), least=0)}
_BUCKET: Schema = _COMMON | _OF_BUCKET | {
    "length": ArrayRule("u", ("n",), most=_MOST_BYTE),
    "flanks": ArrayRule("u", ("n",), most=3),
    "packed": ArrayRule("u", ("w",)),
}  # fmt: skip
_PIECES: Schema = _COMMON | _OF_BUCKET | _SPECTRUM | {
    "first": ArrayRule("u", ("n",)),
    "start": ArrayRule("i", ("n+1",), least=0),
    "base": ArrayRule("u", ("w",), most=3),
    "count": ArrayRule("u", ("w",), least=1, most=_MOST_COUNT),
    "edges": ArrayRule("u", ("w",), most=_MOST_BYTE),
    "seen": ArrayRule("u", ("e",), most=_MOST_COUNT),
}  # fmt: skip
_GRAPH: Schema = _COMMON | _SPECTRUM | {
    "bases": ArrayRule("u", ("b",), most=3),
    "start": ArrayRule("i", ("n+1",), least=0),
    "is_circular": ArrayRule("b", ("n",)),
    "arc_start": ArrayRule("i", ("r+1",), least=0),
    "arc_to": ArrayRule("i", ("m",), least=0, most=(1 << 31) - 1),
    "arc_count": ArrayRule("i", ("m",), least=0),
    "count": ArrayRule("u", ("w",), least=1, most=_MOST_COUNT),
    "edges": ArrayRule("u", ("w",), most=_MOST_BYTE),
}  # fmt: skip
_TYPES: dict[str, type[np.generic]] = {
    "length": np.uint8, "flanks": np.uint8, "packed": np.uint64, "first": np.uint64, "start": np.int64,
    "base": np.uint8, "count": np.uint32, "edges": np.uint8, "seen": np.uint32, "bases": np.uint8,
    "arc_start": np.int64, "arc_to": np.int32, "arc_count": np.int64, "histogram": np.int64,
}  # fmt: skip
"""The types of the arrays, which the file may hold in others of the same kind."""
_WRITE_ANEW = "write it anew"


@dataclass(frozen=True)
class BucketFile:
    """A bucket of the super-k-mers of some reads.

    Attributes
    ----------
    k, number, n_buckets : int
        Length of the k-mers, the number of the bucket, and of how many.
    n_windows : int
        Windows of k bases in all buckets of the reads.
    text : BucketText
    """

    k: int
    number: int
    n_buckets: int
    n_windows: int
    text: BucketText


@dataclass(frozen=True)
class PiecesFile:
    """The pieces of unitigs of a bucket of all reads, with the spectrum of its k-mers and their least multiplicity."""

    number: int
    n_buckets: int
    n_windows: int
    min_count: int
    histogram: np.ndarray
    pieces: Pieces


def write_bucket(path: Path, bucket: BucketFile) -> None:
    """Write a bucket."""
    numbers = {name: getattr(bucket, name) for name in ("k", "number", "n_buckets", "n_windows")}
    _write(path, numbers, {name: getattr(bucket.text, name) for name in ("length", "flanks", "packed")})


def read_bucket(path: Path) -> BucketFile:
    """Read a bucket.

    Raises
    ------
    DataError, NoInputError, ReadWriteError, ResourceError
        As `gpuasm.io.archives.load_archive`.
    """
    arrays = _read(path, _BUCKET, "a bucket as gpuasm partition writes it")
    text = BucketText(arrays["length"], arrays["flanks"], arrays["packed"])
    numbers = {name: int(arrays[name]) for name in ("k", "number", "n_buckets", "n_windows")}
    if packed_size(text.n_bases) != text.packed.size or (text.length < numbers["k"]).any():
        raise _wrong("super-k-mers of another length", path)
    return BucketFile(**numbers, text=text)


def write_pieces(path: Path, file: PiecesFile) -> None:
    """Write the pieces of a bucket."""
    numbers = {name: getattr(file, name) for name in ("number", "n_buckets", "n_windows", "min_count")}
    columns = ("first", "start", "base", "count", "edges", "seen")
    arrays = {"histogram": file.histogram} | {name: getattr(file.pieces, name) for name in columns}
    _write(path, {"k": file.pieces.k, **numbers}, arrays)


def read_pieces(path: Path) -> PiecesFile:
    """Read the pieces of a bucket.

    Raises
    ------
    DataError, NoInputError, ReadWriteError, ResourceError
        As `gpuasm.io.archives.load_archive`.
    """
    arrays = _read(path, _PIECES, "pieces as gpuasm compact writes them")
    columns = (arrays[name] for name in ("first", "start", "base", "count", "edges", "seen"))
    pieces = Pieces(int(arrays["k"]), *columns)
    if not _are_bounds(pieces.start, pieces.base.size, least=1) or pieces.seen.size != 8 * pieces.n:
        raise _wrong("pieces of other sizes", path)
    numbers = {name: int(arrays[name]) for name in ("number", "n_buckets", "n_windows", "min_count")}
    return PiecesFile(**numbers, histogram=arrays["histogram"], pieces=pieces)


def write_first_graph(path: Path, counted: CountedGraph) -> None:
    """Write the first graph."""
    graph = counted.joined.graph
    columns = ("bases", "start", "is_circular", "arc_start", "arc_to", "arc_count")
    arrays = {"histogram": counted.histogram, "count": counted.joined.count, "edges": counted.joined.edges}
    arrays |= {name: getattr(graph, name) for name in columns}
    _write(path, {"k": graph.k, "n_windows": counted.n_windows, "min_count": counted.min_count}, arrays)


def read_first_graph(path: Path) -> CountedGraph:
    """Read the first graph.

    Raises
    ------
    DataError, NoInputError, ReadWriteError, ResourceError
        As `gpuasm.io.archives.load_archive`.
    """
    arrays = _read(path, _GRAPH, "a graph as gpuasm join writes it")
    k, start, arc_start, arc_to = int(arrays["k"]), arrays["start"], arrays["arc_start"], arrays["arc_to"]
    n, n_kmers, count = start.size - 1, np.diff(start) - (k - 1), arrays["count"]
    is_whole = _are_bounds(start, arrays["bases"].size, least=k) and int(n_kmers.sum()) == count.size
    is_whole = is_whole and arc_start.size == 2 * n + 1 and _are_bounds(arc_start, arc_to.size, least=0)
    if not is_whole or (arc_to >= 2 * n).any():
        raise _wrong("unitigs and edges of other sizes", path)
    sums = np.diff(np.concatenate([[0], np.cumsum(count, dtype=np.int64)])[np.concatenate([[0], np.cumsum(n_kmers)])])
    arcs = (arc_start, arc_to, arrays["arc_count"])
    graph = UnitigGraph(k, arrays["bases"], start, sums, arrays["is_circular"], *arcs)
    joined = JoinedGraph(graph, count, arrays["edges"])
    return CountedGraph(joined, int(arrays["min_count"]), arrays["histogram"], int(arrays["n_windows"]))


def _write(path: Path, numbers: dict[str, int], arrays: dict[str, np.ndarray]) -> None:
    arrays = {name: np.array(number) for name, number in numbers.items()} | arrays
    with atomic_output(path, "wb") as file:
        np.savez(file, checksum=np.array(checksum(arrays)), **arrays)  # type: ignore[arg-type]  # allow_pickle is an array in NumPy 2.0


def _read(path: Path, schema: Schema, what: str) -> dict[str, np.ndarray]:
    arrays = load_archive(path, schema, what=what, remedy=_WRITE_ANEW)
    if int(arrays.pop("checksum")) != checksum(arrays):
        raise _wrong("arrays of another checksum", path)
    return {name: array.astype(_TYPES.get(name, array.dtype), copy=False) for name, array in arrays.items()}


def _wrong(found: str, path: Path) -> DataError:
    return DataError("a whole file", found, _WRITE_ANEW, path=path)


def _are_bounds(start: np.ndarray, size: int, *, least: int) -> bool:
    """Return whether ascending numbers from 0 to a size bound parts of at least so many."""
    return bool(start[0] == 0 and start[-1] == size and (np.diff(start) >= least).all())
