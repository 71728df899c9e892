"""Estimate the size of the graph in a file before it is read, from headers or from samples of the text."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from gpuasm.errors import DataError
from gpuasm.io.archives import ZIP, sizes_in_archive
from gpuasm.io.compression import BrokenStreamError, compression_of, decoded
from gpuasm.io.graph_formats import format_of_text
from gpuasm.io.sources import is_regular, open_input

_MAGIC_BYTES = 18
_SAMPLES, _SAMPLE_BYTES = 64, 1 << 14
_RAW_BYTES, _MOST_RAW = 1 << 16, 1 << 23  # of a compressed file: read at once, and at most
_ARRAYS = ("row_offsets", "columns", "weights", "name_bytes", "name_offsets")
_OF_SCIPY = {"indptr": "row_offsets", "indices": "columns", "data": "weights"}
_COLUMN_BYTES = 4
_OUR_COMMENT = re.compile(rb"# vertices (\d{1,18}) edges \d+\s")
_SIZE_LINE = re.compile(rb"\n[ \t]*(\d{1,18})[ \t]+\d{1,18}[ \t]+(\d{1,18})[ \t\r]*\n")
_BETWEEN = re.compile(rb"[ \t\r\n,]+")
_NODE, _EDGE = re.compile(rb"<node\b|\bnode\s*\["), re.compile(rb"<edge\b|\bedge\s*\[")
_NAME_BYTES = 16  # of a node of GraphML or GML, assumed
_SHORTEST_ENTRY = 4  # bytes of the line "1 1"
_LONGEST_NUMBER = 18
_LINKS_PER_SEGMENT = 1.5  # in an assembly graph that is not seen whole
_SPARSE_IDS, _FEW_IDS = 32, 1 << 20  # numbers beyond so many times the edges, and this, are names to the reader


@dataclass(frozen=True)
class GraphSize:
    """How large the graph in a file is, or is likely to be.

    Attributes
    ----------
    file_format
        "npz", "adjacency", "edges", "mtx", "gfa", "graphml" or "gml".
    n_vertices, n_edges
        As the graph will have them. Adjacency text: lines, and names after arrows.
    text_bytes
        Of the text, unpacked; of .npz those of its arrays, and of a copy of columns that are wider than need be.
    is_exact
        Whether the numbers come from headers; else they come from samples.
    n_names, name_bytes
        Vertices with names, and the bytes of all these together; 0 where vertices are numbers.
    has_weights
        Whether edges have weights.
    is_symmetric
        Whether each entry of a Matrix Market file is an edge in each direction.
    """

    file_format: str
    n_vertices: int
    n_edges: int
    text_bytes: int
    is_exact: bool = False
    n_names: int = 0
    name_bytes: int = 0
    has_weights: bool = False
    is_symmetric: bool = False


def size_of_graph(path: str | os.PathLike[str], file_format: str | None = None) -> GraphSize | None:
    """Determine the size of the graph in a file without reading all of it.

    Headers of .npz and Matrix Market state it. In other text, lines are counted in samples: spread over a plain file,
    or from the beginning of a compressed one, whose rest is assumed to be similar in content and compression.

    Parameters
    ----------
    path
        The file.
    file_format
        The format of its text, if the user names one.

    Returns
    -------
    GraphSize, or None for standard input, pipes, and files without a graph: their reader reports the error.

    Raises
    ------
    NoInputError
        If the file cannot be opened.
    """
    if not is_regular(path):
        return None
    with open_input(os.fspath(path)) as file:
        head, total = file.read(_MAGIC_BYTES), Path(path).stat().st_size
        if head.startswith(ZIP):
            return _size_of_npz(path)
        file.seek(0)
        compression = compression_of(head)
        sample = _spread(file, total) if compression == "none" else _beginning(file, total, compression)
    if sample.head.startswith(ZIP):  # .npz within another compression: edges of four bytes, at most
        return GraphSize("npz", 0, sample.text_bytes // 4, sample.text_bytes)
    try:
        return _SIZERS[file_format or format_of_text(sample.head)](sample) if sample.head else None
    except DataError:
        return None


def _size_of_npz(path: str | os.PathLike[str]) -> GraphSize | None:
    try:
        found = {name: (math.prod(shape), dtype.itemsize) for name, (shape, dtype) in sizes_in_archive(path).items()}
    except DataError:
        return None
    found |= {ours: found[name] for name, ours in _OF_SCIPY.items() if name in found}
    found = {name: found[name] for name in _ARRAYS if name in found}
    if not {"row_offsets", "columns"} <= found.keys():
        return None
    n, m = found["row_offsets"][0] - 1, found["columns"][0]
    named, text_bytes = "name_bytes" in found, sum(size * width for size, width in found.values())
    if found["columns"][1] != _COLUMN_BYTES:
        text_bytes += _COLUMN_BYTES * m  # they are copied
    return GraphSize(
        "npz", max(n, 0), m, text_bytes, is_exact=True,
        n_names=max(n, 0) if named else 0, name_bytes=found["name_bytes"][0] if named else 0,
        has_weights="weights" in found,
    )  # fmt: skip


@dataclass(frozen=True)
class _Sample:
    """Parts of a text: the first from its beginning on, others as they are cut; and how many times longer it is."""

    parts: list[bytes] = field(default_factory=list)
    scale: float = 1.0
    text_bytes: int = 0
    is_plain: bool = True

    @property
    def head(self) -> bytes:
        return self.parts[0] if self.parts else b""

    def scaled(self, count: float) -> int:
        return round(count * self.scale)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that begin in the parts; the last one of each part may be cut off."""
        for number, part in enumerate(self.parts):
            lines = part.split(b"\n")
            yield from lines if number == 0 else lines[1:]


def _spread(file: BinaryIO, total: int) -> _Sample:
    """Take samples at even distances of a plain file; all of it, if it is small."""
    if total <= _SAMPLES * _SAMPLE_BYTES:
        return _Sample([file.read()], 1.0, total)
    parts = []
    for number in range(_SAMPLES):
        file.seek(number * (total - _SAMPLE_BYTES) // (_SAMPLES - 1))
        parts.append(file.read(_SAMPLE_BYTES))
    return _Sample(parts, total / (_SAMPLES * _SAMPLE_BYTES), total)


def _beginning(file: BinaryIO, total: int, compression: str) -> _Sample:
    """Decode the beginning of a compressed file."""
    most_bytes, text = _SAMPLES * _SAMPLE_BYTES, b""
    chunks = itertools.takewhile(bool, (file.read(_RAW_BYTES) for _ in range(_MOST_RAW // _RAW_BYTES)))
    with suppress(BrokenStreamError):  # it seems cut off where we stop
        for more in decoded(chunks, compression):
            text += more
            if len(text) >= most_bytes:
                break
    n_raw = max(file.tell(), 1)
    unpacked = len(text) * total // n_raw
    parts = [text[at : at + _SAMPLE_BYTES] for at in range(0, min(len(text), most_bytes), _SAMPLE_BYTES)]
    return _Sample(parts, unpacked / max(1, min(len(text), most_bytes)), unpacked, is_plain=False)


def _of_matrix(sample: _Sample) -> GraphSize | None:
    banner, found = sample.head.split(b"\n", 1)[0].lower().split(), _SIZE_LINE.search(sample.head)
    if found is None or len(banner) < 5:
        return None
    n, entries = int(found[1]), int(found[2])
    if sample.is_plain:
        entries = min(entries, sample.text_bytes // _SHORTEST_ENTRY)  # a file has no more, whatever its header states
    symmetric = banner[4] != b"general"
    return GraphSize(
        "mtx", n, entries * (1 + symmetric), sample.text_bytes, is_exact=not symmetric,
        has_weights=banner[3] != b"pattern", is_symmetric=symmetric,
    )  # fmt: skip


def _of_gfa(sample: _Sample) -> GraphSize:
    names, n_links = [], 0
    for line in sample.lines():
        if line.startswith(b"S\t"):
            names.append(line.split(b"\t", 2)[1])
        n_links += line.startswith(b"L\t")
    length = sum(map(len, names)) / max(1, len(names))
    segments, links = sample.scaled(len(names)), sample.scaled(n_links)
    if not sample.is_plain and sample.scale > 1 and not n_links and names:
        # They come last, and of a compressed file only the beginning is seen: so many to a segment are assumed.
        link_bytes = _LINKS_PER_SEGMENT * (2 * length + len("L\t\t+\t\t+\t100M\n"))
        segments = round(sample.text_bytes / (sum(map(len, sample.parts)) / len(names) + link_bytes))
        links = round(_LINKS_PER_SEGMENT * segments)
    n = 2 * segments  # both strands
    return GraphSize("gfa", n, 2 * links, sample.text_bytes, n_names=n, name_bytes=round(n * (length + 1)))


def _of_adjacency(sample: _Sample) -> GraphSize:
    n = sum(part.count(b"\n") for part in sample.parts)
    m = sum(part.count(b",") + part.count(b"->") - part.count(b"->\n") for part in sample.parts)
    return GraphSize("adjacency", sample.scaled(n), sample.scaled(m), sample.text_bytes)


def _of_elements(sample: _Sample) -> GraphSize:
    """Count the nodes and edges of GraphML or GML; an edge may be one in each direction."""
    n, m = (sum(len(sign.findall(part)) for part in sample.parts) for sign in (_NODE, _EDGE))
    has_weights = b"weight" in sample.head
    file_format = "graphml" if sample.head.lstrip().startswith(b"<") else "gml"
    n, m = sample.scaled(n), 2 * sample.scaled(m)
    return GraphSize(
        file_format, n, m, sample.text_bytes, n_names=n, name_bytes=_NAME_BYTES * n, has_weights=has_weights
    )


def _of_edges(sample: _Sample) -> GraphSize:
    lines = [_BETWEEN.split(line.strip()) for line in sample.lines() if line.strip()[:1] not in (b"", b"#", b"%")]
    m, comment = sample.scaled(len(lines)), _OUR_COMMENT.match(sample.head)
    weighted = bool(lines) and len(lines[0]) > 2
    if sample.scale > 1:
        lines = [line for line in lines if len(line) == len(lines[0])]  # those not cut off, as a rule
    ends = [name for line in lines for name in line[:2]]
    if all(name.isdigit() and len(name) < _LONGEST_NUMBER for name in ends):
        n = max(max(map(int, ends), default=-1) + 1, int(comment[1]) if comment else 0)
        if n <= max(_FEW_IDS, _SPARSE_IDS * m):
            return GraphSize("edges", n, m, sample.text_bytes, has_weights=weighted)
    n, length = _distinct(ends, m, sample)
    return GraphSize("edges", n, m, sample.text_bytes, n_names=n, name_bytes=round(n * length), has_weights=weighted)


def _distinct(ends: list[bytes], m: int, sample: _Sample) -> tuple[int, float]:
    """Estimate how many names there are, and their mean length.

    The upper bound scales the names of the sample by the length of the text. The capture-recapture estimate of Lincoln
    and Petersen from two halves of the sample is too low, as some names occur often. Their geometric mean is returned.
    """
    halves = set(ends[::4] + ends[1::4]), set(ends[2::4] + ends[3::4])
    both = halves[0] | halves[1]
    length = sum(map(len, both)) / max(1, len(both))
    if sample.scale <= 1:
        return len(both), length
    most = min(2 * m, sample.scaled(len(both)))
    least = (len(halves[0]) + 1) * (len(halves[1]) + 1) / (len(halves[0] & halves[1]) + 1)
    return min(most, round(math.sqrt(most * max(least, len(both))))), length


_SIZERS: dict[str, Any] = {
    "mtx": _of_matrix,
    "gfa": _of_gfa,
    "graphml": _of_elements,
    "gml": _of_elements,
    "adjacency": _of_adjacency,
    "edges": _of_edges,
}
