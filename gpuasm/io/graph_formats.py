"""Determine the format of a graph's text by stated rules; a text that fits two of them is refused."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from gpuasm.errors import DataError
from gpuasm.io.numbers import real_number

TEXT_FORMATS = ("adjacency", "edges", "mtx", "gfa", "graphml", "gml")
"""Formats of text that a graph may have."""

ARROW = b"->"
_BANNER = b"%%matrixmarket"
_MOST_LINES = 1000
_SIGN_BYTES = 1 << 16
_BETWEEN = re.compile(rb"[ \t\r\n,]+")
_SEPARATES = re.compile(rb"[\s,;|{}]")
_OUR_COMMENT = re.compile(rb"# vertices \d+ edges \d+\s")
TIMES_OF_NETWORKX = 64
"""Bytes that networkx takes for each byte of GraphML or GML."""

_OF_NETWORKX = {
    "graphml": re.compile(rb"\A\s*<[\s\S]*<graphml\b|\A\s*<graphml\b"),
    "gml": re.compile(rb"(?im)^[ \t]*graph\s*\["),
}
_STRANDS = frozenset((b"+", b"-"))
_LINK_COLUMNS = 5
_OTHERS = {
    "DOT, the language of Graphviz": re.compile(
        rb'(?im)(?:^|\*/)[ \t]*(?:strict\s+)?(?:di|sub)?graph(?:\s+(?:"[^"\n]*"|[^\s{"]+))?\s*\{'
    ),
    "graph6 or its relatives": re.compile(rb"\A>>"),
    "XML other than GraphML, as of GEXF": re.compile(rb"\A\s*<"),
    "JSON": re.compile(rb"\A\s*[{\[]"),
    "Pajek's .net": re.compile(rb"(?i)\A\s*\*vertices\b"),
    "Matrix Market without its first line '%%MatrixMarket ...'": re.compile(rb"(?i)\A\s*%?\s*matrixmarket\b"),
}


def format_of_text(head: bytes) -> str:
    """Return the format of a text by its first lines, one of `TEXT_FORMATS`.

    Edge lists that we wrote begin with a comment of their own, Matrix Market with ``%%MatrixMarket``, and GFA with a
    line H, a segment S whose third column is no number, or a link L with strands. GraphML is XML with an element
    graphml, and GML has a line that begins with ``graph [``. Adjacency text has an arrow in each
    line that is no name alone, or only names alone. All other text is an edge list.

    Parameters
    ----------
    head
        The beginning of the text.

    Raises
    ------
    DataError
        If it is of a format that is not read, or fits both adjacency text and edge lists.
    """
    if head[: len(_BANNER)].lower() == _BANNER:
        return "mtx"
    beginning = head.lstrip()[:_SIGN_BYTES]
    for name, sign in _OF_NETWORKX.items():
        if sign.search(beginning):
            return name
    for name, sign in _OTHERS.items():
        if sign.search(beginning):
            raise DataError("a graph as adjacency text, edge list, Matrix Market, GFA, GraphML or GML", name, _REMEDY)
    if _OUR_COMMENT.match(head):
        return "edges"
    lines = list(itertools.islice(_data_lines(head), _MOST_LINES))
    if lines and is_gfa_line(lines[0]):
        return "gfa"
    fields = [_BETWEEN.split(line.strip()) for line in lines]
    has_arrow = [ARROW in line for line in lines]
    if not any(has_arrow):
        return "adjacency" if lines and all(map(is_lone_name, lines)) else "edges"
    fits_edges = _fits_edge_list(fields)
    if fits_edges and all(arrow or len(own) == 1 for arrow, own in zip(has_arrow, fields, strict=True)):
        shown = lines[0].decode(errors="replace")
        raise DataError(
            "a graph of one format", f"{shown!r}, adjacency text or an edge list of names with arrows",
            "give --format adjacency or --format edges, or write blanks around arrows that are edges",
        )  # fmt: skip
    return "edges" if fits_edges else "adjacency"


def is_gfa_line(line: bytes) -> bool:
    """Return whether the first line of a text is one of GFA."""
    fields = line.rstrip(b"\r").split(b"\t")
    if fields[0] == b"H":
        return b"\tVN:" in line or len(fields) > 2
    if fields[0] == b"S":
        return len(fields) > 2 and not _is_number(fields[2])
    return fields[0] == b"L" and len(fields) >= _LINK_COLUMNS and {fields[2], fields[4]} <= _STRANDS


def is_lone_name(line: bytes) -> bool:
    """Return whether a line without an arrow is certainly one name: nothing in it may separate two."""
    return not _SEPARATES.search(line.strip())


def _fits_edge_list(fields: list[list[bytes]]) -> bool:
    width = len(fields[0])
    return (
        width in (2, 3)
        and all(len(own) == width and ARROW not in own[:2] for own in fields)
        and (width == 2 or all(_is_number(own[2]) for own in fields))
    )


def _is_number(text: bytes) -> bool:
    return real_number(text.decode(errors="replace")) is not None


def _data_lines(head: bytes) -> Iterator[bytes]:
    lines = head.split(b"\n")
    if len(lines) > 1 and not head.endswith(b"\n"):
        del lines[-1]  # it may be cut
    for line in lines:
        if line.strip() and line.lstrip()[:1] not in (b"#", b"%"):
            yield line


_REMEDY = "convert it with the program that wrote it, or name its format with --format"
