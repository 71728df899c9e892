"""Assembly graphs in: names, lengths and depths of the segments of GFA 1, and the links between them."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np

from gpuasm.errors import DataError
from gpuasm.io.graph_text import lines_of_file, quoted
from gpuasm.io.numbers import real_number, whole_number

_LINK_FIELDS = 4
_LONGEST = 1 << 40


@dataclass(frozen=True)
class SegmentGraph:
    """Segments and links of an assembly graph.

    Attributes
    ----------
    names
        The segments.
    lengths : (n,) int64
    depths : (n,) float64
        From the tag dp or DP, else KC by the length; NaN without either.
    first, second : (l,) int64
        Links between oriented segments: 2 i for segment i, 2 i + 1 for its other strand.
    """

    names: list[str]
    lengths: np.ndarray
    depths: np.ndarray
    first: np.ndarray
    second: np.ndarray


def read_segment_graph(path: str | os.PathLike[str]) -> SegmentGraph:
    """Read an assembly graph; an empty file has no segments.

    Parameters
    ----------
    path
        GFA 1, compressed or not; "-" is standard input.

    Raises
    ------
    DataError
        If a line cannot be read, or a link leads to a segment that is not there.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    """
    segments: dict[str, tuple[int, float]] = {}
    links: list[tuple[int, list[str]]] = []
    for number, line in lines_of_file(path):
        kind, *fields = line.split("\t")
        if kind == "S":
            if len(fields) < 2 or fields[0] in segments:
                raise _bad(path, number, "a segment, once, with name and sequence", line)
            measures = _measures(fields)
            if measures is None:
                raise _bad(path, number, "numbers in the tags LN, KC and dp, from 0 on", line)
            segments[fields[0]] = measures
        elif kind == "L":
            if len(fields) < _LINK_FIELDS or {fields[1], fields[3]} - {"+", "-"}:
                raise _bad(path, number, "a link 'L, segment, strand, segment, strand'", line)
            links.append((number, fields))
        elif kind not in {"H", "P", "C", "W", "J"} and not kind.startswith("#") and line.strip():
            raise _bad(path, number, "a line of GFA 1", line)
    place = {name: i for i, name in enumerate(segments)}
    pairs = []
    for number, fields in links:
        if fields[0] not in place or fields[2] not in place:
            raise _bad(path, number, "a link between segments of the file", "\t".join(["L", *fields]))
        pairs.append([2 * place[fields[i]] + (fields[i + 1] == "-") for i in (0, 2)])
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    lengths, depths = np.array(list(segments.values()), np.float64).reshape(-1, 2).T
    return SegmentGraph(list(segments), lengths.astype(np.int64), depths, first, second)


def _measures(fields: list[str]) -> tuple[int, float] | None:
    """Return length and depth of a segment; None if a tag is no such number."""
    tags = {field[:2]: field[5:] for field in fields[2:]}
    length = len(fields[1]) if fields[1] != "*" else whole_number(tags.get("LN", "0"))
    text = tags.get("dp") or tags.get("DP")
    depth: float | None = math.nan
    if text is not None:
        depth = real_number(text)
    elif "KC" in tags and length:
        count = whole_number(tags["KC"])
        depth = None if count is None else count / length
    if length is None or length > _LONGEST or depth is None or depth < 0 or math.isinf(depth):
        return None
    return length, depth


def _bad(path: str | os.PathLike[str], number: int, expected: str, line: str) -> DataError:
    return DataError(expected, quoted(line), "check the file", path=os.fspath(path), place=f"line {number}")
