"""GFA 1 in: segments with their lengths and depths, links, and the graph of oriented segments."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from gpuasm.errors import DataError
from gpuasm.graph.building import from_edges
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.io.graph_text import bad_line, lines_of_file, numbered_lines, quoted
from gpuasm.io.numbers import real_number, whole_number

T = TypeVar("T")

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
    try:
        segments, links = _parsed(lines_of_file(path), _measures)
    except DataError as error:
        raise error.of_file(path) from error
    lengths, depths = np.array(list(segments.values()), np.float64).reshape(-1, 2).T
    first, second = np.array(links, np.int64).reshape(-1, 2).T
    return SegmentGraph(list(segments), lengths.astype(np.int64), depths, first, second)


def read_gfa(blocks: Iterable[bytes]) -> DirectedGraph:
    """Read the segments and links of GFA 1 as a graph of oriented segments.

    Segment i is the vertices 2 i, "name+", and 2 i + 1, "name-". A link is an edge and its twin on the other strand;
    a link given twice, or with its twin, is one. Sequences, overlaps, paths and tags are passed over.
    """
    segments, links = _parsed(numbered_lines(blocks), lambda *_: None)
    edges = dict.fromkeys(edge for first, second in links for edge in ((first, second), (second ^ 1, first ^ 1)))
    source, target = np.array(list(edges), np.int64).reshape(-1, 2).T
    return from_edges(source, target, names=[name + strand for name in segments for strand in "+-"])


def _parsed(
    lines: Iterable[tuple[int, str]], measure: Callable[[int, list[str]], T]
) -> tuple[dict[str, T], list[tuple[int, int]]]:
    """Return what is measured of each segment, and the links between oriented ones."""
    segments: dict[str, T] = {}
    place: dict[str, int] = {}
    links: list[tuple[int, list[str]]] = []
    for number, line in lines:
        kind, *fields = line.split("\t")
        if kind == "S":
            if len(fields) < 2 or not fields[0]:
                raise bad_line(number, "a segment with name and sequence", quoted(line), _REMEDY)
            if fields[0] in segments:
                raise bad_line(number, "every segment once", f"{fields[0]!r} again", "remove one of the two")
            place[fields[0]] = 2 * len(segments)
            segments[fields[0]] = measure(number, fields)
        elif kind == "L":
            if len(fields) < _LINK_FIELDS or {fields[1], fields[3]} - {"+", "-"}:
                raise bad_line(number, "a link 'L, segment, strand, segment, strand'", quoted(line), _REMEDY)
            links.append((number, fields[:_LINK_FIELDS]))
        elif kind == "H" and "VN:Z:2.0" in fields:
            raise bad_line(number, "GFA 1", "GFA 2", "convert the file to GFA 1")
        elif len(kind) > 1 and not kind.startswith("#") and line.strip():
            raise bad_line(number, "a line of GFA 1", quoted(line), "check the file")  # other kinds are one letter
    pairs = []
    for number, (first, strand, second, other_strand) in links:
        missing = next((name for name in (first, second) if name not in place), None)
        if missing is not None:
            expected = "a link between segments of the file"
            raise bad_line(number, expected, f"no segment {missing!r}", "add its S line")
        pairs.append((place[first] + (strand == "-"), place[second] + (other_strand == "-")))
    return segments, pairs


def _measures(number: int, fields: list[str]) -> tuple[int, float]:
    """Return length and depth of a segment."""
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
        found = quoted("\t".join(["S", *fields]))
        raise bad_line(number, "numbers in the tags LN, KC and dp, from 0 on", found, "check the file")
    return length, depth


_REMEDY = "check the columns"
